"""Several worker processes on one listening socket, watched over by one that serves nothing."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click

from gateway.settings import Settings
from gateway.upstream.siblings import socket_path

_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 30.0
# A worker that lived so long was well: the next failure is a new one.
_WELL_AFTER_S: Final = 60.0
# Beyond their own limits; then they are ended.
_LATE_S: Final = 15.0


class Place(NamedTuple):
    """Where a worker belongs: the listening descriptor, a pipe that ends with the watching
    process, its number, and the folder with the sockets of all workers.
    """

    listener: int
    life: int
    number: int
    folder: Path

    @classmethod
    def read(cls, text: str) -> "Place":
        """The place in `LISTENER:LIFE:NUMBER:FOLDER`, as the watching process writes it."""
        listener, life, number, folder = text.split(":", 3)
        return cls(int(listener), int(life), int(number), Path(folder))

    def __str__(self) -> str:
        return f"{self.listener}:{self.life}:{self.number}:{self.folder}"


class Watch:
    """Starts the workers, starts one again that died, and hands signals on to all."""

    def __init__(
        self, settings: Settings, listener: socket.socket, arguments: Sequence[str]
    ) -> None:
        self._settings = settings
        self._listener = listener
        self._arguments = tuple(arguments)
        self._folder = Path(tempfile.mkdtemp(prefix="ascend-gateway-"))
        self._life, self._own_end = os.pipe()
        self._processes: dict[int, asyncio.subprocess.Process] = {}
        self._is_ending = False
        self._was_any_ready = False
        self.status = 0

    def __repr__(self) -> str:
        return f"<Watch over {len(self._processes)} workers>"

    async def run(self) -> int:
        """Runs until a signal and the end of all workers; returns the exit status."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end, number)
        loop.add_signal_handler(signal.SIGHUP, self._hand_on, signal.SIGHUP)
        try:
            await asyncio.gather(*(self._keep(n) for n in range(self._settings.workers)))
        finally:
            os.close(self._own_end)
            os.close(self._life)
            shutil.rmtree(self._folder, ignore_errors=True)
        return self.status

    async def _keep(self, number: int) -> None:
        """One worker, again and again."""
        pause_s = _FIRST_PAUSE_S
        while not self._has_ended():
            began_s = time.monotonic()
            process = await self._start(number)
            self._processes[number] = process
            status = await process.wait()
            del self._processes[number]
            # It opens its socket once it can serve.
            self._was_any_ready |= socket_path(self._folder, number).exists()
            if self._has_ended():
                break
            if not self._was_any_ready:
                # It can't start at all: what is wrong has been said by it.
                self.status = status or 1
                self._end(signal.SIGTERM)
                break
            if time.monotonic() - began_s > _WELL_AFTER_S:
                pause_s = _FIRST_PAUSE_S
            click.echo(
                f"worker {number} ended with status {status}; it starts again in {pause_s:g} s",
                err=True,
            )
            await asyncio.sleep(pause_s)
            pause_s = min(_LONGEST_PAUSE_S, 2 * pause_s)

    async def _start(self, number: int) -> asyncio.subprocess.Process:
        socket_path(self._folder, number).unlink(missing_ok=True)
        listener = self._listener.fileno()
        place = Place(listener, self._life, number, self._folder)
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "gateway.cli.main", *self._arguments, "--worker", str(place)),
            stdin=subprocess.DEVNULL,
            pass_fds=(listener, self._life),
            # Signals of a terminal go to the watching process alone.
            start_new_session=True,
        )

    def _has_ended(self) -> bool:
        return self._is_ending

    def _hand_on(self, number: int) -> None:
        for process in self._processes.values():
            process.send_signal(number)

    def _end(self, number: int) -> None:
        """Hands the signal on; after their time has passed, workers are ended."""
        if not self._is_ending:
            settings = self._settings
            limit_s = settings.drain_grace_s + settings.drain_s + _LATE_S
            asyncio.get_running_loop().call_later(limit_s, self._hand_on, signal.SIGKILL)
        self._is_ending = True
        self._hand_on(number)
