"""The timer against a loop whose time stands still until the test moves it."""

import math

import pytest

from gateway.errors import Phase
from gateway.upstream.timer import PhaseLimits, PhaseTimer

LIMITS = PhaseLimits(connect_s=1, first_byte_s=10, between_s=4, total_s=30)


class Handle:
    def __init__(self, at_s, callback):
        self.at_s, self.callback, self.is_cancelled = at_s, callback, False

    def cancel(self):
        self.is_cancelled = True


class Loop:
    def __init__(self):
        self.now_s = 100.0
        self.handles = []

    def time(self):
        return self.now_s

    def call_at(self, at_s, callback):
        self.handles.append(Handle(at_s, callback))
        return self.handles[-1]

    def run_to(self, now_s):
        while True:
            due = [one for one in self.handles if not one.is_cancelled and one.at_s <= now_s]
            if not due:
                self.now_s = now_s
                return
            first = min(due, key=lambda one: one.at_s)
            self.handles.remove(first)
            self.now_s = max(self.now_s, first.at_s)
            first.callback()


@pytest.fixture
def loop():
    return Loop()


@pytest.fixture
def fired():
    return []


@pytest.fixture
def timer(loop, fired):
    return PhaseTimer(loop, lambda phase, limit_s: fired.append((phase, limit_s, loop.now_s)))


@pytest.mark.parametrize(
    ("phase", "total_at_s", "expected"),
    [
        (Phase.FIRST_BYTE, math.inf, (Phase.FIRST_BYTE, 10, 110.0)),
        (Phase.BETWEEN, math.inf, (Phase.BETWEEN, 4, 104.0)),
        (Phase.SEND, math.inf, (Phase.SEND, 4, 104.0)),
        (Phase.FIRST_BYTE, 107.0, (Phase.TOTAL, 30, 107.0)),
        (Phase.BETWEEN, 104.0, (Phase.TOTAL, 30, 104.0)),
    ],
)
def test_each_phase_has_its_limit(timer, loop, fired, phase, total_at_s, expected):
    timer.start(LIMITS, total_at_s, phase)
    loop.run_to(200)
    assert fired == [expected]


def test_progress_moves_the_limit_without_touching_the_loop(timer, loop, fired):
    timer.start(LIMITS, math.inf, Phase.BETWEEN)
    for now_s in (101.0, 102.0, 103.0):
        loop.run_to(now_s)
        timer.mark_s = now_s
        assert len(loop.handles) == 1
    loop.run_to(200)
    assert fired == [(Phase.BETWEEN, 4, 107.0)]


def test_a_later_phase_may_end_sooner(timer, loop, fired):
    timer.start(LIMITS, math.inf, Phase.FIRST_BYTE)
    loop.run_to(101)
    timer.enter(Phase.BETWEEN)
    loop.run_to(200)
    assert fired == [(Phase.BETWEEN, 4, 105.0)]


def test_a_held_clock_stands_but_the_total_runs(timer, loop, fired):
    timer.start(LIMITS, 130.0, Phase.BETWEEN)
    timer.hold()
    loop.run_to(120)
    assert fired == []
    timer.go_on()
    loop.run_to(123)
    timer.hold()
    loop.run_to(200)
    assert fired == [(Phase.TOTAL, 30, 130.0)]


def test_a_held_clock_without_total_sets_no_timer(timer, loop, fired):
    timer.start(LIMITS, math.inf, Phase.BETWEEN)
    timer.hold()
    loop.run_to(200)
    assert (fired, loop.handles) == ([], [])
    timer.go_on()
    loop.run_to(300)
    assert fired == [(Phase.BETWEEN, 4, 204.0)]


def test_the_loops_timer_outlives_an_exchange(timer, loop, fired):
    for _ in range(5):
        timer.start(LIMITS, math.inf, Phase.FIRST_BYTE)
        timer.stop()
        loop.run_to(loop.now_s + 1)
    assert len(loop.handles) == 1
    loop.run_to(200)
    assert (fired, loop.handles) == ([], [])


def test_no_limits_no_timer(timer, loop):
    timer.start(PhaseLimits(*[math.inf] * 4), math.inf, Phase.FIRST_BYTE)
    assert loop.handles == []


def test_close_cancels(timer, loop, fired):
    timer.start(LIMITS, math.inf, Phase.BETWEEN)
    timer.close()
    loop.run_to(200)
    assert fired == []
