"""The line to Redis: one round trip at a time; what is asked meanwhile goes together with the next.

So the order of commands is kept, a burst of requests costs few round trips, and a store that hangs
holds up one of them, not a connection for each request.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any, Final

from redis.exceptions import NoScriptError, RedisError

from gateway.store.address import Client
from gateway.store.shared import StoreError

_TRIP_S: Final = 1.0
_MOST_WAITING: Final = 10_000

Command = tuple[Any, ...]


class Script:
    """A Lua script: its text, and the hash under which the server knows it."""

    __slots__ = ("sha", "text")

    def __init__(self, text: str, sha: str) -> None:
        self.text = text
        self.sha = sha


class Line:
    """Sends commands to Redis in order. Use it within one event loop."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._waiting: list[tuple[Command, asyncio.Future[Any]]] = []
        self._task: asyncio.Task[None] | None = None
        self.round_trips_total = 0

    def __repr__(self) -> str:
        return f"<Line {len(self._waiting)} waiting, {self.round_trips_total} round trips>"

    def send(self, *command: Any) -> asyncio.Future[Any]:
        """Sends a command soon; the future has its answer or `StoreError`.

        The first part may be a `Script`, followed by the number of keys, keys and arguments.
        """
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        # Whoever gave up waiting has nobody who would look at the error.
        future.add_done_callback(_looked_at)
        if len(self._waiting) >= _MOST_WAITING:
            future.set_exception(StoreError(f"{_MOST_WAITING} commands wait for it already"))
            return future
        self._waiting.append((command, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="store line")
        return future

    async def close(self) -> None:
        """Sends what is left, within a second, and ends."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=_TRIP_S)
            self._task.cancel()
        with contextlib.suppress(RedisError, OSError, TimeoutError):
            async with asyncio.timeout(_TRIP_S):
                await self._client.aclose()

    async def _run(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                answers = await self._trip([command for command, _ in batch])
            except (RedisError, OSError, StoreError, TimeoutError) as error:
                told = StoreError(_told(error))
                for _, future in batch:
                    if not future.done():
                        future.set_exception(told)
                continue
            for (_, future), answer in zip(batch, answers, strict=True):
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(StoreError(_told(answer)))
                else:
                    future.set_result(answer)

    async def _trip(self, commands: Sequence[Command]) -> list[Any]:
        async with asyncio.timeout(_TRIP_S):
            answers = await self._execute([_by_sha(command) for command in commands])
            unknown = [n for n, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
            if unknown:
                # A server that was started anew, or took over, has no scripts; the text loads them.
                again = await self._execute([_by_text(commands[n]) for n in unknown])
                for n, answer in zip(unknown, again, strict=True):
                    answers[n] = answer
        return answers

    async def _execute(self, commands: Sequence[Command]) -> list[Any]:
        self.round_trips_total += 1
        pipe = self._client.pipeline(transaction=False)
        for command in commands:
            pipe.execute_command(*command)
        return list(await pipe.execute(raise_on_error=False))


def _by_sha(command: Command) -> Command:
    head = command[0]
    return ("EVALSHA", head.sha, *command[1:]) if isinstance(head, Script) else command


def _by_text(command: Command) -> Command:
    head = command[0]
    return ("EVAL", head.text, *command[1:]) if isinstance(head, Script) else command


def _looked_at(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


def _told(error: Exception) -> str:
    if isinstance(error, TimeoutError) and not str(error):
        return f"no answer within {_TRIP_S:g} s"
    return str(error) or type(error).__name__
