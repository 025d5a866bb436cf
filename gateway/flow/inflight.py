"""The requests that run now, so that shutting down can wait for them and then end them."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final

from gateway.errors import GatewayError
from gateway.flow.call import Call

_LOOK_EVERY_S: Final = 0.25


class InFlight:
    """A set of running requests. Entering `running(call)` adds one, leaving removes it."""

    __slots__ = ("_calls", "_is_idle")

    def __init__(self) -> None:
        self._calls: set[Call] = set()
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    def __repr__(self) -> str:
        return f"<InFlight {len(self._calls)} requests>"

    def __len__(self) -> int:
        return len(self._calls)

    def running(self, call: Call) -> "_Running":
        """A context in which `call` counts as running."""
        return _Running(self, call)

    async def wait_until_idle(self) -> None:
        """Returns when no request runs."""
        await self._is_idle.wait()

    def interrupt_all(self, error: GatewayError) -> int:
        """Ends every running request with `error`; returns how many there were."""
        calls = list(self._calls)
        for call in calls:
            call.interrupt(error)
        return len(calls)

    async def watch(
        self, now: Callable[[], float], beat: Callable[[Call], Awaitable[None]]
    ) -> None:
        """Interrupts requests that are late and lets `beat` speak to streams that are quiet.

        One look at each of them every so often costs far less than timers for each.
        """
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            moment = now()
            for call in list(self._calls):
                call.interrupt_if_late(moment)
                if call.is_quiet(moment):
                    await beat(call)

    def add(self, call: Call) -> None:
        """Counts a request in."""
        self._calls.add(call)
        self._is_idle.clear()

    def remove(self, call: Call) -> None:
        """Counts a request out."""
        self._calls.discard(call)
        if not self._calls:
            self._is_idle.set()


class _Running:
    __slots__ = ("_call", "_owner")

    def __init__(self, owner: InFlight, call: Call) -> None:
        self._owner = owner
        self._call = call

    def __enter__(self) -> Call:
        self._owner.add(self._call)
        return self._call

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._owner.remove(self._call)
