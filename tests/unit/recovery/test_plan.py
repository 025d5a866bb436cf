"""After a failure: the next move, and what the client is told when there is none."""

from typing import Any

import pytest

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
        # Slow is not dead.
        ((Kind.LIMIT, {"phase": FIRST}), {}, Move.GIVE_UP),
        ((Kind.LIMIT, {"phase": FIRST}), {"may_move_on_limit": True}, Move.ELSEWHERE),
        ((Kind.LIMIT, {"phase": FIRST}), {"may_move_on_limit": True, **ALONE}, Move.GIVE_UP),
        ((Kind.LIMIT, {"phase": Phase.TOTAL}), {"may_move_on_limit": True}, Move.GIVE_UP),
        ((Kind.LIMIT, {"phase": Phase.SEND}), {"may_move_on_limit": True}, Move.GIVE_UP),
        # A body that stops in its middle is broken.
        ((Kind.LIMIT, {"phase": BETWEEN}), {}, Move.ELSEWHERE),
        ((Kind.LIMIT, {"phase": BETWEEN}), ALONE, Move.GIVE_UP),
        ((Kind.SERVER_ERROR, {}), {}, Move.ELSEWHERE),
        ((Kind.SERVER_ERROR, {}), ONLY_FALLBACK, Move.AGAIN),
        ((Kind.SERVER_ERROR, {}), ALONE, Move.AGAIN),
        ((Kind.SERVER_ERROR, {}), {**ONLY_FALLBACK, "again": 1}, Move.ELSEWHERE),
        ((Kind.SERVER_ERROR, {}), {**ALONE, "again": 1}, Move.GIVE_UP),
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
        ((Kind.UNREACHABLE, {}), {"has_budget": False}, Move.ELSEWHERE),
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
