"""How many attempts beyond the first a model's requests may cost: a bucket that requests fill."""

from typing import Final, NamedTuple

# So that a quiet model can retry at all, and a storm ends by itself.
_FLOOR_PER_S: Final = 1.0


class Budget(NamedTuple):
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
    left = min(budget.burst, budget.left + gained)
    return Budget(budget.ratio, budget.burst, left, now)


def spend(budget: Budget) -> Budget | None:
    """One retry, or None if there is none left."""
    return budget._replace(left=budget.left - 1.0) if budget.left >= 1.0 else None
