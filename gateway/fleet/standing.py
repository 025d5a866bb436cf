"""How good a backend is to be asked now, and for how much: from health and breaker, pure."""

from typing import Final

from gateway.fleet.health.breaker import Phase
from gateway.fleet.health.machine import Health, State
from gateway.fleet.view import Standing

# What a backend that has just come back gets at once; less would never test it.
_LEAST_SHARE: Final = 0.1


def standing(health: Health, breaker: Phase, in_flight: int) -> Standing:
    """Its standing. A breaker that is half open lets one request at a time try, unless a canary
    does that; a backend that was down waits for its canary."""
    if health.state is State.DRAINING:
        return Standing.OUT
    if health.judged is State.DOWN:
        return Standing.LAST_RESORT if health.is_soft else Standing.OUT
    if health.judged is State.STARTING and health.was_down:
        return Standing.LAST_RESORT
    if breaker is Phase.OPEN:
        return Standing.LAST_RESORT
    if breaker is Phase.HALF_OPEN:
        is_trial_free = in_flight == 0 and not health.has_canary
        return Standing.READY if is_trial_free else Standing.LAST_RESORT
    return Standing.READY if health.judged is State.UP else Standing.DOUBTFUL


def share_ratio(health: Health, ramp_s: float, now: float) -> float:
    """The part of its cap that it may get: it rises over `ramp_s` seconds after a recovery."""
    if health.came_back_s is None or ramp_s <= 0:
        return 1.0
    return min(1.0, _LEAST_SHARE + (1.0 - _LEAST_SHARE) * (now - health.came_back_s) / ramp_s)
