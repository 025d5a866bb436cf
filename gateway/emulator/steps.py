"""How long one engine step takes: a pure function of what is in it."""

from bisect import bisect_left
from dataclasses import dataclass

from gateway.emulator.spec import EngineSpec


@dataclass(frozen=True, slots=True)
class StepLoad:
    """What one step computes."""

    decodes: int = 0
    """Sequences that produce one token each."""
    decode_context_tokens: int = 0
    """Sum of their context lengths."""
    prefill_tokens: int = 0
    prefill_context_products: int = 0
    """Sum over prefill chunks of chunk tokens times the context before them."""


class StepClock:
    """Durations of steps of one engine, with the padding of captured sizes worked out once."""

    __slots__ = ("_costs", "_largest", "_prefill_token_s", "_sizes")

    def __init__(self, spec: EngineSpec) -> None:
        self._costs = spec.costs
        self._sizes = sorted(set(spec.capture_sizes))
        self._largest = self._sizes[-1] if self._sizes else 0
        self._prefill_token_s = 1.0 / spec.costs.prefill_tokens_per_s

    def is_graph(self, load: StepLoad) -> bool:
        """Whether a captured graph covers this step.

        FULL_DECODE_ONLY (the mode of the 310P): one prefill token makes the whole step eager, and
        so does a batch above the largest captured size.
        """
        return load.prefill_tokens == 0 and 0 < load.decodes <= self._largest

    def padded(self, decodes: int) -> int:
        """The captured size that a graph step of `decodes` sequences runs at."""
        return self._sizes[bisect_left(self._sizes, decodes)]

    def duration_s(self, load: StepLoad) -> float:
        """Seconds this step takes on the emulated card."""
        costs = self._costs
        context_s = costs.decode_context_s * load.decode_context_tokens
        if self.is_graph(load):
            padded = self.padded(load.decodes)
            return costs.graph_base_s + costs.graph_slope_s * padded + context_s
        prefill_s = (
            self._prefill_token_s * load.prefill_tokens
            + costs.prefill_attention_s * load.prefill_context_products
        )
        eager_s = max(costs.eager_base_s, prefill_s)
        return eager_s + costs.eager_slope_s * load.decodes + context_s
