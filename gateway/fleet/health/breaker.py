"""The circuit breaker of one backend: failures in a row open it, one success closes it."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

LONGEST_OPEN_S: Final = 60.0


class Phase(StrEnum):
    """What the breaker lets through."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"
    """One request at a time may try."""


@dataclass(frozen=True, slots=True)
class Rules:
    """After how many failures in a row it opens, and for how many seconds at first."""

    failures: int
    open_s: float


@dataclass(frozen=True, slots=True)
class Breaker:
    """Failures in a row, how often it opened since the last success, and until when it is open.

    `until_s` is in monotonic seconds and has a meaning only while `openings` is above zero.
    """

    failures: int = 0
    openings: int = 0
    until_s: float = 0.0

    def phase(self, now: float) -> Phase:
        """What it lets through at `now`."""
        if self.openings == 0:
            return Phase.CLOSED
        return Phase.OPEN if now < self.until_s else Phase.HALF_OPEN


CLOSED: Final = Breaker()


def after_success(breaker: Breaker) -> Breaker:
    """A request ended well, which is known at its end and not at its head."""
    return breaker if breaker is CLOSED else CLOSED


def after_failure(breaker: Breaker, rules: Rules, now: float) -> Breaker:
    """A request failed by the backend's fault. Failures while it is open were sent before."""
    match breaker.phase(now):
        case Phase.OPEN:
            return breaker
        case Phase.HALF_OPEN:
            return _open(breaker, rules, now)
        case Phase.CLOSED:
            counted = replace(breaker, failures=breaker.failures + 1)
            return _open(counted, rules, now) if counted.failures >= rules.failures else counted


def _open(breaker: Breaker, rules: Rules, now: float) -> Breaker:
    # Beyond so many doublings it is the longest anyway, and a float has an end.
    open_s = min(LONGEST_OPEN_S, rules.open_s * 2.0 ** min(breaker.openings, 20))
    return Breaker(breaker.failures, breaker.openings + 1, now + open_s)
