"""After a failure: the next move, and what the client is told when there is none."""

import pytest

from gateway.errors import Outcome, Phase
from gateway.recovery.classify import Failure, Kind
from gateway.recovery.plan import Move, next_move, of_failure, surrender


@pytest.mark.parametrize(
    ("kind", "move"),
    [
        (Kind.CLIENT_ERROR, Move.PASS_ON),
        (Kind.LIMIT, Move.GIVE_UP),  # slow is not dead
        *[(k, Move.ELSEWHERE) for k in Kind if k not in (Kind.CLIENT_ERROR, Kind.LIMIT)],
    ],
)
def test_the_next_move(kind: Kind, move: Move) -> None:
    assert next_move(failure(kind)) is move


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
