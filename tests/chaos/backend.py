"""One emulated backend as a process of its own, and all that can be done to it."""

import asyncio
import signal
import time
from pathlib import Path
from typing import Any, Final

import httpx
import yaml

from tests.chaos.fleet import Member, fleet_file
from tests.support.children import Child

START_LIMIT_S: Final = 30.0
_POLL_S: Final = 0.02
_CONTROL: Final = "/emulator/faults"


class BackendProcess:
    """Starts, stops, kills and disturbs one backend."""

    def __init__(self, member: Member, folder: Path) -> None:
        self.member = member
        self.child = Child(member.name, folder)
        self._files = {is_eager: folder / _file_name(member, is_eager) for is_eager in (0, 1)}
        for is_eager, file in self._files.items():
            tree = fleet_file(member, is_eager=bool(is_eager))
            file.write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8")

    def __repr__(self) -> str:
        return f"<BackendProcess {self.member.name} {self.child!r}>"

    @property
    def name(self) -> str:
        return self.member.name

    async def start(self, *, is_eager: bool = False) -> None:
        """Start the process and wait until it answers."""
        self.child.start("emulate", str(self._files[is_eager]))
        await self.until_serving()

    async def until_serving(self, limit_s: float = START_LIMIT_S) -> None:
        """Wait for /health; RuntimeError when the process ends or takes too long."""
        deadline = time.monotonic() + limit_s
        while not await self._is_serving():
            if not self.child.is_running:
                raise RuntimeError(f"backend {self.name} ended:\n{self.child.tail()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"backend {self.name} does not serve after {limit_s:g} s")
            await asyncio.sleep(_POLL_S)

    def kill(self) -> None:
        """kill -9."""
        self.child.kill()

    async def terminate(self) -> None:
        """SIGTERM, as a container's stop sends it; kill -9 if that takes too long."""
        await self.child.stop()

    def freeze(self) -> None:
        """SIGSTOP: sockets stay open, nothing moves."""
        self.child.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        self.child.signal(signal.SIGCONT)

    async def fault(self, kind: str, **fields: Any) -> None:
        """Have a fault from now on."""
        await self._control("POST", {"kind": kind, **fields})

    async def clear(self) -> None:
        """Have no faults any more."""
        await self._control("DELETE")

    async def faults_left(self) -> list[dict[str, Any]]:
        """The faults that still wait to strike."""
        found: list[dict[str, Any]] = (await self._control("GET"))["faults"]
        return found

    async def state(self) -> dict[str, Any]:
        """What the engine does."""
        return await self._call("GET", "/emulator/state")

    async def _control(self, method: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        return await self._call(method, _CONTROL, body)

    async def _call(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        async with self._client() as client:
            reply = await client.request(method, path, json=body)
        reply.raise_for_status()
        answer: dict[str, Any] = reply.json()
        return answer

    async def _is_serving(self) -> bool:
        try:
            async with self._client() as client:
                return (await client.get("/health")).status_code == 200
        except httpx.HTTPError:
            return False

    def _client(self) -> httpx.AsyncClient:
        # A connection for each call: a backend that was killed leaves none that is half dead.
        # Nothing here speaks TLS, and reading the system's certificates takes a while each time.
        return httpx.AsyncClient(
            base_url=self.member.url, timeout=5.0, trust_env=False, verify=False
        )


def _file_name(member: Member, is_eager: int) -> str:
    return f"{member.name}-made-eager.yaml" if is_eager else f"{member.name}.yaml"
