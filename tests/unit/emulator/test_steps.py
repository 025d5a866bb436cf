"""Step times: tables over the load, with round costs so that every term shows."""

import pytest

from gateway.emulator.spec import EngineSpec, StepCosts
from gateway.emulator.steps import StepClock, StepLoad

COSTS = StepCosts(
    graph_base_s=1.0,
    graph_slope_s=0.1,
    eager_base_s=5.0,
    eager_slope_s=0.01,
    prefill_tokens_per_s=100.0,
    prefill_attention_s=0.001,
    decode_context_s=0.0001,
)


def clock(*sizes: int) -> StepClock:
    return StepClock(EngineSpec(COSTS, capture_sizes=sizes))


@pytest.mark.parametrize(
    ("sizes", "decodes", "is_graph", "duration_s"),
    [
        ((1, 4), 1, True, 1.1),
        ((1, 4), 2, True, 1.4),
        ((1, 4), 3, True, 1.4),
        ((1, 4), 4, True, 1.4),
        ((1, 4), 5, False, 5.05),
        ((1, 4), 8, False, 5.08),
        ((4, 1, 4), 2, True, 1.4),  # neither order nor repetition matters
        ((8,), 1, True, 1.8),
        ((), 1, False, 5.01),
        ((), 8, False, 5.08),
    ],
)
def test_steps_that_only_decode(
    sizes: tuple[int, ...], decodes: int, is_graph: bool, duration_s: float
) -> None:
    load = StepLoad(decodes=decodes)
    assert clock(*sizes).is_graph(load) is is_graph
    assert clock(*sizes).duration_s(load) == pytest.approx(duration_s)


@pytest.mark.parametrize(
    ("load", "duration_s"),
    [
        (StepLoad(prefill_tokens=100), 5.0),  # short prompts cost the launch of the kernels
        (StepLoad(prefill_tokens=500), 5.0),
        (StepLoad(prefill_tokens=600), 6.0),
        (StepLoad(prefill_tokens=600, prefill_context_products=1000), 7.0),
        (StepLoad(decodes=1, prefill_tokens=1), 5.01),
        (StepLoad(decodes=3, prefill_tokens=600), 6.03),
        (StepLoad(decodes=3, prefill_tokens=600, decode_context_tokens=10_000), 7.03),
    ],
)
def test_one_prompt_token_makes_the_whole_step_eager(load: StepLoad, duration_s: float) -> None:
    assert not clock(1, 4).is_graph(load)
    assert clock(1, 4).duration_s(load) == pytest.approx(duration_s)


@pytest.mark.parametrize(("sizes", "duration_s"), [((1,), 1.1 + 2.0), ((), 5.01 + 2.0)])
def test_context_makes_decodes_slower_with_and_without_graph(
    sizes: tuple[int, ...], duration_s: float
) -> None:
    load = StepLoad(decodes=1, decode_context_tokens=20_000)
    assert clock(*sizes).duration_s(load) == pytest.approx(duration_s)


@pytest.mark.parametrize(
    ("sizes", "decodes", "padded"),
    [((1, 4), 1, 1), ((1, 4), 2, 4), ((1, 4), 4, 4), ((1, 2, 4, 8, 16), 9, 16)],
)
def test_a_graph_step_runs_at_the_next_captured_size(
    sizes: tuple[int, ...], decodes: int, padded: int
) -> None:
    assert clock(*sizes).padded(decodes) == padded
