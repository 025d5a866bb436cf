"""Background loops that must not die silently: a crash is logged and the loop starts again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from gateway.observe.logs import Log

_PAUSE_AFTER_CRASH_S: Final = 1.0


class Supervisor:
    """Runs named loops as tasks; `stop` cancels them and waits until they are gone."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"<Supervisor {sorted(self._tasks)}>"

    def start(self, name: str, loop: Callable[[], Awaitable[None]]) -> None:
        """Begins to run `loop`; it is called again whenever it crashes."""
        self.end(name)
        task = asyncio.create_task(self._keep_running(name, loop), name=name)
        self._tasks[name] = task
        task.add_done_callback(lambda done: self._done(name, done))

    def end(self, name: str) -> None:
        """Ends one loop, if there is one of this name; does not wait for it."""
        task = self._tasks.pop(name, None)
        if task is not None:
            self._ending.add(task)
            task.cancel()

    async def stop(self) -> None:
        """Ends all loops."""
        tasks = [*self._tasks.values(), *self._ending]
        self._tasks = {}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _done(self, name: str, task: asyncio.Task[None]) -> None:
        self._ending.discard(task)
        if self._tasks.get(name) is task:
            del self._tasks[name]

    async def _keep_running(self, name: str, loop: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await loop()
                return
            except Exception as error:  # noqa: BLE001 - whatever it is, the loop must go on
                self._log.crash("loop_crashed", error, loop=name)
            await asyncio.sleep(_PAUSE_AFTER_CRASH_S)
