"""The health of one backend as a state machine: a pure step from state and evidence to state."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from gateway.fleet.health.evidence import (
    Evidence,
    ProbeFailed,
    ProbeOk,
    ProbeTrouble,
    RequestFailed,
    RequestSucceeded,
)

# A probe that only timed out may have met a busy engine, so it takes several in a row.
_SOFT_PROBE_FAILURES: Final = 3


class State(StrEnum):
    """What a backend is good for now."""

    UNKNOWN = "unknown"
    UP = "up"
    DEGRADED = "degraded"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Health:
    """A backend's state, since when (monotonic seconds), why, and the counts behind it."""

    state: State
    since_s: float
    reason: str
    probe_failures: int = 0
    request_failures: int = 0

    @property
    def is_well(self) -> bool:
        """Whether one more success would teach nothing."""
        return self.state is State.UP and not self.request_failures and not self.probe_failures

    @property
    def may_serve(self) -> bool:
        """Whether requests may be sent there: anything but down."""
        return self.state is not State.DOWN


def initial(now: float) -> Health:
    """Nothing is known yet: requests may try it, and the first evidence decides."""
    return Health(State.UNKNOWN, now, "not probed yet")


def step(health: Health, evidence: Evidence, now: float) -> Health:
    """The health after `evidence` came in at `now` (monotonic seconds)."""
    match evidence:
        case ProbeOk():
            counted = replace(health, probe_failures=0)
            if health.state is State.DEGRADED and health.request_failures > 0:
                return counted
            return _move(counted, State.UP, "answers its probes", now)
        case RequestSucceeded():
            if health.is_well:
                return health
            counted = replace(health, probe_failures=0, request_failures=0)
            return _move(counted, State.UP, "answers requests", now)
        case ProbeFailed():
            return _after_failed_probe(health, evidence, now)
        case RequestFailed():
            return _after_failed_request(health, evidence, now)


def _after_failed_probe(health: Health, evidence: ProbeFailed, now: float) -> Health:
    failures = health.probe_failures + 1
    counted = replace(health, probe_failures=failures)
    is_certain = evidence.trouble is ProbeTrouble.REFUSED
    if is_certain or health.state is State.UNKNOWN or failures >= _SOFT_PROBE_FAILURES:
        return _move(counted, State.DOWN, evidence.detail, now)
    return counted


def _after_failed_request(health: Health, evidence: RequestFailed, now: float) -> Health:
    counted = replace(health, request_failures=health.request_failures + 1)
    if evidence.is_unreachable:
        return _move(counted, State.DOWN, evidence.detail, now)
    if health.state is State.DOWN:
        return counted
    return _move(counted, State.DEGRADED, evidence.detail, now)


def _move(health: Health, state: State, reason: str, now: float) -> Health:
    if health.state is state:
        # A changed reason is worth showing; the moment of the transition stays.
        return health if health.reason == reason else replace(health, reason=reason)
    return replace(health, state=state, since_s=now, reason=reason)
