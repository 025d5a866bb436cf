"""The hang rule: looks over time, and what they prove."""

import math

import pytest

from gateway.fleet.health.evidence import (
    Activity,
    Hung,
    Look,
    Moved,
    ProbeFailed,
    ProbeOk,
    ProbeTrouble,
)
from gateway.fleet.health.progress import Progress, is_stale, take

LONGEST_S = 10.0
GREEN, LATE = ProbeOk(None), ProbeFailed(ProbeTrouble.TIMEOUT, "late")


def busy(tokens: float, running: float = 2.0, waiting: float = 0.0) -> Activity:
    return Activity(running, waiting, 100.0, tokens)


def look(
    activity: Activity | None,
    probe: ProbeOk | ProbeFailed = GREEN,
    *,
    awaited: bool = False,
    heard_s: float = -math.inf,
) -> Look:
    return Look(probe, activity, heard_s, awaited)


def reading(kv_usage_ratio: float) -> Activity:
    return Activity(1.0, 0.0, 100.0, 50.0, kv_usage_ratio)


IDLE = Activity(0.0, 0.0, 100.0, 50.0)
FROZEN = [(float(s), look(busy(50.0))) for s in range(0, 13, 2)]
MOVING = [(float(s), look(busy(50.0 + s))) for s in range(0, 40, 2)]
BLIND = look(None, LATE, awaited=True)
PREFILL = Activity(2.0, 0.0, 900.0, 50.0)


@pytest.mark.parametrize(
    ("looks", "proof"),
    [
        (FROZEN, Hung),
        (FROZEN[:6], None),  # not yet longer than the longest step
        (MOVING, Moved),
        ([(float(s), look(busy(5.0 * s), LATE)) for s in range(0, 40, 4)], Moved),
        ([(float(s), look(IDLE)) for s in range(0, 40, 4)], None),
        # Paused: nothing runs by the gauges, but a request of ours waits.
        ([(float(s), look(IDLE, awaited=True)) for s in range(0, 33, 2)], Hung),
        # An API server may tokenize or download before the engine has the request.
        ([(float(s), look(IDLE, awaited=True)) for s in range(0, 29, 2)], None),
        # A long prompt in chunks: no token is counted, but its blocks fill.
        ([(float(s), look(reading(s / 100))) for s in range(0, 60, 5)], None),
        # Waiting alone is work as well.
        ([(float(s), look(busy(5.0, 0.0, 3.0))) for s in range(0, 13, 2)], Hung),
        # Without counters and with a green probe, slow can't be told from dead.
        ([(float(s), look(None, awaited=True)) for s in range(0, 90, 5)], None),
        # Neither probe nor counters nor bytes: a stopped process.
        ([(float(s), look(None, LATE, awaited=True)) for s in range(0, 13, 2)], Hung),
        ([(float(s), look(None, LATE)) for s in range(0, 90, 5)], None),
        # Its probes are late, but its bytes come.
        (
            [(float(s), look(None, LATE, awaited=True, heard_s=s - 1.0)) for s in range(0, 60, 5)],
            None,
        ),
        # A restart resets the counters, which proves no generation.
        ([(0.0, look(busy(500.0))), (2.0, look(busy(0.0, 0.0)))], None),
        ([*FROZEN, (13.0, look(IDLE))], Moved),  # it hung and went on
        ([*FROZEN, (13.0, look(Activity(0.0, 0.0, 0.0, 0.0)))], None),  # it was started anew
        ([*FROZEN, (13.0, look(busy(51.0)))], Moved),
        # A first look has nothing to compare with.
        ([(99.0, look(busy(50.0)))], None),
        # A change of any counter or gauge is life, but only tokens and an end prove a generation.
        ([*FROZEN, (13.0, look(PREFILL))], None),
        ([*FROZEN, (13.0, look(busy(50.0, 3.0)))], None),
        ([*FROZEN, (13.0, look(PREFILL)), (23.0, look(PREFILL))], None),
        ([*FROZEN, (13.0, look(PREFILL)), (23.1, look(PREFILL))], Hung),
        # Exactly the longest step is still legal.
        ([(0.0, look(busy(50.0))), (10.0, look(busy(50.0)))], None),
        ([(0.0, look(busy(50.0))), (10.1, look(busy(50.0)))], Hung),
        # Nobody waits for an idle engine, so its time begins when somebody does.
        ([(0.0, look(IDLE)), (90.0, look(IDLE)), (95.0, look(IDLE, awaited=True))], None),
        # One look without counters and with a green probe: the benefit of the doubt.
        ([(0.0, look(busy(50.0))), (9.0, look(None)), (18.0, look(busy(50.0)))], None),
        ([(0.0, look(busy(50.0))), (9.0, look(None, LATE)), (18.0, look(busy(50.0)))], Hung),
        # Its last byte counts as life, not the look before it.
        ([(0.0, look(None)), (12.0, look(None, LATE, awaited=True, heard_s=5.0))], None),
        ([(0.0, look(None)), (16.0, look(None, LATE, awaited=True, heard_s=5.0))], Hung),
        ([(0.0, look(None)), (12.0, BLIND)], Hung),
        # It ended its work.
        ([(0.0, look(busy(50.0))), (2.0, look(IDLE))], Moved),
    ],
)
def test_looks_over_time(looks: list[tuple[float, Look]], proof: type | None) -> None:
    progress, found = Progress(0.0), None
    for now, one in looks:
        progress, found = take(progress, one, LONGEST_S, now)
    assert (None if found is None else type(found)) is proof


def test_a_hang_is_told_with_its_figures() -> None:
    progress, found = Progress(0.0), None
    for now, one in FROZEN:
        progress, found = take(progress, one, LONGEST_S, now)
    assert isinstance(found, Hung)
    assert "2 running and 0 waiting" in found.detail
    assert "for 12 s (longest legal step 10 s)" in found.detail
    assert is_stale(progress, 12.0, 5.0)
    assert not is_stale(progress, 12.0, 15.0)


def test_a_hang_is_found_within_twice_the_longest_step() -> None:
    for interval_s in (0.5, 1.0, 3.0, 5.0):
        progress, now = Progress(0.0), 0.0
        found = None
        while not isinstance(found, Hung):
            now += interval_s
            progress, found = take(progress, look(busy(50.0)), LONGEST_S, now)
        assert now - interval_s <= 2 * LONGEST_S
