"""Waiting for a free backend: at the gateway, where any backend that comes free can take it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from gateway.config.schema import QueueConfig
from gateway.errors import Outcome, Refusal
from gateway.fleet.names import Model
from gateway.fleet.registry import Registry
from gateway.flow.admit import Admitted
from gateway.placement.queue import WaitingLine

_LOOK_EVERY_S: Final = 0.25
_RETRY_AFTER_S: Final = 5.0


class Turn:
    """One waiting request; it is called when it may try."""

    __slots__ = ("_called",)

    def __init__(self) -> None:
        self._called = asyncio.Event()

    def call(self) -> None:
        """It may try now."""
        self._called.set()

    async def wait(self) -> None:
        """Returns when it was called since the last time."""
        await self._called.wait()
        self._called.clear()


class Halls:
    """The waiting lines of all models."""

    __slots__ = ("_lines", "_models_at", "_rules")

    def __init__(self, fleet: Registry) -> None:
        self._rules: QueueConfig = fleet.config.queue
        self._lines: dict[str, WaitingLine[Turn]] = {}
        self._models_at: dict[str, list[str]] = {}
        for model in fleet.names.models.values():
            for member in model.members:
                self._models_at.setdefault(member.backend.name, []).append(model.name)

    def __repr__(self) -> str:
        return f"<Halls { ({name: len(line) for name, line in self._lines.items() if line}) }>"

    def waiting(self, model: str) -> int:
        """How many requests wait for a model."""
        line = self._lines.get(model)
        return 0 if line is None else len(line)

    async def hold(self, model: Model, try_now: Callable[[], Admitted]) -> Admitted:
        """The placement that `try_now` finds once it is this request's turn and there is room.

        Raises `Refusal` OVERLOADED when the line is full or the wait too long, and whatever
        `try_now` raises. Whoever is cancelled here has left the line.
        """
        line = self._lines.setdefault(model.name, WaitingLine(self._rules.max_requests))
        turn = Turn()
        if not line.join(turn):
            raise _overloaded(model, f"{len(line)} requests wait already")
        try:
            async with asyncio.timeout(self._rules.max_wait_s):
                while True:
                    if line.first is turn:
                        admitted = try_now()
                        if not admitted.is_full:
                            return admitted
                    await turn.wait()
        except TimeoutError:
            told = f"none came free within {self._rules.max_wait_s:g} s"
            raise _overloaded(model, told) from None
        finally:
            line.leave(turn)
            self._call(model.name)

    @contextmanager
    def calling(self, backend: str) -> Iterator[None]:
        """When this is left, a slot of the backend has come free."""
        try:
            yield
        finally:
            for model in self._models_at.get(backend, ()):
                self._call(model)

    async def watch(self) -> None:
        """Calls everybody's first now and then: backends also recover, and their shares rise."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            for model in self._lines:
                self._call(model)

    def _call(self, model: str) -> None:
        line = self._lines.get(model)
        first = None if line is None else line.first
        if first is not None:
            first.call()


def _overloaded(model: Model, told: str) -> Refusal:
    return Refusal(
        Outcome.OVERLOADED,
        f"All backends of '{model.name}' are busy and {told}. Try again in {_RETRY_AFTER_S:.0f} s.",
        retry_after_s=_RETRY_AFTER_S,
    )
