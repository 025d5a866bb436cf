"""From samples to an engine's activity."""

import math
from typing import Final

from gateway.fleet.health.evidence import Activity
from gateway.fleet.telemetry.exposition import samples

# The names have not changed from vLLM 0.8 to 0.32 (vllm/v1/metrics/loggers.py).
_RUNNING: Final = "vllm:num_requests_running"
_WAITING: Final = "vllm:num_requests_waiting"
_PROMPT: Final = "vllm:prompt_tokens_total"
_GENERATION: Final = "vllm:generation_tokens_total"
_WANTED: Final = (_RUNNING, _WAITING, _PROMPT, _GENERATION)


def read_activity(text: str) -> Activity | None:
    """The activity that a /metrics body tells of; None where a family of the four is missing."""
    totals: dict[str, float] = {}
    for sample in samples(text, _WANTED):
        # `num_requests_waiting_by_reason` begins alike.
        if sample.name in _WANTED and math.isfinite(sample.value):
            totals[sample.name] = totals.get(sample.name, 0.0) + sample.value
    if len(totals) < len(_WANTED):
        return None
    return Activity(totals[_RUNNING], totals[_WAITING], totals[_PROMPT], totals[_GENERATION])
