"""Waiting until nothing runs any more at a backend that was taken out."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.cli.stop import Stop

AWAY_S: Final = 30.0
"""Seconds without an answer after which a gateway is not waited for any more; a restart is less."""


class Ending(StrEnum):
    """How a wait ended."""

    EMPTY = "empty"
    """Nothing runs there."""
    GONE = "gone"
    """The backend is no part of the fleet any more."""
    UNDRAINED = "undrained"
    """Somebody has put it back in."""
    LATE = "late"
    """The time ran out."""


@dataclass(frozen=True, slots=True)
class State:
    """A backend at one look."""

    in_flight: int
    waiting: int
    is_draining: bool


@dataclass(frozen=True, slots=True)
class Waited:
    """How a wait ended, after how many seconds, and with how many requests at the backend."""

    ending: Ending
    took_s: float
    in_flight: int


def wait_until_empty(
    look: Callable[[], State | None],
    tell: Callable[[State], None],
    *,
    timeout_s: float,
    interval_s: float,
    now: Callable[[], float],
    sleep: Callable[[float], None],
) -> Waited:
    """Looks every `interval_s` until nothing runs there, `timeout_s` at most; tells each change.

    `look` gives None when there is no such backend, and raises `Stop` when the gateway does not
    answer, which is passed over for 30 s.
    """
    began_s = answered_s = now()
    told: State | None = None
    while True:
        in_flight = 0 if told is None else told.in_flight
        try:
            state = look()
        except Stop:
            if now() - answered_s >= AWAY_S:
                raise
        else:
            answered_s = now()
            if state is None:
                return Waited(Ending.GONE, answered_s - began_s, 0)
            in_flight = state.in_flight
            if not state.is_draining:
                return Waited(Ending.UNDRAINED, answered_s - began_s, in_flight)
            if not in_flight:
                return Waited(Ending.EMPTY, answered_s - began_s, 0)
            if state != told:
                told = state
                tell(state)
        left_s = began_s + timeout_s - now()
        if left_s <= 0:
            return Waited(Ending.LATE, now() - began_s, in_flight)
        sleep(min(interval_s, left_s))
