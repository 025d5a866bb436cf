"""From samples to an engine's activity, in the dialects of vLLM 0.8 to 0.32.

Names: vllm/v1/metrics/loggers.py of those versions; vLLM-Ascend uses the same.
"""

import math
from collections.abc import Mapping
from typing import Final

from gateway.fleet.health.evidence import Activity
from gateway.fleet.telemetry.exposition import Sample, samples

_RUNNING: Final = "vllm:num_requests_running"
_WAITING: Final = "vllm:num_requests_waiting"
_PROMPT: Final = "vllm:prompt_tokens_total"
_GENERATION: Final = "vllm:generation_tokens_total"
_PREEMPTIONS: Final = "vllm:num_preemptions_total"
_CONFIG: Final = "vllm:cache_config_info"
# The second name is that of vLLM before 0.10, where both may be there for a while.
_KV_USAGE: Final = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
_SUMMED: Final = (_RUNNING, _WAITING, _PROMPT, _GENERATION, _PREEMPTIONS)
_NEEDED: Final = (_RUNNING, _WAITING, _PROMPT, _GENERATION)
_WANTED: Final = (*_SUMMED, *_KV_USAGE, _CONFIG)


def read_activity(text: str) -> Activity | None:
    """The activity that a /metrics body tells of; None where a family that is needed is missing."""
    totals: dict[str, float] = {}
    usage_ratio = 0.0
    configs: list[Sample] = []
    for sample in samples(text, _WANTED):
        if not math.isfinite(sample.value):
            continue
        # Other families begin alike, such as num_requests_waiting_by_reason.
        if sample.name in _SUMMED:
            totals[sample.name] = totals.get(sample.name, 0.0) + sample.value
        elif sample.name in _KV_USAGE:
            usage_ratio = max(usage_ratio, _ratio(sample.value))
        elif sample.name == _CONFIG:
            configs.append(sample)
    if any(name not in totals for name in _NEEDED):
        return None
    return Activity(
        running=totals[_RUNNING],
        waiting=totals[_WAITING],
        prompt_tokens=totals[_PROMPT],
        generation_tokens=totals[_GENERATION],
        kv_usage_ratio=usage_ratio,
        preemptions_total=totals.get(_PREEMPTIONS, 0.0),
        kv_capacity_tokens=_capacity_tokens([sample.labels for sample in configs]),
    )


def _ratio(value: float) -> float:
    """The usage as 0 to 1, although the name says percent; some exporters believe the name."""
    return min(1.0, max(0.0, value / 100.0 if value > 1.5 else value))


def _capacity_tokens(engines: list[Mapping[str, str]]) -> int | None:
    """The KV capacity of all engines behind the port.

    `kv_cache_size_tokens` is right where it is given (after vLLM 0.23). Else blocks times their
    size, but not for hybrid models, whose block size is the smallest of several groups. With data
    parallelism inside one server the frontend sums num_gpu_blocks and repeats the sum for each
    engine (vllm/v1/engine/core_client.py).
    """
    if not engines:
        return None
    sizes = [_count(labels.get("kv_cache_size_tokens")) for labels in engines]
    known = [size for size in sizes if size is not None]
    if known:
        return sum(known)
    first = engines[0]
    blocks, block_tokens = _count(first.get("num_gpu_blocks")), _count(first.get("block_size"))
    if blocks is None or block_tokens is None or _is_hybrid(first):
        return None
    return blocks * block_tokens


def _is_hybrid(labels: Mapping[str, str]) -> bool:
    return labels.get("mamba_block_size", "None") not in ("None", "", "0")


def _count(text: str | None) -> int | None:
    try:
        value = int(float(text)) if text is not None else 0
    except (ValueError, OverflowError):
        return None
    return value if value > 0 else None
