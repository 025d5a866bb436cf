"""Every transition of a backend's health as tables, and what holds after any evidence."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gateway.fleet.health.evidence import (
    CanaryFailed,
    CanaryOk,
    CanaryUnsure,
    DrainBegun,
    DrainEnded,
    Evidence,
    Hung,
    Moved,
    ProbeFailed,
    ProbeOk,
    ProbeTrouble,
    RequestFailed,
    RequestSucceeded,
    Severity,
)
from gateway.fleet.health.machine import Cause, Health, State, initial, step

OK = ProbeOk(None)
REFUSED = ProbeFailed(ProbeTrouble.REFUSED, "refused")
SLOW = ProbeFailed(ProbeTrouble.TIMEOUT, "slow")
LOST = ProbeFailed(ProbeTrouble.UNREACHABLE, "no route")
SICK = ProbeFailed(ProbeTrouble.STATUS, "503")
SERVED = RequestSucceeded()
BROKEN = RequestFailed("cut")
UNREACHED = RequestFailed("no connection", Severity.UNREACHABLE)
CRASH = RequestFailed("engine dead", Severity.CRASH)
GENERATES = CanaryOk()
FAILS = CanaryFailed("500")
UNSURE = CanaryUnsure()
MOVED = Moved()
HUNG = Hung("stands still")
DRAIN = DrainBegun("maintenance")
BACK = DrainEnded()
EVERYTHING: tuple[Evidence, ...] = (
    *(OK, REFUSED, SLOW, LOST, SICK, SERVED, BROKEN, UNREACHED, CRASH),
    *(GENERATES, FAILS, UNSURE, MOVED, HUNG, DRAIN, BACK),
)


def after(evidence: list[Evidence], *, canary: bool = False) -> Health:
    """The health after one piece of evidence a second, from second 1 on."""
    health = initial(0.0, has_canary=canary)
    for second, one in enumerate(evidence, start=1):
        health = step(health, one, float(second))
    return health


@pytest.mark.parametrize(
    ("evidence", "state"),
    [
        ([], State.UNKNOWN),
        ([OK], State.UP),
        ([SERVED], State.UP),
        ([BROKEN], State.DEGRADED),
        ([REFUSED], State.DOWN),
        ([SLOW], State.DOWN),  # nothing good was ever seen of it
        ([SICK], State.DOWN),
        ([OK, REFUSED], State.DOWN),
        ([OK, SLOW], State.UP),
        ([OK, SLOW, LOST], State.UP),
        ([OK, SLOW, LOST, SLOW], State.DOWN),
        ([OK, SLOW, SLOW, OK, SLOW, SLOW], State.UP),  # only failures in a row count
        ([OK, SLOW, SLOW, SERVED, SLOW], State.UP),
        ([OK, SICK], State.UP),  # one odd answer of /health is forgiven
        ([OK, SICK, SICK], State.DOWN),
        ([OK, SICK, OK, SICK], State.UP),
        ([OK, BROKEN, SICK], State.DOWN),  # but not where something is wrong already
        ([OK, BROKEN], State.DEGRADED),
        ([OK, BROKEN, SLOW, SLOW], State.DEGRADED),
        ([OK, BROKEN, OK], State.DEGRADED),  # a green probe does not undo a failed request
        ([OK, BROKEN, MOVED], State.DEGRADED),
        ([OK, BROKEN, SERVED], State.UP),
        ([OK, *[BROKEN] * 50], State.DEGRADED),  # a soft failure never makes it down
        ([OK, UNREACHED], State.DOWN),
        ([OK, CRASH], State.DOWN),
        ([OK, UNREACHED, OK], State.UP),
        ([OK, CRASH, OK], State.UP),  # nobody would ever prove more of it
        ([OK, REFUSED, BROKEN], State.DOWN),
        ([OK, REFUSED, MOVED], State.DOWN),
        ([OK, REFUSED, SERVED], State.UP),
        ([OK, REFUSED, OK], State.UP),
        ([OK, HUNG], State.DOWN),
        ([OK, HUNG, OK], State.DOWN),  # /health of a hung engine is 200 as well
        ([OK, HUNG, SLOW, SLOW, SLOW], State.DOWN),
        ([OK, HUNG, SERVED], State.UP),
        ([OK, HUNG, MOVED, MOVED], State.UP),
        ([UNSURE], State.UNKNOWN),
        ([OK, UNSURE], State.UP),
    ],
)
def test_without_a_canary(evidence: list[Evidence], state: State) -> None:
    assert after(evidence).state is state


@pytest.mark.parametrize(
    ("evidence", "state"),
    [
        ([OK], State.STARTING),
        ([OK, OK, OK], State.STARTING),
        ([OK, UNSURE], State.STARTING),
        ([OK, BROKEN], State.STARTING),
        ([OK, GENERATES], State.UP),
        ([OK, MOVED], State.UP),  # tokens for somebody else prove as much
        ([OK, SERVED], State.UP),
        ([OK, FAILS], State.DOWN),
        ([OK, SLOW], State.DOWN),
        ([OK, SICK], State.DOWN),
        ([OK, CRASH], State.DOWN),
        ([OK, GENERATES, OK, OK], State.UP),
        ([OK, GENERATES, BROKEN, OK], State.DEGRADED),
        ([OK, GENERATES, BROKEN, GENERATES], State.UP),
        ([OK, GENERATES, FAILS], State.DOWN),
        ([OK, GENERATES, FAILS, OK], State.STARTING),
        ([OK, GENERATES, FAILS, OK, GENERATES], State.UP),
        ([OK, GENERATES, REFUSED, OK], State.STARTING),
        ([OK, GENERATES, SLOW, SLOW, SLOW, OK], State.STARTING),
        ([OK, GENERATES, HUNG, *[OK] * 100], State.DOWN),
        ([OK, GENERATES, HUNG, UNSURE], State.DOWN),
        ([OK, GENERATES, HUNG, GENERATES], State.UP),
        ([OK, GENERATES, HUNG, MOVED], State.STARTING),
        ([OK, GENERATES, HUNG, MOVED, OK], State.STARTING),
        ([OK, GENERATES, HUNG, MOVED, MOVED], State.UP),
        ([OK, GENERATES, HUNG, REFUSED, OK], State.STARTING),  # it was started anew
        ([BROKEN, OK], State.DEGRADED),
    ],
)
def test_with_a_canary(evidence: list[Evidence], state: State) -> None:
    health = after(evidence, canary=True)
    assert health.state is state
    assert health.needs_canary == (state is State.STARTING)


@pytest.mark.parametrize(
    ("evidence", "cause", "is_soft"),
    [
        ([OK], Cause.NONE, False),
        ([SLOW], Cause.SILENT, True),
        ([OK, SLOW, SLOW, LOST], Cause.SILENT, True),
        ([OK, SLOW, SLOW, SLOW, SLOW], Cause.SILENT, True),
        ([OK, SLOW, SLOW, SLOW, REFUSED], Cause.GONE, False),
        ([REFUSED], Cause.GONE, False),
        ([REFUSED, SLOW, SLOW, SLOW], Cause.GONE, False),
        ([SICK], Cause.GONE, False),
        ([UNREACHED], Cause.GONE, False),
        ([CRASH], Cause.CRASHED, False),
        ([CRASH, REFUSED], Cause.CRASHED, False),
        ([FAILS], Cause.CRASHED, False),
        ([OK, HUNG], Cause.HUNG, False),
        ([OK, HUNG, OK], Cause.HUNG, False),
        ([OK, HUNG, REFUSED], Cause.GONE, False),
        ([OK, HUNG, CRASH], Cause.CRASHED, False),
        ([OK, HUNG, SERVED], Cause.NONE, False),
        ([CRASH, OK], Cause.NONE, False),
        ([OK, BROKEN], Cause.NONE, False),
    ],
)
def test_the_cause_of_being_down(evidence: list[Evidence], cause: Cause, is_soft: bool) -> None:
    health = after(evidence)
    assert (health.cause, health.is_soft) == (cause, is_soft)


@pytest.mark.parametrize(
    ("probed_s", "state"), [(2.1, State.DOWN), (31.9, State.DOWN), (32.0, State.UP)]
)
def test_a_hung_backend_without_a_canary_is_tried_again(probed_s: float, state: State) -> None:
    assert step(after([OK, HUNG]), OK, probed_s).state is state


@pytest.mark.parametrize(
    ("evidence", "came_back_s"),
    [
        ([OK], None),
        ([OK, SLOW, OK], None),
        ([OK, BROKEN, SERVED], None),  # it was never down
        ([OK, REFUSED], None),
        ([OK, REFUSED, OK], 3.0),
        ([OK, REFUSED, OK, OK, SERVED], 3.0),
        ([OK, REFUSED, OK, BROKEN, SERVED], 3.0),
        ([OK, REFUSED, OK, HUNG, SERVED], 5.0),
        ([REFUSED, OK], 2.0),
        ([OK, DRAIN, BACK], None),
    ],
)
def test_when_it_came_back(evidence: list[Evidence], came_back_s: float | None) -> None:
    assert after(evidence).came_back_s == came_back_s


def test_with_a_canary_it_is_back_when_it_generates() -> None:
    assert after([OK, GENERATES], canary=True).came_back_s is None
    assert after([OK, GENERATES, REFUSED, OK], canary=True).came_back_s is None
    assert after([OK, GENERATES, REFUSED, OK, GENERATES], canary=True).came_back_s == 5.0


@pytest.mark.parametrize(
    ("evidence", "since_s", "reason"),
    [
        ([], 0.0, "not probed yet"),
        ([OK], 1.0, "answers its probes"),
        ([OK, OK, SERVED], 1.0, "answers its probes"),
        ([OK, REFUSED, REFUSED], 2.0, "refused"),
        ([OK, REFUSED, SICK], 2.0, "503"),
        ([OK, REFUSED, OK], 3.0, "answers its probes"),
        ([OK, HUNG, HUNG], 2.0, "stands still"),
        ([OK, BROKEN, RequestFailed("500")], 2.0, "500"),
        ([OK, FAILS], 2.0, "its canary failed: 500"),
    ],
)
def test_since_when_and_why(evidence: list[Evidence], since_s: float, reason: str) -> None:
    health = after(evidence)
    assert (health.since_s, health.reason) == (since_s, reason)


@pytest.mark.parametrize(
    ("evidence", "state", "judged"),
    [
        ([DRAIN], State.DRAINING, State.UNKNOWN),
        ([OK, DRAIN], State.DRAINING, State.UP),
        ([OK, DRAIN, DRAIN], State.DRAINING, State.UP),
        ([OK, DRAIN, SERVED, BROKEN], State.DRAINING, State.DEGRADED),
        ([OK, DRAIN, CRASH], State.DRAINING, State.DOWN),
        ([OK, DRAIN, CRASH, BACK], State.DOWN, State.DOWN),
        ([OK, DRAIN, BACK], State.UP, State.UP),
        ([OK, BACK], State.UP, State.UP),
    ],
)
def test_a_drain_covers_what_was_judged(
    evidence: list[Evidence], state: State, judged: State
) -> None:
    health = after(evidence)
    assert (health.state, health.judged) == (state, judged)


@pytest.mark.parametrize(
    ("evidence", "is_well"),
    [([], False), ([OK], True), ([OK, SLOW], False), ([OK, BROKEN], False), ([OK, DRAIN], True)],
)
def test_where_one_more_success_teaches_nothing(evidence: list[Evidence], is_well: bool) -> None:
    health = after(evidence)
    assert health.is_well == is_well
    assert (step(health, SERVED, 9.0) is health) == is_well


SEQUENCES = st.lists(st.sampled_from(EVERYTHING), max_size=20)
HEALTHS = st.builds(
    Health,
    judged=st.sampled_from([state for state in State if state is not State.DRAINING]),
    since_s=st.just(0.0),
    reason=st.just("before"),
    cause=st.sampled_from(Cause),
    probe_failures=st.integers(0, 4),
    request_failures=st.integers(0, 4),
    has_canary=st.booleans(),
    was_down=st.booleans(),
    came_back_s=st.none() | st.just(0.0),
    drain_reason=st.none() | st.just("maintenance"),
)
PROOFS: tuple[Evidence, ...] = (GENERATES, SERVED, MOVED)
UNPROVEN = st.lists(st.sampled_from([e for e in EVERYTHING if e not in PROOFS]), max_size=20)


@settings(deadline=None)
@given(HEALTHS, SEQUENCES)
def test_what_holds_after_any_evidence(health: Health, sequence: list[Evidence]) -> None:
    for second, evidence in enumerate(sequence, start=1):
        before, health = health, step(health, evidence, float(second))
        assert health.state in State
        assert health.judged is not State.DRAINING
        assert (health.state is State.DRAINING) == (health.drain_reason is not None)
        assert health.since_s == (before.since_s if health.judged is before.judged else second)
        if evidence in (GENERATES, SERVED):
            assert health.judged is State.UP
        if evidence in (BROKEN, UNSURE) and before.judged is not State.DOWN:
            assert health.judged is not State.DOWN
        if evidence not in (DRAIN, BACK):
            assert health.drain_reason == before.drain_reason


@settings(deadline=None)
@given(HEALTHS, UNPROVEN)
def test_a_crash_is_only_undone_by_tokens(health: Health, sequence: list[Evidence]) -> None:
    assume(health.has_canary)
    health = step(health, CRASH, 1.0)
    for second, evidence in enumerate(sequence, start=2):
        health = step(health, evidence, float(second))
        assert health.judged in (State.DOWN, State.STARTING)
