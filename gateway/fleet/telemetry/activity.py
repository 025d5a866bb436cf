"""From samples to an engine's activity, in the dialects of vLLM 0.8 to 0.32.

Names: vllm/v1/metrics/loggers.py of those versions and, for 0.8, vllm/engine/metrics.py;
vLLM-Ascend uses the same.
"""

import math
from collections.abc import Mapping
from typing import Final

from gateway.fleet.health.evidence import Activity
from gateway.fleet.telemetry.capacity import CONFIG, Capacity, read_capacity
from gateway.fleet.telemetry.exposition import Sample, samples

_RUNNING: Final = "vllm:num_requests_running"
_WAITING: Final = "vllm:num_requests_waiting"
# Of the engine before V1, which vLLM 0.8 still has: requests that were moved out to make room.
_SWAPPED: Final = "vllm:num_requests_swapped"
# vLLM says `_total`; a collector between may write the family's bare name.
_PROMPT: Final = ("vllm:prompt_tokens_total", "vllm:prompt_tokens")
_GENERATION: Final = ("vllm:generation_tokens_total", "vllm:generation_tokens")
_PREEMPTIONS: Final = ("vllm:num_preemptions_total", "vllm:num_preemptions")
# The second name is that of vLLM before 0.10, where both may be there for a while.
_KV_USAGE: Final = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
_WANTED: Final = (
    _RUNNING,
    _WAITING,
    _SWAPPED,
    *_PROMPT,
    *_GENERATION,
    *_PREEMPTIONS,
    *_KV_USAGE,
    CONFIG,
)

_Family = dict[frozenset[tuple[str, str]], Sample]
_Engines = dict[str, float]


def read_activity(text: str) -> Activity | None:
    """The activity that a /metrics body tells of.

    None where a family that is needed is missing, or has not the same engines as the others, which
    means that a part of the body is missing.
    """
    families: dict[str, _Family] = {}
    for sample in samples(text, _WANTED):
        # A series that is there twice counts once.
        families.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample
    running, waiting = _by_engine(families, _RUNNING), _by_engine(families, _WAITING)
    prompt, generation = _by_engine(families, *_PROMPT), _by_engine(families, *_GENERATION)
    if not running or not running.keys() == waiting.keys() == prompt.keys() == generation.keys():
        return None
    configs = [sample.labels for sample in families.get(CONFIG, {}).values()]
    capacity = read_capacity(configs)
    return Activity(
        running=sum(running.values()),
        waiting=sum(waiting.values()) + sum(_by_engine(families, _SWAPPED).values()),
        prompt_tokens=sum(prompt.values()),
        generation_tokens=sum(generation.values()),
        kv_usage_ratio=_usage_ratio(families, capacity),
        preemptions_total=sum(_by_engine(families, *_PREEMPTIONS).values()),
        kv_capacity_tokens=capacity.tokens,
    )


def _by_engine(families: Mapping[str, _Family], *names: str) -> _Engines:
    """The sums for each engine, from the first of the names that has legible values."""
    for name in names:
        found: _Engines = {}
        for sample in families.get(name, {}).values():
            if 0.0 <= sample.value < math.inf:
                engine = sample.labels.get("engine", "")
                found[engine] = found.get(engine, 0.0) + sample.value
        if found:
            return found
    return {}


def _usage_ratio(families: Mapping[str, _Family], capacity: Capacity) -> float | None:
    """The share of all engines' cache that is in use, 0 to 1; None if they do not tell.

    Each engine weighs as much as it holds, where that is known for all, and the same elsewhere.
    With several API servers vLLM 0.9 and 0.10 write one line per process (label `pid`), and which
    is the newest can't be told: their mean stands for the engine.
    """
    for name in _KV_USAGE:
        lines: dict[str, list[float]] = {}
        for sample in families.get(name, {}).values():
            if not math.isnan(sample.value):
                lines.setdefault(sample.labels.get("engine", ""), []).append(_ratio(sample.value))
        if lines:
            is_weighed = lines.keys() == capacity.by_engine.keys()
            weights = {e: capacity.by_engine[e] if is_weighed else 1 for e in lines}
            used = sum(weights[e] * (sum(seen) / len(seen)) for e, seen in lines.items())
            return used / sum(weights.values())
    return None


def _ratio(value: float) -> float:
    """The usage as 0 to 1, although the name says percent; some exporters believe the name."""
    return min(1.0, max(0.0, value / 100.0 if value > 1.5 else value))
