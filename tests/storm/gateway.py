"""The gateway under a storm: its process, what it says of itself, and how it is asked to reload."""

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from tests.storm.fleet import HOST, PROBE_INTERVAL_S
from tests.support.children import Child
from tests.support.metrics import Samples

POLL_S: Final = 0.05
ADMIN_KEY: Final = "storm-admin-key"
_RELOAD_LIMIT_S: Final = 30.0
_CLI_LIMIT_S: Final = 30.0
_CRASHES: Final = ("request_crashed", "loop_crashed", "placement_crashed", "Traceback")


@dataclass(frozen=True, slots=True)
class Usage:
    """What the process holds."""

    fds: int
    rss_bytes: int
    threads: int


class Gateway:
    """Polls /health all the time, so that calm and storm differ in the reloads alone."""

    def __init__(self, folder: Path, port: int) -> None:
        self.child = Child("gateway", folder)
        self.base_url = f"http://{HOST}:{port}"
        self._folder = folder
        self._port = port
        self._keys = folder / "admin.keys"
        self._keys.write_text(f"storm={ADMIN_KEY}\n", encoding="utf-8")
        self._client = httpx.AsyncClient(
            base_url=self.base_url, timeout=_RELOAD_LIMIT_S, trust_env=False, verify=False
        )
        self._news = asyncio.Event()
        self._commands = 0
        self.health: dict[str, Any] = {}
        self.children: list[Child] = []

    def __repr__(self) -> str:
        return f"<Gateway {self.base_url} {self.child!r}>"

    @property
    def config(self) -> dict[str, Any]:
        """What /health said last of the routing file."""
        found: dict[str, Any] = self.health.get("config", {})
        return found

    def start(self, file: Path) -> None:
        self.child.start(
            *("serve", "--config-file", str(file), "--host", HOST, "--port", str(self._port)),
            *("--state-dir", str(self._folder / "state"), "--admin-keys-file", str(self._keys)),
            *("--probe-interval-s", str(PROBE_INTERVAL_S), "--no-access-log"),
        )

    async def run(self) -> None:
        """Poll until cancelled; RuntimeError when the process is gone."""
        while True:
            if not self.child.is_running:
                raise RuntimeError(f"the gateway ended:\n{self.child.tail()}")
            with contextlib.suppress(httpx.HTTPError, ValueError):
                self.health = (await self._client.get("/health")).json()
            self._news.set()
            self._news = asyncio.Event()
            await asyncio.sleep(POLL_S)

    async def until(self, condition: Callable[[], bool], limit_s: float) -> bool:
        """Whether the condition over `health` came true in time; looked at after every poll."""
        try:
            async with asyncio.timeout(limit_s):
                # What was polled before may have been asked before.
                await self._news.wait()
                while not condition():
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    def is_all_up(self) -> bool:
        backends = self.health.get("backends", {})
        return bool(backends) and all(one["state"] == "up" for one in backends.values())

    async def reload(self) -> tuple[int, dict[str, Any]]:
        """POST /admin/reload: status and answer."""
        headers = {"authorization": f"Bearer {ADMIN_KEY}"}
        reply = await self._client.post("/admin/reload", headers=headers)
        found: dict[str, Any] = reply.json()
        return reply.status_code, found

    def hang_up(self) -> None:
        """SIGHUP."""
        self.child.signal(signal.SIGHUP)

    async def reload_by_command(self) -> int | None:
        """`ascend-gateway reload`; its exit status."""
        return await self._command(
            *("reload", "--url", self.base_url, "--admin-keys-file", str(self._keys))
        )

    async def check_by_command(self, file: Path) -> int | None:
        """`ascend-gateway config check`, which costs this machine as much."""
        return await self._command("config", "check", str(file))

    async def _command(self, *arguments: str) -> int | None:
        self._commands += 1
        child = Child(f"command-{self._commands}", self._folder)
        self.children.append(child)
        child.start(*arguments)
        return await child.until_ended(_CLI_LIMIT_S)

    async def in_flight(self) -> float:
        """Slots that are taken, as its metrics say."""
        reply = await self._client.get("/metrics")
        return Samples.parse(reply.text).total("gateway_in_flight_requests")

    def usage(self) -> Usage:
        """What the process holds now (Linux)."""
        place = Path(f"/proc/{self.child.pid}")
        status = (place / "status").read_text()
        rss = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
        assert rss is not None
        fds, threads = os.listdir(place / "fd"), os.listdir(place / "task")
        return Usage(len(fds), int(rss[1]) * 1024, len(threads))

    def crash_lines(self) -> int:
        """Lines of its log that tell of a crash of its own."""
        text = self.child.log.read_text(encoding="utf-8", errors="replace")
        return sum(any(word in line for word in _CRASHES) for line in text.splitlines())

    async def close(self) -> None:
        await self._client.aclose()
