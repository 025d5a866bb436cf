"""Every transition of a backend's health, as a table."""

import pytest

from gateway.fleet.health.evidence import (
    Evidence,
    ProbeFailed,
    ProbeOk,
    ProbeTrouble,
    RequestFailed,
    RequestSucceeded,
)
from gateway.fleet.health.machine import Health, State, initial, step

OK = ProbeOk(None)
REFUSED = ProbeFailed(ProbeTrouble.REFUSED, "refused")
SLOW = ProbeFailed(ProbeTrouble.TIMEOUT, "slow")
SERVED = RequestSucceeded()
BROKEN = RequestFailed("cut")
UNREACHED = RequestFailed("no connection", is_unreachable=True)


@pytest.mark.parametrize(
    ("evidence", "state"),
    [
        ([], State.UNKNOWN),
        ([OK], State.UP),
        ([SERVED], State.UP),
        ([REFUSED], State.DOWN),
        ([SLOW], State.DOWN),  # nothing good was ever seen of it
        ([OK, REFUSED], State.DOWN),
        ([OK, SLOW], State.UP),
        ([OK, SLOW, SLOW], State.UP),
        ([OK, SLOW, SLOW, SLOW], State.DOWN),
        ([OK, SLOW, SLOW, OK, SLOW, SLOW], State.UP),  # only failures in a row count
        ([OK, SLOW, SLOW, SERVED, SLOW], State.UP),
        ([OK, BROKEN], State.DEGRADED),
        ([OK, BROKEN, OK], State.DEGRADED),  # a green probe does not undo a failed request
        ([OK, BROKEN, SERVED], State.UP),
        ([OK, UNREACHED], State.DOWN),
        ([OK, UNREACHED, OK], State.UP),
        ([OK, REFUSED, BROKEN], State.DOWN),
        ([OK, REFUSED, OK], State.UP),
    ],
)
def test_the_state_after_evidence(evidence: list[Evidence], state: State) -> None:
    assert after(evidence).state is state


def test_the_moment_and_reason_of_a_transition_are_kept() -> None:
    health = after([OK, REFUSED, REFUSED, REFUSED])
    assert (health.since_s, health.reason) == (2.0, "refused")
    assert step(health, ProbeFailed(ProbeTrouble.STATUS, "503"), 9.0).since_s == 2.0
    assert step(health, ProbeFailed(ProbeTrouble.STATUS, "503"), 9.0).reason == "503"
    assert step(health, OK, 9.0).since_s == 9.0


def test_only_a_backend_that_is_down_may_not_serve() -> None:
    states = {state: Health(state, 0.0, "").may_serve for state in State}
    assert states == {
        State.UNKNOWN: True,
        State.UP: True,
        State.DEGRADED: True,
        State.DOWN: False,
    }


def after(evidence: list[Evidence]) -> Health:
    health = initial(0.0)
    for second, one in enumerate(evidence, start=1):
        health = step(health, one, float(second))
    return health
