"""How long one step of an engine may take, so that standing still can be told from working."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.config.backend import BackendConfig
from gateway.config.timeouts import PREFILL_TOKENS_PER_S, decode_speed
from gateway.config.vocabulary import Chip

DEFAULT_BATCHED_TOKENS: Final = 2048
"""What vLLM-Ascend takes for --max-num-batched-tokens when it serves and none is given."""

# The slow end of what was published for each family; the 310P figure stands for unknown chips too.
_PREFILL: Final[Mapping[Chip, float]] = MappingProxyType({Chip.A2: 2000.0, Chip.A3: 2000.0})


def longest_step_s(
    backend: BackendConfig, least_s: float, prefill_tokens_per_s: float | None = None
) -> float:
    """Seconds that the engine may legally stand still while it has work.

    Twice the time of a full prefill chunk and a decode step, and at least `least_s`. A figure in
    the routing file wins; `prefill_tokens_per_s` is a learnt speed.
    """
    if backend.longest_step_s is not None:
        return backend.longest_step_s
    preset = PREFILL_TOKENS_PER_S if backend.chip is None else _PREFILL.get(backend.chip, 500.0)
    chunk_tokens = backend.max_num_batched_tokens or DEFAULT_BATCHED_TOKENS
    step_s = chunk_tokens / (prefill_tokens_per_s or preset) + 1.0 / decode_speed(backend)
    return max(least_s, 2.0 * step_s)
