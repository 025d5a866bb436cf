"""A real redis-server of a test's own, which can be stopped, hung and started again."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from redis.asyncio import Redis

from tests.support.waiting import eventually


class RedisServer:
    """One redis-server on a free port, without persistence."""

    def __init__(self, folder: Path, *options: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._folder = folder
        self._options = options
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def client(self) -> "Redis":
        return Redis(port=self.port)

    async def start(self) -> None:
        """Starts it, and comes back once it answers."""
        program = shutil.which("redis-server")
        assert program, "redis-server is missing; on Debian: apt-get install redis-server"
        self._process = await asyncio.create_subprocess_exec(
            program,
            *("--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"),
            *("--dir", str(self._folder), "--logfile", str(self._folder / "redis.log")),
            *self._options,
        )
        await eventually(self._answers)

    async def kill(self) -> None:
        """Ends it at once, with all that it knew."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            await self._process.wait()

    def hang(self) -> None:
        """It takes connections and says nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """It answers again."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    async def _answers(self) -> bool:
        try:
            async with self.client() as client:
                return bool(await client.ping())
        except (OSError, Exception):
            return False


@contextlib.asynccontextmanager
async def running_redis(*options: str) -> AsyncIterator[RedisServer]:
    """A redis-server for one test."""
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        server = RedisServer(Path(folder), *options)
        await server.start()
        try:
            yield server
        finally:
            await server.kill()
