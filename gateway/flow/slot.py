"""A place at a backend: given by the line, kept while the request is there, given back once."""

from collections.abc import Callable
from typing import Final

from gateway.fleet.learning.characters import TextSize
from gateway.fleet.learning.model import ModelLessons
from gateway.fleet.lease import Lease
from gateway.fleet.live import LiveBackend
from gateway.fleet.names import Model
from gateway.fleet.view import BackendFacts
from gateway.fleet.working import Working
from gateway.placement.affinity import PrefixIndex
from gateway.protocol.usage import Usage

# What engines count can be wrong by any amount.
_MOST_TOKENS: Final = 10**8


class Slot:
    """One request's place at one backend, with what is seen of its progress there.

    `working` is None for requests that generate nothing.
    """

    __slots__ = (
        "_blocks",
        "_ends",
        "_events",
        "_index",
        "_lease",
        "_lessons",
        "_now",
        "_on_free",
        "_output_tokens",
        "_size",
        "backend",
        "limit",
        "model",
        "working",
    )

    def __init__(
        self,
        model: Model,
        backend: BackendFacts,
        lease: Lease,
        working: Working | None,
        lessons: ModelLessons,
        now: Callable[[], float],
        on_free: Callable[[LiveBackend], None],
    ) -> None:
        self.model = model
        self.backend = backend
        self.working = working
        self._lease = lease
        self._lessons = lessons
        self._now = now
        self._on_free = on_free
        self._events = 0
        self._output_tokens: int | None = None
        self._size: TextSize | None = None
        self._index: PrefixIndex | None = None
        self._blocks: tuple[int, ...] = ()
        self._ends: Callable[[], None] | None = None
        self.limit: int | None = None
        """The most places that all gateways may have there, None for any number."""

    def __repr__(self) -> str:
        return f"<Slot at {self.backend.name} {self.working!r}>"

    @property
    def live(self) -> LiveBackend:
        """The backend itself; another may have its name after a reload."""
        return self._lease.backend

    def take(self) -> "Slot":
        """Takes the place, before anybody else is placed."""
        self._lease.__enter__()
        try:
            if self.working is not None:
                self.live.work.begin(self.working, self._now())
        except BaseException:
            self._lease.__exit__(None, None, None)
            raise
        return self

    def keep(self, ends: Callable[[], None]) -> None:
        """The place is claimed among all gateways; `ends` gives it back to them."""
        self._ends = ends

    def remembers(self, size: TextSize, index: PrefixIndex, blocks: tuple[int, ...]) -> None:
        """The prompt is sent there: its blocks will be in the engine's cache."""
        self._size, self._index, self._blocks = size, index, blocks
        index.add(blocks)

    def heard(self, events_total: int, is_held_up: bool) -> None:
        """So many events of its stream have come in all."""
        working, new = self.working, events_total - self._events
        if working is None or new <= 0:
            return
        now = self._now()
        working.is_held_up = working.is_held_up or is_held_up
        if not self._events:
            working.saw(1, now)
            self.live.work.first_token(working, now)
            new -= 1
        self._events = events_total
        if new:
            working.saw(new, now)

    def answered(self, usage: Usage | None) -> None:
        """The answer is complete; what the engine counted is what is learnt, else the events."""
        prompt_tokens = None if usage is None else usage.prompt_tokens
        counted = None if usage is None else usage.completion_tokens
        sequences = 1 if self.working is None else self.working.sequences
        if counted is not None:
            self._output_tokens = min(max(1, counted // sequences), _MOST_TOKENS)
        elif self._events:
            self._output_tokens = max(1, self._events // sequences)
        if prompt_tokens and prompt_tokens < _MOST_TOKENS and self._size is not None:
            self._lessons.text.add(self._size, prompt_tokens)

    def give_back(self) -> None:
        """Gives the place back; whoever waits for it is looked at."""
        try:
            if self.working is not None:
                work, output_tokens = self.live.work, self._output_tokens
                work.end(self.working, self._now(), output_tokens)
                if output_tokens is not None and self._index is not None:
                    self._index.add(self._blocks, output_tokens)
        finally:
            self._lease.__exit__(None, None, None)
            if self._ends is not None:
                self._ends()
            self._on_free(self.live)
