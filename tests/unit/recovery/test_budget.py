"""The retry budget over time."""

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
