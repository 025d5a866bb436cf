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
# The second name is that of vLLM before 0.9.
_KV_USAGE: Final = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
_NEEDED: Final = (_RUNNING, _WAITING, _PROMPT, _GENERATION)
_WANTED: Final = (*_NEEDED, *_KV_USAGE)


def read_activity(text: str) -> Activity | None:
    """The activity that a /metrics body tells of; None where a family of the four is missing."""
    totals: dict[str, float] = {}
    for sample in samples(text, _WANTED):
        # `num_requests_waiting_by_reason` begins alike.
        if sample.name in _WANTED and math.isfinite(sample.value):
            totals[sample.name] = totals.get(sample.name, 0.0) + sample.value
    if any(name not in totals for name in _NEEDED):
        return None
    kv_usage_ratio = max(totals.get(name, 0.0) for name in _KV_USAGE)
    return Activity(
        running=totals[_RUNNING],
        waiting=totals[_WAITING],
        prompt_tokens=totals[_PROMPT],
        generation_tokens=totals[_GENERATION],
        kv_usage_ratio=kv_usage_ratio,
    )
