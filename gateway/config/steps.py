"""How long one step of an engine may take, so that standing still can be told from working."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.config.backend import BackendConfig
from gateway.config.timeouts import DEFAULT_CONTEXT_TOKENS, PREFILL_TOKENS_PER_S, decode_speed
from gateway.config.vocabulary import Chip

DEFAULT_BATCHED_TOKENS: Final = 2048
"""What vLLM-Ascend takes for --max-num-batched-tokens when it serves and none is given."""

# The slow end of what was published for each family; the 310P figure stands for unknown chips too.
_PREFILL: Final[Mapping[Chip, float]] = MappingProxyType({Chip.A2: 2000.0, Chip.A3: 2000.0})


# Ordinary text has three to four bytes a token, Chinese in UTF-8 as well.
_BYTES_PER_TOKEN: Final = 3


def longest_still_s(backend: BackendConfig, longest_step_s: float, prompt_bytes: int) -> float:
    """Seconds in which no counter need move: as long as the largest prompt at the engine takes.

    vLLM counts a prompt when it has been read whole; while it is read in chunks the KV usage
    moves, but by whole blocks, which are thousands of tokens in hybrid models.
    """
    if backend.longest_step_s is not None:
        return longest_step_s
    tokens = min(prompt_bytes // _BYTES_PER_TOKEN, backend.max_model_len or DEFAULT_CONTEXT_TOKENS)
    return max(longest_step_s, 2.0 * tokens / _prefill_rate(backend))


def longest_step_s(
    backend: BackendConfig, least_s: float, prefill_tokens_per_s: float | None = None
) -> float:
    """Seconds that the engine may legally stand still while it has work.

    Twice the time of a full prefill chunk and a decode step, and at least `least_s`. A figure in
    the routing file wins; `prefill_tokens_per_s` is a learnt speed.
    """
    if backend.longest_step_s is not None:
        return backend.longest_step_s
    preset = _prefill_rate(backend)
    chunk_tokens = backend.max_num_batched_tokens or DEFAULT_BATCHED_TOKENS
    step_s = chunk_tokens / (prefill_tokens_per_s or preset) + 1.0 / decode_speed(backend)
    return max(least_s, 2.0 * step_s)


def _prefill_rate(backend: BackendConfig) -> float:
    """Tokens a second at the slow end of what was published for the chip."""
    if backend.chip is None:
        return PREFILL_TOKENS_PER_S
    return _PREFILL.get(backend.chip, PREFILL_TOKENS_PER_S)
