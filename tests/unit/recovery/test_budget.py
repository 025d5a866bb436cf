"""The retry budget over time."""

import pytest

from gateway.recovery.budget import Budget, earn, full, spend


def spent(budget: Budget, times: int) -> int:
    """How many of so many retries it allows."""
    allowed, left = 0, budget
    for _ in range(times):
        after = spend(left)
        if after is not None:
            allowed, left = allowed + 1, after
    return allowed


def test_a_burst_is_bounded() -> None:
    assert spent(full(0.2, 10.0, 0.0), 100) == 10


def test_requests_earn_a_share() -> None:
    budget = Budget(0.25, 100.0, 0.0, 0.0)
    for _ in range(40):
        budget = earn(budget, 0.0)
    assert spent(budget, 100) == 10


def test_time_earns_a_little_so_that_a_quiet_model_can_retry() -> None:
    assert spent(earn(Budget(0.0, 100.0, 0.0, 0.0), 3.0), 100) == 3


def test_it_never_exceeds_the_burst() -> None:
    budget = earn(full(0.5, 5.0, 0.0), 1000.0)
    assert budget.left == 5.0


@pytest.mark.parametrize(
    ("left", "after"), [(0.0, None), (0.999, None), (1.0, 0.0), (1.5, 0.5), (10.0, 9.0)]
)
def test_a_retry_costs_one(left: float, after: float | None) -> None:
    spent_once = spend(Budget(0.2, 10.0, left, 0.0))
    assert (None if spent_once is None else spent_once.left) == after


@pytest.mark.parametrize(
    ("ratio", "at_s", "left"),
    [
        (0.2, [1.0], 1.2),  # the time since the last request counts, and once
        (0.2, [1.0, 1.0, 1.0], 1.6),
        (0.2, [1.0, 2.0, 3.0], 3.6),
        (1.0, [0.0, 0.0, 0.0], 3.0),
        (0.0, [0.0, 0.0, 0.0], 0.0),  # a ratio of nothing leaves the slow trickle
        (0.0, [0.5, 2.5], 2.5),
        (0.0, [100.0], 10.0),
    ],
)
def test_what_requests_over_time_earn(ratio: float, at_s: list[float], left: float) -> None:
    budget = Budget(ratio, 10.0, 0.0, 0.0)
    for now in at_s:
        budget = earn(budget, now)
    assert budget.left == pytest.approx(left)


def test_a_storm_is_bounded_by_requests_and_time() -> None:
    budget, retries = full(0.2, 20.0, 0.0), 0
    for number in range(1000):
        budget = earn(budget, number / 100)
        for _ in range(3):
            after = spend(budget)
            if after is not None:
                budget, retries = after, retries + 1
    assert 220 <= retries <= 231
