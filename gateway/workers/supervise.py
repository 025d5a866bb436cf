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

    def __repr__(self) -> str:
        return f"<Supervisor {sorted(self._tasks)}>"

    def start(self, name: str, loop: Callable[[], Awaitable[None]]) -> None:
        """Begins to run `loop`; it is called again whenever it crashes."""
        self._tasks[name] = asyncio.create_task(self._keep_running(name, loop), name=name)

    async def stop(self) -> None:
        """Ends all loops."""
        tasks, self._tasks = list(self._tasks.values()), {}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _keep_running(self, name: str, loop: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await loop()
                return
            except Exception as error:  # noqa: BLE001 - whatever it is, the loop must go on
                self._log.crash("loop_crashed", error, loop=name)
            await asyncio.sleep(_PAUSE_AFTER_CRASH_S)
