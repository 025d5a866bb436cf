"""How many attempts beyond the first a model's requests may cost: a bucket that requests fill."""

from dataclasses import dataclass, replace
from typing import Final

# So that a quiet model can retry at all, and a storm ends by itself.
_FLOOR_PER_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Budget:
    """Retries that may be made now; filled by requests and, slowly, by time (monotonic seconds)."""

    ratio: float
    burst: float
    left: float
    at_s: float


def full(ratio: float, burst: float, now: float) -> Budget:
    """A budget that nothing was taken from."""
    return Budget(ratio, burst, burst, now)


def earn(budget: Budget, now: float) -> Budget:
    """A request came in."""
    gained = budget.ratio + (now - budget.at_s) * _FLOOR_PER_S
    return replace(budget, left=min(budget.burst, budget.left + gained), at_s=now)


def spend(budget: Budget) -> Budget | None:
    """One retry, or None if there is none left."""
    return replace(budget, left=budget.left - 1.0) if budget.left >= 1.0 else None
