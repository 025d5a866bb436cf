"""The trails of the last requests: what was decided about each, and how its attempts went.

Recording keeps references to frozen values and renders nothing; `explain` does that when asked.
"""

from collections import deque
from typing import Final, NamedTuple, TypeVar

from gateway.fleet.view import ModelView
from gateway.placement.eligible import Need
from gateway.placement.rule import Choice, Option
from gateway.placement.want import Placed

KEPT: Final = 1000
"""Requests that are kept."""

FIRST: Final = 4
LAST: Final = 12

ANSWERED: Final = "answered"
"""The outcome of an attempt that brought the answer; others are kinds of failures."""
INTERRUPTED: Final = "interrupted"
"""The outcome of an attempt that still ran when the request ended."""

_MAX_NAME: Final = 200
_MAX_TEXT: Final = 1000

_T = TypeVar("_T")


class Wait:
    """One stay in the line; `view` is what the backends looked like when it began, if known."""

    __slots__ = ("expected_wait_s", "joined_s", "left_s", "position", "view")

    def __init__(
        self, position: int, expected_wait_s: float | None, joined_s: float, view: ModelView | None
    ) -> None:
        self.position = position
        self.expected_wait_s = expected_wait_s
        self.joined_s = joined_s
        self.view = view
        self.left_s: float | None = None


class Decision(NamedTuple):
    """One decision about the request, without the request itself.

    `waiting` is how many waited for the model then, None if it was not noted.
    """

    at_s: float
    waiting: int | None
    backend: str | None
    view: ModelView
    tried: tuple[str, ...]
    need: Need
    options: tuple[Option, ...]
    choice: Choice | None


class Attempt:
    """One request sent to one backend; `outcome` is `answered` or the kind of its failure."""

    __slots__ = ("backend", "began_s", "detail", "ended_s", "model", "outcome")

    def __init__(self, backend: str, model: str, began_s: float) -> None:
        self.backend = backend
        self.model = model
        self.began_s = began_s
        self.ended_s: float | None = None
        self.outcome: str | None = None
        self.detail = ""


class Trail:
    """What became of one request. Of long ones the first 4 and the last 12 entries are kept.

    Times are monotonic seconds but `began_wall_s`. `model` is set once the name is understood.
    """

    __slots__ = (
        "asked",
        "attempts",
        "attempts_total",
        "began_s",
        "began_wall_s",
        "caller",
        "code",
        "decisions",
        "decisions_total",
        "error",
        "finished_s",
        "model",
        "request_id",
        "status",
        "waited_before_s",
        "waits",
    )

    def __init__(
        self,
        request_id: str,
        asked: str | None,
        caller: str | None,
        began_s: float,
        began_wall_s: float,
    ) -> None:
        self.request_id = request_id
        self.asked = None if asked is None else asked[:_MAX_NAME]
        self.caller = caller
        self.began_s = began_s
        self.began_wall_s = began_wall_s
        self.model: str | None = None
        self.waits: list[Wait] = []
        self.waited_before_s = 0.0
        self.decisions: list[Decision] = []
        self.decisions_total = 0
        self.attempts: list[Attempt] = []
        self.attempts_total = 0
        self.status = 0
        self.code: str | None = None
        self.error: str | None = None
        self.finished_s: float | None = None

    def __repr__(self) -> str:
        return f"<Trail {self.request_id} {self.model} status={self.status}>"

    def named(self, asked: str | None, model: str | None) -> None:
        """What the client asks for, and the public name that it means."""
        self.asked = None if asked is None else asked[:_MAX_NAME]
        self.model = model

    def joined(
        self,
        position: int,
        expected_wait_s: float | None,
        now: float,
        view: ModelView | None = None,
    ) -> None:
        """It has to wait, at this position from 1; `view` shows later who was full."""
        self._leave(now)
        _append(self.waits, Wait(position, expected_wait_s, now, view))

    def decided(self, placed: Placed, now: float, waiting: int | None = None) -> None:
        """A decision about it; whatever it waited for is over."""
        self._leave(now)
        backend = None if placed.backend is None else placed.backend.facts.name
        decision = Decision(
            now,
            waiting,
            backend,
            placed.view,
            placed.tried,
            placed.want.need,
            placed.options,
            placed.choice,
        )
        self.decisions_total += 1
        _append(self.decisions, decision)

    def attempted(self, backend: str, model: str, now: float) -> None:
        """It is sent to a backend, on behalf of the public name `model`."""
        self._leave(now)
        self._interrupt(now)
        self.attempts_total += 1
        _append(self.attempts, Attempt(backend, model, now))

    def ended(self, outcome: str, detail: str, now: float) -> None:
        """The last attempt is over: `answered`, or the kind of its failure."""
        if self.attempts:
            attempt = self.attempts[-1]
            attempt.outcome, attempt.detail = outcome, detail[:_MAX_TEXT]
            attempt.ended_s = now

    def finished(self, status: int, code: str | None, error: str | None, now: float) -> None:
        """The request is over, however it ended."""
        self._leave(now)
        self._interrupt(now)
        self.status, self.code = status, code
        self.error = None if error is None else error[:_MAX_TEXT]
        self.finished_s = now

    def waited_s(self, now: float) -> float:
        """Seconds spent in the line until `now`."""
        if self.waits and self.waits[-1].left_s is None:
            return self.waited_before_s + now - self.waits[-1].joined_s
        return self.waited_before_s

    def _leave(self, now: float) -> None:
        if self.waits and self.waits[-1].left_s is None:
            self.waits[-1].left_s = now
            self.waited_before_s += now - self.waits[-1].joined_s

    def _interrupt(self, now: float) -> None:
        if self.attempts and self.attempts[-1].ended_s is None:
            self.attempts[-1].outcome = INTERRUPTED
            self.attempts[-1].ended_s = now


class Trails:
    """A ring of the last trails, running requests among them; the oldest goes first."""

    __slots__ = ("_ring", "kept")

    def __init__(self, kept: int = KEPT) -> None:
        self.kept = kept
        self._ring: deque[Trail] = deque(maxlen=kept)

    def __repr__(self) -> str:
        return f"<Trails {len(self._ring)} of {self.kept}>"

    def __len__(self) -> int:
        return len(self._ring)

    def begin(
        self,
        request_id: str,
        asked: str | None,
        caller: str | None,
        began_s: float,
        began_wall_s: float,
    ) -> Trail:
        """The trail of a new request, in which the rest is noted."""
        trail = Trail(request_id, asked, caller, began_s, began_wall_s)
        self._ring.append(trail)
        return trail

    def find(self, request_id: str) -> Trail | None:
        """The newest trail with this id; clients may use one twice."""
        for trail in reversed(self._ring):
            if trail.request_id == request_id:
                return trail
        return None

    @property
    def since_wall_s(self) -> float | None:
        """When the oldest kept request began, in seconds since 1970; None before the first."""
        return self._ring[0].began_wall_s if self._ring else None


def _append(kept: list[_T], one: _T) -> None:
    """Appends; what is neither among the first nor the last goes."""
    if len(kept) >= FIRST + LAST:
        del kept[FIRST]
    kept.append(one)
