"""What to do after a failed attempt, and what to say when nothing is left to do."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.errors import Outcome, Phase, Refusal
from gateway.recovery.classify import Failure, Kind


class Move(StrEnum):
    """The next step after a failed attempt."""

    PASS_ON = "pass_on"
    ELSEWHERE = "elsewhere"
    GIVE_UP = "give_up"


# The engine did no work, or its work is lost: the same request can be served by another backend.
# A limit is not among them: slow is not dead, and a long prefill must not be tried everywhere.
_WORTH_MOVING: Final = frozenset(
    {
        Kind.UNREACHABLE,
        Kind.POOL_EXHAUSTED,
        Kind.LOST_BEFORE_HEAD,
        Kind.CUT,
        Kind.EMPTY,
        Kind.ABORTED,
        Kind.ENGINE_ERROR,
        Kind.NAME_DRIFT,
        Kind.KEY_REFUSED,
        Kind.UNAVAILABLE,
        Kind.SERVER_ERROR,
        Kind.MALFORMED,
    }
)


def next_move(failure: Failure) -> Move:
    """What to do after an attempt that failed before the client saw a byte of an answer."""
    if failure.kind is Kind.CLIENT_ERROR:
        return Move.PASS_ON
    if failure.kind in _WORTH_MOVING:
        return Move.ELSEWHERE
    return Move.GIVE_UP


_RETRY_AFTER_S: Final = 5.0

_OUTCOMES: Final[Mapping[Kind, Outcome]] = MappingProxyType(
    {
        Kind.LOST_BEFORE_HEAD: Outcome.UPSTREAM_CUT,
        Kind.CUT: Outcome.UPSTREAM_CUT,
        Kind.EMPTY: Outcome.UPSTREAM_CUT,
        Kind.LIMIT: Outcome.UPSTREAM_TIMEOUT,
        Kind.MALFORMED: Outcome.UPSTREAM_MALFORMED,
        Kind.ABORTED: Outcome.UPSTREAM_ABORTED,
    }
)


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
    answered = [f for f in failures if f.kind in (Kind.SERVER_ERROR, Kind.ENGINE_ERROR)]
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
