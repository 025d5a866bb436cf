"""After a failed attempt: go on elsewhere, hand the backend's answer on, or give up."""

from gateway.flow.admit import NothingLeft
from gateway.flow.answer import Failed, WholeAnswer
from gateway.placement.eligible import Why
from gateway.recovery.classify import Failure, Kind
from gateway.recovery.plan import Move, next_move, of_failure, surrender


class Attempts:
    """What one request has tried so far: the backends in order, and how each attempt failed."""

    __slots__ = ("failed", "tried")

    def __init__(self) -> None:
        self.tried: list[str] = []
        self.failed: list[Failed] = []

    def __repr__(self) -> str:
        return f"<Attempts {self.tried} failed={[f.failure.kind.value for f in self.failed]}>"

    @property
    def failures(self) -> list[Failure]:
        """The failures in order."""
        return [f.failure for f in self.failed]


def after_failure(attempts: Attempts, failed: Failed, model: str) -> WholeAnswer | None:
    """What the client gets now, or None to go on with another backend; may raise `Refusal`."""
    attempts.failed.append(failed)
    match next_move(failed.failure):
        case Move.PASS_ON if failed.answer is not None:
            return failed.answer
        case Move.ELSEWHERE:
            return None
        case _:
            raise of_failure(model, failed.failure)


def when_nothing_is_left(attempts: Attempts, end: NothingLeft, model: str) -> WholeAnswer:
    """The first backend's own error answer, if there is one; else raises `Refusal`."""
    for failed in attempts.failed:
        if failed.answer is not None and failed.failure.kind is not Kind.UNAVAILABLE:
            return failed.answer
    for failed in attempts.failed:
        if failed.answer is not None:
            return failed.answer
    reasons = [f"{r.backend}: {r.detail}" for r in end.refused if r.why is not Why.TRIED]
    raise surrender(model, attempts.failures, reasons, end.backends_total)
