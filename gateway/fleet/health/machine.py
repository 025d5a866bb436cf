"""The health of one backend as a state machine: a pure step from state and evidence to state."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

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

# A probe that only timed out may have met a busy engine, so it takes several in a row.
_SOFT_PROBE_FAILURES: Final = 3
_HUNG_WITHOUT_CANARY_S: Final = 30.0
_FORGET_FAILURES_S: Final = 30.0


class State(StrEnum):
    """What a backend is good for now."""

    UNKNOWN = "unknown"
    """Nothing is known yet."""
    STARTING = "starting"
    """It answers its probes; whether it can generate is still to be seen."""
    UP = "up"
    DEGRADED = "degraded"
    """It serves, but something is wrong with it."""
    DOWN = "down"
    DRAINING = "draining"
    """An operator takes it out: nothing new is sent there."""


class Cause(StrEnum):
    """Why a backend is down, as far as its way back depends on it."""

    NONE = "none"
    SILENT = "silent"
    """Its probes fail, which a busy engine may do as well: soft."""
    GONE = "gone"
    """Nothing listens, or it says itself that it is not well."""
    CRASHED = "crashed"
    """A generation killed it, so only a generation proves it well again."""
    HUNG = "hung"
    """It has work and stands still, whatever its /health says."""


@dataclass(frozen=True, slots=True)
class Health:
    """A backend's state, since when (monotonic seconds), why, and the counts behind it.

    `came_back_s` is when it last came up after it had been down, None if it never was down.
    `has_canary` tells whether a generation of our own is asked for before it counts as up.
    """

    judged: State
    since_s: float
    reason: str
    cause: Cause = Cause.NONE
    probe_failures: int = 0
    request_failures: int = 0
    has_canary: bool = False
    was_down: bool = False
    came_back_s: float | None = None
    drain_reason: str | None = None

    @property
    def state(self) -> State:
        """The state to act on: an operator's drain covers what was judged."""
        return self.judged if self.drain_reason is None else State.DRAINING

    @property
    def is_well(self) -> bool:
        """Whether one more success would teach nothing."""
        return self.judged is State.UP and not self.request_failures and not self.probe_failures

    @property
    def is_soft(self) -> bool:
        """Whether it is down for a reason that does not forbid to ask it as a last resort."""
        return self.judged is State.DOWN and self.cause is Cause.SILENT

    @property
    def needs_canary(self) -> bool:
        """Whether only a generation can tell more."""
        return self.has_canary and self.judged is State.STARTING


def initial(now: float, *, has_canary: bool = False) -> Health:
    """Nothing is known yet: requests may try it, and the first evidence decides."""
    return Health(State.UNKNOWN, now, "not probed yet", has_canary=has_canary)


def step(health: Health, evidence: Evidence, now: float) -> Health:
    """The health after `evidence` came in at `now` (monotonic seconds)."""
    match evidence:
        case ProbeOk():
            return _after_good_probe(health, now)
        case ProbeFailed():
            return _after_failed_probe(health, evidence, now)
        case CanaryOk():
            return _up(health, "generates", now)
        case RequestSucceeded():
            return health if health.is_well else _up(health, "answers requests", now)
        case CanaryFailed():
            return _down(health, Cause.CRASHED, f"its canary failed: {evidence.detail}", now)
        case RequestFailed():
            return _after_failed_request(health, evidence, now)
        case Hung():
            return _down(health, Cause.HUNG, evidence.detail, now)
        case Moved():
            return _after_movement(health, now)
        case DrainBegun():
            return replace(health, drain_reason=evidence.reason)
        case DrainEnded():
            return replace(health, drain_reason=None)
        case CanaryUnsure():
            return health


def _after_good_probe(health: Health, now: float) -> Health:
    counted = replace(health, probe_failures=0)
    if health.cause is Cause.HUNG and not health.has_canary:
        # Nobody asks it for tokens, so only a real request can prove more.
        if now - health.since_s < _HUNG_WITHOUT_CANARY_S:
            return counted
        return _up(counted, "may move again", now)
    if health.judged is State.STARTING or health.cause is Cause.HUNG:
        # /health of a hung engine is 200 as well: only tokens prove more.
        return counted
    # Whether it is well again is for a generation to say, unless nobody will ask for one.
    is_forgotten = not health.has_canary and now - health.since_s >= _FORGET_FAILURES_S
    if health.judged is State.DEGRADED and health.request_failures > 0 and not is_forgotten:
        return counted
    if health.judged in (State.UNKNOWN, State.DOWN) and health.has_canary:
        return _move(counted, State.STARTING, "answers its probes, has not generated yet", now)
    if health.judged is State.UP:
        return counted
    return _up(counted, "answers its probes", now)


def _after_failed_probe(health: Health, evidence: ProbeFailed, now: float) -> Health:
    failures = health.probe_failures + 1
    counted = replace(health, probe_failures=failures)
    if evidence.trouble in (ProbeTrouble.REFUSED, ProbeTrouble.STATUS):
        if evidence.trouble is ProbeTrouble.STATUS and failures < 2 and health.judged is State.UP:
            return counted
        # What killed it is remembered until a generation proves the opposite.
        cause = Cause.CRASHED if health.cause is Cause.CRASHED else Cause.GONE
        return _down(counted, cause, evidence.detail, now)
    if health.judged in (State.UNKNOWN, State.STARTING) or failures >= _SOFT_PROBE_FAILURES:
        if health.judged is State.DOWN:
            return counted
        return _down(counted, Cause.SILENT, evidence.detail, now)
    return counted


def _after_failed_request(health: Health, evidence: RequestFailed, now: float) -> Health:
    counted = replace(health, request_failures=health.request_failures + 1)
    if evidence.severity is Severity.UNREACHABLE:
        return _down(counted, Cause.GONE, evidence.detail, now)
    if evidence.severity is Severity.CRASH:
        return _down(counted, Cause.CRASHED, evidence.detail, now)
    if health.judged in (State.DOWN, State.STARTING):
        return counted
    return _move(counted, State.DEGRADED, evidence.detail, now)


def _after_movement(health: Health, now: float) -> Health:
    is_old = now - health.since_s >= _FORGET_FAILURES_S
    if health.judged is State.STARTING or (health.judged is State.DEGRADED and is_old):
        return _up(health, "generates", now)
    if health.judged is State.DOWN and health.cause is Cause.HUNG:
        if not health.has_canary:
            return _up(health, "moves again", now)
        return _move(health, State.STARTING, "moves again", now)
    return health


def _up(health: Health, reason: str, now: float) -> Health:
    well = replace(health, probe_failures=0, request_failures=0, cause=Cause.NONE)
    if health.judged is State.UP:
        return well
    if health.was_down:
        well = replace(well, was_down=False, came_back_s=now)
    return _move(well, State.UP, reason, now)


def _down(health: Health, cause: Cause, reason: str, now: float) -> Health:
    return _move(replace(health, cause=cause, was_down=True), State.DOWN, reason, now)


def _move(health: Health, state: State, reason: str, now: float) -> Health:
    if health.judged is state:
        # A changed reason is worth showing; the moment of the transition stays.
        return health if health.reason == reason else replace(health, reason=reason)
    cause = health.cause if state is State.DOWN else Cause.NONE
    return replace(health, judged=state, since_s=now, reason=reason, cause=cause)
