"""Who may serve, and who is chosen: tables without an event loop."""

import pytest

from gateway.config.vocabulary import Tier
from gateway.fleet.health.machine import State
from gateway.fleet.view import BackendFacts, BackendView, ModelView, Standing
from gateway.placement.choose import Domain, choose
from gateway.placement.eligible import Need, Why, is_eligible, refusals

DOUBTFUL, LAST = Standing.DOUBTFUL, Standing.LAST_RESORT
OUT = (State.DOWN, State.DRAINING)
EAGER = Tier.EAGER


def backend(
    name: str,
    in_flight: int = 0,
    cap: int = 4,
    *,
    state: State = State.UP,
    weight: float = 1.0,
    length: int | None = 4096,
    is_missing: bool = False,
    tier: Tier = Tier.GRAPH,
    place: tuple[str, str] = ("n1", ""),
    is_slow: bool = False,
    standing: Standing | None = None,
    share_ratio: float = 1.0,
) -> BackendView:
    facts = BackendFacts(
        name, "m", tier, weight, cap, 8, length, state, "because", is_missing, *place, is_slow
    )
    usual = Standing.OUT if state in OUT else Standing.READY if state is State.UP else DOUBTFUL
    return BackendView(facts, in_flight, usual if standing is None else standing, share_ratio)


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
        (backend("a", state=State.DOWN, standing=LAST), Need(), [], None),
        (backend("a", state=State.DRAINING), Need(), [], Why.DRAINING),
        (backend("a", is_missing=True), Need(), [], Why.NAME_MISSING),
        (backend("a"), Need(), ["a"], Why.TRIED),
        (backend("a"), Need(4096), [], None),
        (backend("a"), Need(4097), [], Why.CONTEXT_TOO_SHORT),
        (backend("a", length=None), Need(10**9), [], None),
        (backend("a", state=State.DOWN), Need(), ["a"], Why.TRIED),
        (backend("a", state=State.STARTING), Need(), [], None),
        (backend("a", state=State.STARTING, standing=LAST), Need(), [], None),
        (backend("a", standing=LAST), Need(), ["a"], Why.TRIED),
        (backend("a", share_ratio=0.1, in_flight=9), Need(), [], None),
        (backend("a", state=State.DRAINING, is_missing=True), Need(9999), [], Why.DRAINING),
        (backend("a", is_missing=True), Need(9999), [], Why.NAME_MISSING),
        (backend("a", is_slow=True), Need(), ["b"], None),
    ],
)
def test_each_reason(one: BackendView, need: Need, tried: list[str], why: Why | None) -> None:
    found = refusals(view(one), need, tried)
    assert [r.why for r in found] == ([] if why is None else [why])
    assert is_eligible(one, need, tried) == (why is None)
    assert all(r.backend == "a" and r.detail for r in found)


@pytest.mark.parametrize(
    ("backends", "chosen"),
    [
        ([backend("a", 1), backend("b", 0)], "b"),
        ([backend("a", 1, cap=4), backend("b", 2, cap=16)], "b"),
        ([backend("a", 0, cap=4), backend("b", 0, cap=16)], "b"),
        ([backend("a", 3, weight=1.0), backend("b", 3, weight=4.0)], "b"),
        ([backend("a", 3, weight=4.0), backend("b", 1)], "a"),
        ([backend("a", 7), backend("b", 0, state=State.DEGRADED)], "a"),
        ([backend("a", 7), backend("b", 0, state=State.UNKNOWN)], "a"),
        ([backend("a", state=State.DOWN), backend("b", 9, state=State.DEGRADED)], "b"),
        # Graph first, while it has room; then whoever has room; then by load.
        ([backend("a", 3), backend("b", 0, tier=EAGER)], "a"),
        ([backend("a", 4), backend("b", 0, tier=EAGER)], "b"),
        ([backend("a", 4), backend("b", 8, tier=EAGER)], "a"),
        ([backend("a", 1, is_slow=True), backend("b", 0, tier=EAGER)], "b"),
        # One that has just come back gets its share, not the herd.
        ([backend("a", 1, share_ratio=0.25), backend("b", 0, tier=EAGER)], "b"),
        ([backend("a", 0, share_ratio=0.1), backend("b", 0, tier=EAGER)], "a"),
        ([backend("a", 0, share_ratio=0.5), backend("b", 0)], "b"),
        ([backend("a", 2, share_ratio=0.5), backend("b", 3)], "b"),
        ([backend("a", 1, share_ratio=0.5), backend("b", 4)], "a"),
        ([backend("a", 1, share_ratio=0.1), backend("b", 4)], "b"),
        # A last resort is used only when there is nothing else.
        ([backend("a", 0, standing=LAST), backend("b", 9, state=State.DEGRADED)], "b"),
        ([backend("a", 0, standing=LAST), backend("b", state=State.DOWN)], "a"),
        ([backend("a", 0, standing=LAST), backend("b", 0, is_missing=True)], "a"),
        ([backend("a", 3, standing=LAST), backend("b", 0, standing=LAST)], "b"),
        ([backend("a", 0, standing=LAST), backend("b", 99, tier=EAGER)], "b"),
        ([backend("a", 0, standing=DOUBTFUL), backend("b", 99, is_slow=True)], "b"),
        # A slow graph backend counts as an eager one, by its load.
        ([backend("a", 0, is_slow=True), backend("b", 1, tier=EAGER)], "a"),
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


@pytest.mark.parametrize(
    ("backends", "chosen"),
    [
        ([backend("a", 3, place=("n2", "")), backend("b", 0, place=("n1", ""))], "a"),
        ([backend("a", 3, place=("n1", "1")), backend("b", 0, place=("n1", "0"))], "a"),
        ([backend("a", place=("n1", "0")), backend("b", tier=EAGER, place=("n2", "0"))], "b"),
        ([backend("a", place=("n1", "")), backend("b", 3, place=("n2", "0"))], "b"),
        ([backend("a", place=("n1", "0")), backend("b", 9, place=("n1", ""))], "b"),
        ([backend("a", 1, place=("n2", "0")), backend("b", 0, place=("n3", "0"))], "b"),
        # A near one is better than none.
        ([backend("a", place=("n1", "0")), backend("b", state=State.DOWN)], "a"),
        # A bad standing weighs more than a near neighbour.
        ([backend("a", place=("n1", "0")), backend("b", standing=LAST, place=("n2", "0"))], "a"),
    ],
)
def test_the_next_try_goes_to_another_fault_domain(
    backends: list[BackendView], chosen: str
) -> None:
    failed_in = [Domain("n1", "0")]
    placement = choose(view(*backends), Need(), [], lambda: 0.0, failed_in)
    assert placement.backend is not None
    assert placement.backend.name == chosen


def test_the_nearest_of_several_failures_counts() -> None:
    near = backend("a", place=("n2", "1"))
    far = backend("b", 3, place=("n2", ""))
    for failed_in in ([Domain("n1", "0"), Domain("n2", "1")], [Domain("n2", "1")]):
        placement = choose(view(near, far), Need(), [], lambda: 0.0, failed_in)
        assert placement.backend is not None
        assert placement.backend.name == "b"


def test_a_failure_on_an_unknown_card_says_no_more_than_its_node() -> None:
    one, other = backend("a", place=("n1", "")), backend("b", 1, place=("n1", ""))
    placement = choose(view(one, other), Need(), [], lambda: 0.0, [Domain("n1", "")])
    assert placement.backend is not None
    assert placement.backend.name == "a"


def test_nobody_left_says_why_for_each() -> None:
    placement = choose(view(backend("a", state=State.DOWN), backend("b")), Need(), ["b"], lambda: 0)
    assert placement.backend is None
    assert [(r.backend, r.why) for r in placement.refused] == [("a", Why.DOWN), ("b", Why.TRIED)]


def test_a_model_without_backends_has_no_placement() -> None:
    assert choose(view(), Need(), [], lambda: 0.0).backend is None
