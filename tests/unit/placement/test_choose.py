"""Who may serve, and who is chosen: tables without an event loop."""

import pytest

from gateway.config.vocabulary import Tier
from gateway.fleet.health.machine import State
from gateway.fleet.view import BackendFacts, BackendView, ModelView
from gateway.placement.choose import choose
from gateway.placement.eligible import Need, Why, is_eligible, refusals


def backend(
    name: str,
    in_flight: int = 0,
    cap: int = 4,
    *,
    state: State = State.UP,
    weight: float = 1.0,
    length: int | None = 4096,
    is_missing: bool = False,
) -> BackendView:
    facts = BackendFacts(
        name, "m", Tier.GRAPH, weight, cap, 8, length, state, "because", is_missing
    )
    return BackendView(facts, in_flight)


def view(*backends: BackendView) -> ModelView:
    return ModelView("public", backends)


@pytest.mark.parametrize(
    ("one", "need", "tried", "why"),
    [
        (backend("a"), Need(), [], None),
        (backend("a", state=State.UNKNOWN), Need(), [], None),
        (backend("a", state=State.DEGRADED), Need(), [], None),
        (backend("a", in_flight=100), Need(), [], None),
        (backend("a", state=State.DOWN), Need(), [], Why.DOWN),
        (backend("a", is_missing=True), Need(), [], Why.NAME_MISSING),
        (backend("a"), Need(), ["a"], Why.TRIED),
        (backend("a"), Need(4096), [], None),
        (backend("a"), Need(4097), [], Why.CONTEXT_TOO_SHORT),
        (backend("a", length=None), Need(10**9), [], None),
        (backend("a", state=State.DOWN), Need(), ["a"], Why.TRIED),
    ],
)
def test_each_reason(one: BackendView, need: Need, tried: list[str], why: Why | None) -> None:
    found = refusals(view(one), need, tried)
    assert [r.why for r in found] == ([] if why is None else [why])
    assert is_eligible(one.facts, need, tried) == (why is None)
    assert all(r.backend == "a" and r.detail for r in found)


@pytest.mark.parametrize(
    ("backends", "chosen"),
    [
        ([backend("a", 1), backend("b", 0)], "b"),
        ([backend("a", 1, cap=4), backend("b", 2, cap=16)], "b"),
        ([backend("a", 0, cap=4), backend("b", 0, cap=16)], "b"),
        ([backend("a", 9, weight=4.0), backend("b", 1)], "b"),
        ([backend("a", 6, weight=4.0), backend("b", 1)], "a"),
        ([backend("a", 7), backend("b", 0, state=State.DEGRADED)], "a"),
        ([backend("a", 7), backend("b", 0, state=State.UNKNOWN)], "a"),
        ([backend("a", state=State.DOWN), backend("b", 9, state=State.DEGRADED)], "b"),
    ],
)
def test_the_least_loaded_for_its_cap(backends: list[BackendView], chosen: str) -> None:
    placement = choose(view(*backends), Need(), [], lambda: 0.0)
    assert placement.backend is not None
    assert placement.backend.name == chosen


@pytest.mark.parametrize(("draw", "chosen"), [(0.0, "a"), (0.34, "b"), (0.67, "c"), (0.999, "c")])
def test_ties_go_by_the_draw(draw: float, chosen: str) -> None:
    tied = view(backend("a"), backend("b"), backend("c"), backend("d", 1))
    placement = choose(tied, Need(), [], lambda: draw)
    assert placement.backend is not None
    assert placement.backend.name == chosen


def test_nobody_left_says_why_for_each() -> None:
    placement = choose(view(backend("a", state=State.DOWN), backend("b")), Need(), ["b"], lambda: 0)
    assert placement.backend is None
    assert [(r.backend, r.why) for r in placement.refused] == [("a", Why.DOWN), ("b", Why.TRIED)]


def test_a_model_without_backends_has_no_placement() -> None:
    assert choose(view(), Need(), [], lambda: 0.0).backend is None
