"""Waiting for a backend, in a time that the test moves."""

import pytest

from gateway.cli.drain_wait import AWAY_S, Ending, State, Waited, wait_until_empty
from gateway.cli.stop import Stop
from gateway.words import Language, Words

Looks = list[State | Stop | None]
GONE = Stop(2, Words("away", "离线"), Language.EN)


class World:
    """Time that passes by sleeping, and a look for each second; the last one stays."""

    def __init__(self, looks: Looks) -> None:
        self.looks = looks
        self.now_s = 100.0
        self.told: list[State] = []
        self.slept: list[float] = []

    def look(self) -> State | None:
        seen = self.looks[min(len(self.slept), len(self.looks) - 1)]
        if isinstance(seen, Stop):
            raise seen
        return seen

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds

    def wait(self, timeout_s: float = 1000.0, interval_s: float = 1.0) -> Waited:
        return wait_until_empty(
            self.look,
            self.told.append,
            timeout_s=timeout_s,
            interval_s=interval_s,
            now=lambda: self.now_s,
            sleep=self.sleep,
        )


def out(in_flight: int, waiting: int = 0) -> State:
    return State(in_flight, waiting, is_draining=True)


@pytest.mark.parametrize(
    ("looks", "waited"),
    [
        ([out(0)], Waited(Ending.EMPTY, 0.0, 0)),
        ([out(2), out(1), out(0)], Waited(Ending.EMPTY, 2.0, 0)),
        ([out(2), None], Waited(Ending.GONE, 1.0, 0)),
        ([out(2), State(3, 0, is_draining=False)], Waited(Ending.UNDRAINED, 1.0, 3)),
        ([out(2), GONE, GONE, out(0)], Waited(Ending.EMPTY, 3.0, 0)),
        ([out(2)], Waited(Ending.LATE, 1000.0, 2)),
    ],
)
def test_how_a_wait_ends(looks: Looks, waited: Waited) -> None:
    assert World(looks).wait() == waited


def test_only_what_changed_is_told() -> None:
    world = World([out(2), out(2), out(2, 5), GONE, out(2, 5), out(1), out(0)])
    world.wait()
    assert world.told == [out(2), out(2, 5), out(1)]


def test_a_gateway_that_stays_away_is_given_up() -> None:
    world = World([out(2), GONE])
    with pytest.raises(Stop, match="away"):
        world.wait()
    assert world.now_s == 100.0 + AWAY_S


@pytest.mark.parametrize(("timeout_s", "looks"), [(0.0, 1), (0.5, 2), (2.5, 4)])
def test_the_time_is_kept_exactly(timeout_s: float, looks: int) -> None:
    world = World([out(2)])
    waited = world.wait(timeout_s)
    assert waited == Waited(Ending.LATE, timeout_s, 2)
    assert len(world.slept) + 1 == looks
