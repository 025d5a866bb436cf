"""What to do after a failed attempt, and what to say when nothing is left to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from gateway.errors import Outcome, Phase, Refusal
from gateway.recovery.classify import Failure, Kind


class Move(StrEnum):
    """The next step after a failed attempt."""

    PASS_ON = "pass_on"
    """The client gets what the backend said."""
    AGAIN = "again"
    """The same backend once more."""
    ELSEWHERE = "elsewhere"
    """Another backend of the model, where it costs least, then the fallback models."""
    LONGER = "longer"
    """A backend with a longer context, of the model or of its fallback models."""
    GIVE_UP = "give_up"


@dataclass(frozen=True, slots=True)
class Situation:
    """What the plan depends on beside the failure itself.

    `attempts` made so far, `again` of them repeats at the backend that failed now. `has_other`
    and `has_fallback` say whether an untried backend of the model, or of a fallback model, could
    take the request, `has_longer` whether one with a longer context could. `left_s` is the time
    until the request's deadline, `draw` in [0, 1) spreads waits.
    """

    attempts: int
    again: int
    has_other: bool
    has_fallback: bool
    has_longer: bool
    left_s: float
    max_attempts: int
    max_wait_s: float
    may_move_on_limit: bool
    has_budget: bool
    draw: float

    @property
    def has_any(self) -> bool:
        """Whether any untried backend could take the request."""
        return self.has_other or self.has_fallback


class Step(NamedTuple):
    """What to do, after which wait in seconds, and why."""

    move: Move
    wait_s: float
    reason: str


_FIRST_WAIT_S: Final = 0.1
_LONGEST_BACKOFF_S: Final = 2.0


def plan(failure: Failure, at: Situation) -> Step:
    """What to do after an attempt that failed before the client saw a byte of its answer.

    Slow is not dead: a reached limit moves a request only where the model says so, and once. A
    long prefill is therefore never tried on one backend after the other.
    """
    kind = failure.kind
    if kind is Kind.CLIENT_ERROR:
        return Step(Move.PASS_ON, 0.0, "the request itself is refused")
    if kind is Kind.CONTEXT_TOO_LONG:
        if at.has_longer and at.attempts < at.max_attempts:
            return Step(Move.LONGER, 0.0, "another backend has a longer context")
        return Step(Move.PASS_ON, 0.0, "no backend has a longer context")
    if kind is Kind.LIMIT:
        return _after_limit(failure, at)
    if at.attempts >= at.max_attempts:
        return Step(Move.GIVE_UP, 0.0, f"{at.attempts} attempts were made")
    if at.left_s <= 0:
        return Step(Move.GIVE_UP, 0.0, "the request's time is over")
    if failure.may_have_run and not at.has_budget:
        return Step(Move.GIVE_UP, 0.0, "the budget for retries is used up")
    if kind in (Kind.RATE_LIMITED, Kind.UNAVAILABLE):
        return _after_refusal(failure, at)
    if kind is Kind.SERVER_ERROR and not at.has_other and at.again < 1:
        return Step(Move.AGAIN, _backoff_s(at), "one 500 may be an accident")
    if at.has_any:
        return Step(Move.ELSEWHERE, _backoff_s(at), "another backend can take it")
    return Step(Move.GIVE_UP, 0.0, "no other backend is left")


def _after_limit(failure: Failure, at: Situation) -> Step:
    may_move = at.has_any and at.left_s > 0 and at.has_budget and at.attempts < at.max_attempts
    if failure.phase is Phase.FIRST_BYTE and at.may_move_on_limit and may_move:
        return Step(Move.ELSEWHERE, 0.0, "its model says to move once")
    if failure.phase is Phase.BETWEEN and may_move:
        # It had begun, and then the bytes stopped: that is no slow engine but a broken answer.
        return Step(Move.ELSEWHERE, _backoff_s(at), "the answer stopped in its middle")
    return Step(Move.GIVE_UP, 0.0, "slow is not dead, so it is not asked for twice")


def _after_refusal(failure: Failure, at: Situation) -> Step:
    """The backend is full or not ready: it said so, and did no work."""
    if at.has_other:
        return Step(Move.ELSEWHERE, _backoff_s(at), "another backend can take it")
    given_s = failure.retry_after_s
    wait_s = _FIRST_WAIT_S if given_s is None else given_s * (1.0 + 0.1 * at.draw)
    wait_s = max(wait_s, _FIRST_WAIT_S)
    if at.again < 1 and wait_s <= at.max_wait_s and wait_s < at.left_s:
        return Step(Move.AGAIN, wait_s, "it may have room by then")
    if at.has_fallback:
        return Step(Move.ELSEWHERE, 0.0, "a fallback model can take it")
    return Step(Move.GIVE_UP, 0.0, "no other backend is left")


def _backoff_s(at: Situation) -> float:
    """Nothing before the second attempt, then twice as long each time, spread over the whole."""
    if at.attempts < 2:
        return 0.0
    longest_s = min(_LONGEST_BACKOFF_S, _FIRST_WAIT_S * 2.0 ** (at.attempts - 2))
    return min(longest_s * at.draw, at.max_wait_s, at.left_s / 2)


_RETRY_AFTER_S: Final = 5.0

_OUTCOMES: Final[Mapping[Kind, Outcome]] = MappingProxyType(
    {
        Kind.LOST_BEFORE_HEAD: Outcome.UPSTREAM_CUT,
        Kind.CUT: Outcome.UPSTREAM_CUT,
        Kind.EMPTY: Outcome.UPSTREAM_CUT,
        Kind.LIMIT: Outcome.UPSTREAM_TIMEOUT,
        Kind.MALFORMED: Outcome.UPSTREAM_MALFORMED,
        Kind.ABORTED: Outcome.UPSTREAM_ABORTED,
        Kind.JUDGED_DOWN: Outcome.UPSTREAM_CUT,
    }
)


_TOLD: Final = frozenset({Kind.SERVER_ERROR, Kind.ENGINE_ERROR, Kind.ENGINE_DEAD})


def surrender(
    model: str, failures: Sequence[Failure], reasons: Sequence[str], backends_total: int
) -> Refusal:
    """The refusal when no backend is left: of the failures seen, the most telling one.

    `reasons` say why other backends were not even asked. An attempt that reached an engine tells
    more than one that did not; if none did, the model is unavailable for now.
    """
    telling = [f for f in failures if f.kind in _OUTCOMES]
    if telling:
        return of_failure(model, telling[0])
    answered = [f for f in failures if f.kind in _TOLD]
    if answered:
        return Refusal(
            Outcome.UPSTREAM_ERROR,
            f"The model '{model}' failed on the backend: {answered[0].message}",
        )
    if failures and all(f.kind is Kind.POOL_EXHAUSTED for f in failures):
        return Refusal(
            Outcome.OVERLOADED,
            f"All connections to the backends of '{model}' are busy. Try again later.",
            retry_after_s=_RETRY_AFTER_S,
        )
    return _unavailable(model, [*reasons, *(f.message for f in failures)], backends_total)


def of_failure(model: str, failure: Failure) -> Refusal:
    """The refusal that tells the client of one failure that could not be made good."""
    outcome = _OUTCOMES.get(failure.kind, Outcome.UPSTREAM_ERROR)
    told = failure.message.rstrip(". ")
    message = f"The answer of '{model}' could not be completed: {told}."
    if failure.kind is Kind.LIMIT and failure.phase is not None:
        message = f"The model '{model}' did not answer in time: {told}."
        if failure.phase is Phase.FIRST_BYTE:
            message += " It may be busy with a long prompt; try again later."
    return Refusal(outcome, message)


def _unavailable(model: str, reasons: Sequence[str], backends_total: int) -> Refusal:
    told = "; ".join(dict.fromkeys(reasons)) or "it has no enabled backend"
    count = "backend" if backends_total == 1 else "backends"
    return Refusal(
        Outcome.MODEL_UNAVAILABLE,
        f"The model '{model}' is configured, but of its {backends_total} {count} none can serve "
        f"it now ({told}). Try again later.",
        retry_after_s=_RETRY_AFTER_S,
    )
