"""The line of a model: bounded, in order, never above a cap, and nobody waits for ever."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.fleet.view import ModelView, Speed
from gateway.placement.affinity import PrefixIndex
from gateway.placement.eligible import Need, Why
from gateway.placement.lane import LOOKAHEAD, Lane
from gateway.placement.marginal import LeastCost
from gateway.placement.order import Order
from gateway.placement.want import Placed, Want
from tests.unit.placement.places import SPEED, backend, load, view

ORDERS = list(Order)


@dataclass
class Fleet:
    """Backends that run what they are given until told to end it."""

    count: int = 1
    cap: int = 2
    order: Order = Order.FAIR
    speed: Speed = SPEED
    now: float = 0.0
    context: float = 0.0
    placed: list[Want] = field(default_factory=list)
    running: dict[str, list[Want]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lane = Lane(LeastCost(), self.order, 1000, {})
        self.running = {f"b{index}": [] for index in range(self.count)}

    def view(self) -> ModelView:
        backends = []
        for name, here in self.running.items():
            one = backend(name, len(here), self.cap, speed=self.speed)
            used = load(len(here), 100.0 * len(here), context=self.context if here else 0.0)
            backends.append(one._replace(load=used))
        return view(*backends)

    def plan(self) -> list[Placed]:
        found = []
        for placed in self.lane.plan(self.view, self.now, lambda: 0.5):
            found.append(placed)
            if placed.backend is not None:
                self.running[placed.backend.facts.name].append(placed.want)
                self.placed.append(placed.want)
                assert len(self.running[placed.backend.facts.name]) <= self.cap
        return found

    def come(self, name: str, prompt: int = 100, tenant: str = "", limit: int = 64) -> Want:
        want = Want(name, self.now, prompt, limit, tenant=tenant)
        self.lane.join(want)
        return want

    def end(self, index: int = 0) -> None:
        here = list(self.running.values())[index % self.count]
        if here:
            here.pop(0)


def names(placed: list[Placed]) -> list[str]:
    return [one.want.id for one in placed]


def test_it_is_bounded() -> None:
    lane = Lane(LeastCost(), Order.FAIR, 2, {})
    wants = [Want(str(number), 0.0, 1, None) for number in range(3)]
    for want, is_over in zip(wants, (False, False, True), strict=True):
        lane.join(want)
        assert lane.is_over is is_over
    lane.leave(wants[1])
    lane.leave(wants[1])
    assert list(lane) == [wants[0], wants[2]]
    assert not lane.is_over


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Order.FCFS, ["long", "short"]),
        (Order.SHORTEST, ["short", "long"]),
        (Order.FAIR, ["short", "long"]),
    ],
)
def test_the_order(order: Order, expected: list[str]) -> None:
    fleet = Fleet(order=order)
    fleet.come("long", 9000)
    fleet.now = 1.0
    fleet.come("short", 10)
    assert names(fleet.plan()) == expected


def test_a_priority_goes_first() -> None:
    fleet = Fleet(cap=1, order=Order.FCFS)
    fleet.come("first")
    fleet.come("urgent").priority = -1
    assert names(fleet.plan()) == ["urgent"]


def test_only_some_are_looked_at() -> None:
    fleet = Fleet(cap=LOOKAHEAD + 10, order=Order.FCFS)
    for number in range(LOOKAHEAD + 5):
        fleet.come(str(number))
    assert len(fleet.plan()) == LOOKAHEAD
    assert len(fleet.plan()) == 5


def test_one_that_nobody_may_serve_is_told_so_even_if_all_is_full() -> None:
    fleet = Fleet(cap=1)
    fleet.come("a")
    fleet.plan()
    fleet.come("b")
    want = fleet.come("c")
    want.tried = ("b0",)
    (refused,) = fleet.plan()
    assert refused.want is want
    assert refused.backend is None
    assert [one.why for one in refused.refused] == [Why.TRIED]
    assert want not in fleet.lane


def test_one_that_left_while_others_were_placed_is_not_placed() -> None:
    fleet = Fleet(order=Order.FCFS)
    fleet.come("a")
    gone = fleet.come("b")
    for placed in fleet.lane.plan(fleet.view, 0.0, lambda: 0.5):
        assert placed.want is not gone
        fleet.lane.leave(gone)


@pytest.mark.parametrize(("waited_s", "expected"), [(10.0, ["small"]), (30.0, [])])
def test_one_that_waited_long_for_memory_closes_the_backend(
    waited_s: float, expected: list[str]
) -> None:
    speed = SPEED._replace(kv_tokens=1000)
    fleet = Fleet(cap=4, order=Order.FCFS, speed=speed)
    fleet.come("there")
    fleet.plan()
    fleet.context = 700.0
    fleet.come("large", 400)
    fleet.now = waited_s
    fleet.come("small", 50, limit=8)
    assert names(fleet.plan()) == expected


def test_a_need_that_is_too_long_is_refused() -> None:
    fleet = Fleet()
    fleet.lane.join(Want("a", 0.0, 1, None, need=Need(10**9)))
    assert names(fleet.plan()) == ["a"]  # no backend has said how long its context is


arrivals = st.lists(
    st.one_of(
        st.tuples(st.just("come"), st.integers(1, 20_000), st.sampled_from("abc")),
        st.tuples(st.just("end"), st.integers(0, 2), st.just("")),
        st.tuples(st.just("leave"), st.integers(0, 9), st.just("")),
        st.tuples(st.just("wait"), st.integers(1, 60), st.just("")),
    ),
    max_size=60,
)


@given(arrivals, st.sampled_from(ORDERS), st.integers(1, 3), st.integers(1, 4))
@settings(deadline=None, max_examples=60)
def test_nobody_is_placed_twice_and_no_cap_is_passed(
    steps: list[tuple[str, int, str]], order: Order, count: int, cap: int
) -> None:
    fleet = Fleet(count, cap, order)
    joined = left = 0
    for number, (step, value, tenant) in enumerate(steps):
        if step == "come":
            fleet.come(str(number), value, tenant)
            joined += 1
        elif step == "end":
            fleet.end(value)
        elif step == "leave" and len(fleet.lane):
            fleet.lane.leave(list(fleet.lane)[value % len(fleet.lane)])
            left += 1
        elif step == "wait":
            fleet.now += value
        fleet.plan()
    assert len(set(fleet.placed)) == len(fleet.placed)
    assert len(fleet.placed) + left + len(fleet.lane) == joined


@given(
    st.sampled_from(ORDERS),
    st.integers(1, 20_000),
    st.lists(st.tuples(st.integers(1, 20_000), st.sampled_from("xy")), min_size=1, max_size=5),
)
@settings(deadline=None, max_examples=40)
def test_whatever_else_comes_everyone_gets_a_place(
    order: Order, prompt: int, others: list[tuple[int, str]]
) -> None:
    fleet = Fleet(1, 2, order)
    for number in range(4):
        fleet.come(f"before{number}")
        fleet.plan()
    one = fleet.come("one", prompt, "x")
    completions = 0
    # A second passes with each completion, and with each a new one comes.
    while one not in fleet.placed:
        fleet.now += 1.0
        length, tenant = others[completions % len(others)]
        fleet.come(f"other{completions}", length, tenant)
        fleet.end()
        fleet.plan()
        completions += 1
        assert completions < 600


@pytest.mark.parametrize(("order", "most"), [(Order.FAIR, 8), (Order.SHORTEST, 200)])
def test_a_key_that_floods_does_not_starve_another(order: Order, most: int) -> None:
    fleet = Fleet(1, 2, order)
    for number in range(100):
        fleet.come(f"flood{number}", 2000, "flood")
    for _ in range(20):
        fleet.now += 1.0
        fleet.end()
        fleet.plan()
    one = fleet.come("one", 4000, "quiet")
    for waited in range(most):
        fleet.now += 1.0
        fleet.come(f"more{waited}", 2000, "flood")
        fleet.end()
        fleet.plan()
        if one in fleet.placed:
            return
    raise AssertionError(f"not placed after {most} completions")


def test_the_index_keeps_what_was_used_last() -> None:
    index = PrefixIndex(4)
    index.add((1, 2, 3), 40)
    assert index.match((1, 2, 3)) == (3, 0)
    assert index.match((1, 2, 3, 4)) == (3, 40)
    assert index.match((1, 2, 9)) == (2, 0)
    assert index.match((7, 1)) == (0, 0)
    index.add((7, 8))
    assert len(index) == 4
    # The end of the older prompt went first.
    assert index.match((1, 2, 3)) == (2, 0)
    version = index.version
    index.clear()
    assert (len(index), index.match((1,))) == (0, (0, 0))
    assert index.version > version


@given(st.lists(st.lists(st.integers(0, 9), max_size=6, unique=True)), st.integers(1, 8))
def test_the_index_is_bounded(prompts: list[list[int]], most: int) -> None:
    index = PrefixIndex(most)
    for prompt in prompts:
        index.add(prompt)
        assert len(index) <= most
        assert index.match(prompt)[0] == min(len(prompt), most)
