"""Named engines, calibrated on published speeds of Ascend cards.

The decode speeds of the 310P presets are published (one stream of a 9B model 17 tok/s with a
graph and 5 to 6 without, a 27B W8A8 4 to 5); slopes, eager speed under batch, the 27B's prefill,
KV sizes and everything about the A2 are estimates.
"""

from types import MappingProxyType
from typing import Final

from gateway.emulator.spec import EngineSpec, StepCosts

_310P_9B = StepCosts(
    graph_base_s=0.0565,
    graph_slope_s=0.0023,
    eager_base_s=0.170,
    eager_slope_s=0.003,
    prefill_tokens_per_s=1400,
)

PRESETS: Final = MappingProxyType(
    {
        "310p-9b-graph": EngineSpec(_310P_9B, capture_sizes=(1, 4)),
        "310p-9b-eager": EngineSpec(_310P_9B),
        "310p-27b-graph": EngineSpec(
            StepCosts(
                graph_base_s=0.214,
                graph_slope_s=0.008,
                eager_base_s=0.340,
                eager_slope_s=0.010,
                prefill_tokens_per_s=700,
            ),
            capture_sizes=(1, 4),
            kv_tokens=560_000,
        ),
        "a2-9b": EngineSpec(
            StepCosts(
                graph_base_s=0.0215,
                graph_slope_s=0.00012,
                eager_base_s=0.060,
                eager_slope_s=0.0002,
                prefill_tokens_per_s=9000,
            ),
            capture_sizes=(1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64),
            max_num_seqs=64,
            max_num_batched_tokens=8192,
            kv_tokens=400_000,
        ),
    }
)
"""Engine presets by name."""

DEFAULT_PRESET: Final = "310p-9b-graph"


def preset(name: str) -> EngineSpec:
    """The engine called `name`; ValueError names the ones there are."""
    found = PRESETS.get(name)
    if found is None:
        raise ValueError(f"there is no preset {name!r}; use one of {', '.join(PRESETS)}")
    return found
