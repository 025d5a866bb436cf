"""After a failure: the next move, and what the client is told when there is none."""

from typing import Any

import pytest
from hypothesis import given as over
from hypothesis import settings
from hypothesis import strategies as st

from gateway.errors import Outcome, Phase
from gateway.recovery.classify import Failure, Kind
from gateway.recovery.plan import Move, Situation, of_failure, plan, surrender

USUAL: dict[str, Any] = {
    "attempts": 1,
    "again": 0,
    "has_other": True,
    "has_fallback": True,
    "has_longer": False,
    "left_s": 100.0,
    "max_attempts": 5,
    "max_wait_s": 15.0,
    "may_move_on_limit": False,
    "has_budget": True,
    "draw": 0.5,
}
ALONE = {"has_other": False, "has_fallback": False}
ONLY_FALLBACK = {"has_other": False}
LOST = [
    Kind.UNREACHABLE,
    Kind.POOL_EXHAUSTED,
    Kind.LOST_BEFORE_HEAD,
    Kind.JUDGED_DOWN,
    Kind.CUT,
    Kind.MALFORMED,
    Kind.EMPTY,
    Kind.ABORTED,
    Kind.ENGINE_ERROR,
    Kind.ENGINE_DEAD,
    Kind.NAME_DRIFT,
    Kind.KEY_REFUSED,
]
FIRST, BETWEEN = Phase.FIRST_BYTE, Phase.BETWEEN


@pytest.mark.parametrize(
    ("given", "at", "move"),
    [
        *[((k, {}), {}, Move.ELSEWHERE) for k in LOST],
        *[((k, {}), ONLY_FALLBACK, Move.ELSEWHERE) for k in LOST],
        *[((k, {}), ALONE, Move.GIVE_UP) for k in LOST],
        *[((k, {}), {"attempts": 5}, Move.GIVE_UP) for k in LOST],
        *[((k, {}), {"left_s": 0.0}, Move.GIVE_UP) for k in LOST],
        ((Kind.CLIENT_ERROR, {}), {}, Move.PASS_ON),
        ((Kind.CONTEXT_TOO_LONG, {}), {}, Move.PASS_ON),
        ((Kind.CONTEXT_TOO_LONG, {}), {"has_longer": True}, Move.LONGER),
        ((Kind.CONTEXT_TOO_LONG, {}), {"has_longer": True, "attempts": 5}, Move.PASS_ON),
        ((Kind.CONTEXT_TOO_LONG, {}), {"has_longer": True, "has_budget": False}, Move.LONGER),
        ((Kind.MISMATCH, {}), {}, Move.ELSEWHERE),
        # Slow is not dead.
        ((Kind.LIMIT, {"phase": FIRST}), {}, Move.GIVE_UP),
        ((Kind.LIMIT, {"phase": FIRST}), {"may_move_on_limit": True}, Move.ELSEWHERE),
        ((Kind.LIMIT, {"phase": FIRST}), {"may_move_on_limit": True, **ALONE}, Move.GIVE_UP),
        (
            (Kind.LIMIT, {"phase": FIRST}),
            {"may_move_on_limit": True, "left_s": 0.0},
            Move.GIVE_UP,
        ),
        (
            (Kind.LIMIT, {"phase": FIRST}),
            {"may_move_on_limit": True, **ONLY_FALLBACK},
            Move.ELSEWHERE,
        ),
        ((Kind.LIMIT, {"phase": Phase.TOTAL}), {"may_move_on_limit": True}, Move.GIVE_UP),
        ((Kind.LIMIT, {"phase": Phase.SEND}), {"may_move_on_limit": True}, Move.GIVE_UP),
        # A body that stops in its middle is broken.
        ((Kind.LIMIT, {"phase": BETWEEN}), {}, Move.ELSEWHERE),
        ((Kind.LIMIT, {"phase": BETWEEN}), ALONE, Move.GIVE_UP),
        ((Kind.LIMIT, {"phase": BETWEEN}), {"attempts": 5}, Move.GIVE_UP),
        ((Kind.LIMIT, {"phase": BETWEEN}), {"left_s": 0.0}, Move.GIVE_UP),
        ((Kind.SERVER_ERROR, {}), {}, Move.ELSEWHERE),
        ((Kind.SERVER_ERROR, {}), ONLY_FALLBACK, Move.AGAIN),
        ((Kind.SERVER_ERROR, {}), ALONE, Move.AGAIN),
        ((Kind.SERVER_ERROR, {}), {**ONLY_FALLBACK, "again": 1}, Move.ELSEWHERE),
        ((Kind.SERVER_ERROR, {}), {**ALONE, "again": 1}, Move.GIVE_UP),
        ((Kind.SERVER_ERROR, {}), {**ALONE, "attempts": 5}, Move.GIVE_UP),
        ((Kind.SERVER_ERROR, {"may_have_run": True}), {"has_budget": False}, Move.GIVE_UP),
        ((Kind.UNAVAILABLE, {}), {"attempts": 5}, Move.GIVE_UP),
        ((Kind.UNAVAILABLE, {"retry_after_s": 9.0}), {}, Move.ELSEWHERE),
        ((Kind.UNAVAILABLE, {"retry_after_s": 0.0}), ALONE, Move.AGAIN),
        ((Kind.UNAVAILABLE, {"retry_after_s": 14.0}), {**ALONE, "max_wait_s": 9.0}, Move.GIVE_UP),
        *[((k, {}), {}, Move.ELSEWHERE) for k in (Kind.RATE_LIMITED, Kind.UNAVAILABLE)],
        *[((k, {}), ALONE, Move.AGAIN) for k in (Kind.RATE_LIMITED, Kind.UNAVAILABLE)],
        ((Kind.RATE_LIMITED, {}), {**ALONE, "again": 1}, Move.GIVE_UP),
        ((Kind.RATE_LIMITED, {}), {**ONLY_FALLBACK, "again": 1}, Move.ELSEWHERE),
        ((Kind.RATE_LIMITED, {"retry_after_s": 60.0}), ALONE, Move.GIVE_UP),
        ((Kind.RATE_LIMITED, {"retry_after_s": 60.0}), ONLY_FALLBACK, Move.ELSEWHERE),
        ((Kind.RATE_LIMITED, {"retry_after_s": 9.0}), {**ALONE, "left_s": 5.0}, Move.GIVE_UP),
        ((Kind.RATE_LIMITED, {"retry_after_s": 9.0}), ALONE, Move.AGAIN),
        # The budget is for work that is done twice.
        ((Kind.CUT, {"may_have_run": True}), {"has_budget": False}, Move.GIVE_UP),
        *[((k, {}), {"has_budget": False}, Move.ELSEWHERE) for k in LOST],
        ((Kind.RATE_LIMITED, {}), {**ALONE, "has_budget": False}, Move.AGAIN),
    ],
)
def test_the_plan(given: tuple[Kind, dict[str, Any]], at: dict[str, Any], move: Move) -> None:
    kind, fields = given
    failed = Failure(kind, "it failed", **{"may_have_run": False, **fields})
    step = plan(failed, Situation(**{**USUAL, **at}))
    assert step.move is move
    assert step.reason
    assert 0.0 <= step.wait_s <= 16.5


def test_waits_grow_are_spread_and_begin_with_none() -> None:
    failed = failure(Kind.CUT)

    def wait(attempts: int, draw: float) -> float:
        situation = {**USUAL, "attempts": attempts, "max_attempts": 99, "draw": draw}
        return plan(failed, Situation(**situation)).wait_s

    assert wait(1, 0.9) == 0.0
    assert wait(2, 0.0) == 0.0
    assert wait(2, 1.0) < wait(3, 1.0) < wait(4, 1.0)
    assert wait(50, 1.0) <= 2.0


def test_retry_after_is_waited_for_and_a_little_more() -> None:
    failed = Failure(Kind.RATE_LIMITED, "busy", False, retry_after_s=4.0)
    assert plan(failed, Situation(**{**USUAL, **ALONE})).wait_s == pytest.approx(4.2)


@pytest.mark.parametrize(
    ("retry_after_s", "draw", "wait_s"),
    [(None, 0.5, 0.1), (0.0, 0.5, 0.1), (1.0, 0.0, 1.0), (4.0, 1.0, 4.4), (15.0, 0.0, 15.0)],
)
def test_waits_after_a_refusal(retry_after_s: float | None, draw: float, wait_s: float) -> None:
    failed = Failure(Kind.UNAVAILABLE, "not ready", False, retry_after_s=retry_after_s)
    step = plan(failed, Situation(**{**USUAL, **ALONE, "draw": draw}))
    assert step.move is Move.AGAIN
    assert step.wait_s == pytest.approx(wait_s)


FAILURES = st.builds(
    Failure,
    kind=st.sampled_from(Kind),
    message=st.just("it broke"),
    may_have_run=st.booleans(),
    phase=st.none() | st.sampled_from(Phase),
    retry_after_s=st.none() | st.floats(0.0, 1e6),
)
SITUATIONS = st.builds(
    Situation,
    attempts=st.integers(1, 9),
    again=st.integers(0, 2),
    has_other=st.booleans(),
    has_fallback=st.booleans(),
    has_longer=st.booleans(),
    left_s=st.sampled_from([0.0, 3.0, 100.0]),
    max_attempts=st.integers(1, 9),
    max_wait_s=st.sampled_from([0.5, 15.0]),
    may_move_on_limit=st.booleans(),
    has_budget=st.booleans(),
    draw=st.floats(0.0, 1.0, exclude_max=True),
)


@settings(deadline=None)
@over(FAILURES, SITUATIONS)
def test_what_holds_for_every_plan(failed: Failure, at: Situation) -> None:
    move, wait_s, reason = plan(failed, at)
    assert reason
    assert 0.0 <= wait_s <= max(2.0, at.max_wait_s)
    if move in (Move.PASS_ON, Move.GIVE_UP):
        assert wait_s == 0.0
    if move is Move.ELSEWHERE:
        assert at.has_any
    if move is Move.AGAIN:
        assert at.again == 0
        assert not at.has_other
    assert (move in (Move.PASS_ON, Move.LONGER)) == failed.is_clients_fault
    if failed.kind is Kind.LIMIT:
        assert move in (Move.ELSEWHERE, Move.GIVE_UP)
        if failed.phase is not Phase.BETWEEN and not at.may_move_on_limit:
            assert move is Move.GIVE_UP
    elif move in (Move.AGAIN, Move.ELSEWHERE):
        assert at.attempts < at.max_attempts
        assert at.left_s > 0
        assert at.has_budget or not failed.may_have_run


@pytest.mark.parametrize(
    ("kinds", "outcome", "has_retry_after"),
    [
        ([], Outcome.MODEL_UNAVAILABLE, True),
        ([Kind.UNREACHABLE], Outcome.MODEL_UNAVAILABLE, True),
        ([Kind.UNAVAILABLE], Outcome.MODEL_UNAVAILABLE, True),
        ([Kind.NAME_DRIFT], Outcome.MODEL_UNAVAILABLE, True),
        ([Kind.KEY_REFUSED], Outcome.MODEL_UNAVAILABLE, True),
        ([Kind.POOL_EXHAUSTED], Outcome.OVERLOADED, True),
        ([Kind.POOL_EXHAUSTED, Kind.UNREACHABLE], Outcome.MODEL_UNAVAILABLE, True),
        ([Kind.SERVER_ERROR], Outcome.UPSTREAM_ERROR, False),
        ([Kind.UNREACHABLE, Kind.ENGINE_ERROR], Outcome.UPSTREAM_ERROR, False),
        ([Kind.ENGINE_DEAD], Outcome.UPSTREAM_ERROR, False),
        ([Kind.JUDGED_DOWN], Outcome.UPSTREAM_CUT, False),
        ([Kind.LOST_BEFORE_HEAD, Kind.UNREACHABLE], Outcome.UPSTREAM_CUT, False),
        ([Kind.EMPTY], Outcome.UPSTREAM_CUT, False),
        ([Kind.ABORTED, Kind.SERVER_ERROR], Outcome.UPSTREAM_ABORTED, False),
        ([Kind.MALFORMED], Outcome.UPSTREAM_MALFORMED, False),
    ],
)
def test_surrender(kinds: list[Kind], outcome: Outcome, has_retry_after: bool) -> None:
    refusal = surrender("m1", [failure(k) for k in kinds], [], 2)
    assert refusal.outcome is outcome
    assert (refusal.retry_after_s is not None) == has_retry_after
    assert "'m1'" in refusal.message


def test_an_unavailable_model_is_told_with_every_reason() -> None:
    reasons = ["a: it refuses connections"]
    refusal = surrender("m1", [failure(Kind.UNREACHABLE, "backend 'b' is gone")], reasons, 2)
    assert "a: it refuses connections; backend 'b' is gone" in refusal.message
    assert "2 backends" in refusal.message


def test_a_limit_is_told_with_its_phase() -> None:
    slow = Failure(Kind.LIMIT, "no head within 5 s", True, phase=Phase.FIRST_BYTE, limit_s=5)
    refusal = of_failure("m1", slow)
    assert refusal.outcome is Outcome.UPSTREAM_TIMEOUT
    assert "no head within 5 s" in refusal.message
    assert "long prompt" in refusal.message


def failure(kind: Kind, message: str = "it broke") -> Failure:
    return Failure(kind, message, may_have_run=True)


@pytest.mark.parametrize("left_s", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("kind", list(Kind))
def test_no_wait_outlives_the_request_or_the_longest_wait(kind: Kind, left_s: float) -> None:
    for attempts in (1, 4):
        at = {**USUAL, **ALONE, "attempts": attempts, "left_s": left_s, "max_wait_s": 0.5}
        for has_other in (False, True):
            step = plan(failure(kind), Situation(**{**at, "has_other": has_other}))
            assert step.wait_s <= min(0.5, left_s)
