"""The circuit breaker as a table of outcomes over time, and what holds after any of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.fleet.health.breaker import (
    CLOSED,
    LONGEST_OPEN_S,
    Breaker,
    Phase,
    Rules,
    after_failure,
    after_success,
)

RULES = Rules(failures=3, open_s=5.0)


def after(outcomes: str, every_s: float = 0.1) -> tuple[Breaker, float]:
    """The breaker after a string of outcomes: F a failure, S a success, - nothing."""
    breaker, now = CLOSED, 0.0
    for outcome in outcomes:
        now += every_s
        if outcome == "F":
            breaker = after_failure(breaker, RULES, now)
        elif outcome == "S":
            breaker = after_success(breaker)
    return breaker, now


@pytest.mark.parametrize(
    ("outcomes", "phase"),
    [
        ("", Phase.CLOSED),
        ("FF", Phase.CLOSED),
        ("FFF", Phase.OPEN),
        ("FFSF", Phase.CLOSED),  # only failures in a row count
        ("FFFFFF", Phase.OPEN),
        ("FFFS", Phase.CLOSED),
        ("FFFSFF", Phase.CLOSED),
        ("FFFSFFF", Phase.OPEN),
        ("FFF" + "-" * 49, Phase.OPEN),
        ("FFF" + "-" * 51, Phase.HALF_OPEN),
        ("FFF" + "-" * 51 + "S", Phase.CLOSED),
        ("FFF" + "-" * 51 + "F", Phase.OPEN),
        ("FFF" + "-" * 51 + "F" + "-" * 51, Phase.OPEN),  # twice as long as before
        ("FFF" + "-" * 51 + "F" + "-" * 101, Phase.HALF_OPEN),
    ],
)
def test_in_a_row(outcomes: str, phase: Phase) -> None:
    breaker, now = after(outcomes)
    assert breaker.phase(now) is phase


def test_it_opens_for_twice_as_long_each_time() -> None:
    breaker, now = after("FFF")
    longest: list[float] = []
    for _ in range(6):
        longest.append(round(breaker.until_s - now, 6))
        assert breaker.phase(breaker.until_s - 0.001) is Phase.OPEN
        now = breaker.until_s
        assert breaker.phase(now) is Phase.HALF_OPEN
        breaker = after_failure(breaker, RULES, now)
    assert longest == [5.0, 10.0, 20.0, 40.0, LONGEST_OPEN_S, LONGEST_OPEN_S]


def test_what_was_sent_before_it_opened_does_not_prolong_it() -> None:
    breaker, now = after("FFF")
    assert after_failure(breaker, RULES, now + 1.0) is breaker


def test_one_success_forgets_everything() -> None:
    breaker, _ = after("FFF")
    assert after_success(breaker) is CLOSED
    assert after_success(CLOSED) is CLOSED


@pytest.mark.parametrize(
    ("rules", "failures", "open_s"),
    [
        (Rules(1, 5.0), 1, 5.0),
        (Rules(2, 0.5), 2, 0.5),
        (Rules(1, 60.0), 1, LONGEST_OPEN_S),
        (Rules(1, 600.0), 1, LONGEST_OPEN_S),
    ],
)
def test_the_rules_of_the_file(rules: Rules, failures: int, open_s: float) -> None:
    breaker = CLOSED
    for _ in range(failures):
        assert breaker.phase(100.0) is Phase.CLOSED
        breaker = after_failure(breaker, rules, 100.0)
    assert (breaker.openings, breaker.until_s) == (1, 100.0 + open_s)


STEPS = st.tuples(st.floats(0.0, 100.0), st.booleans())


@settings(deadline=None)
@given(st.integers(1, 5), st.floats(0.1, 100.0), st.lists(STEPS, max_size=60))
def test_what_holds_after_any_outcomes(
    failures: int, open_s: float, steps: list[tuple[float, bool]]
) -> None:
    rules, breaker, now, in_a_row = Rules(failures, open_s), CLOSED, 0.0, 0
    for waited_s, is_success in steps:
        now += waited_s
        before = breaker.phase(now)
        breaker = after_success(breaker) if is_success else after_failure(breaker, rules, now)
        in_a_row = 0 if is_success else in_a_row + 1
        assert (breaker.phase(now) is Phase.CLOSED) == (in_a_row < failures)
        assert breaker.until_s - now <= LONGEST_OPEN_S + 1e-6
        if before is Phase.HALF_OPEN:
            assert breaker.phase(now) is (Phase.CLOSED if is_success else Phase.OPEN)


def test_a_backend_that_fails_for_days_is_no_overflow() -> None:
    breaker = Breaker(3, 5000, 0.0)
    assert after_failure(breaker, RULES, 1.0).until_s == 1.0 + LONGEST_OPEN_S
