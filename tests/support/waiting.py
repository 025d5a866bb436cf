"""Waiting for a condition, with a wide limit: nothing in the tests sleeps and hopes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

LIMIT_S = 20.0  # far above what any condition needs, so that a slow machine is no failure


class Changes:
    """Lets tests wait until something about an object has become true, without polling."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def until(self, condition: Callable[[], T], limit_s: float = LIMIT_S) -> T:
        """The first true value of `condition`, looked at after every change."""
        deadline = time.monotonic() + limit_s
        while not (value := condition()):
            left_s = deadline - time.monotonic()
            assert left_s > 0, "the condition did not become true in time"
            event = self._event
            try:
                await asyncio.wait_for(event.wait(), left_s)
            except TimeoutError:
                continue
        return value


async def eventually(
    probe: Callable[[], Awaitable[T]], limit_s: float = LIMIT_S, every_s: float = 0.02
) -> T:
    """The first true value of `probe`, asked again and again; for things that don't call back."""
    deadline = time.monotonic() + limit_s
    while not (value := await probe()):
        assert time.monotonic() < deadline, f"not true within {limit_s} s: {value!r}"
        await asyncio.sleep(every_s)
    return value
