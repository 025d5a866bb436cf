"""The emulated servers of a storm, as processes, and what reached them."""

import asyncio
import time
from pathlib import Path
from typing import Any, Final

import httpx
import yaml

from tests.storm.fleet import HOST, HOSTS, RECORD_LIMIT, SERVERS, Ports, fleet_tree
from tests.support.children import Child

START_LIMIT_S: Final = 30.0
_POLL_S: Final = 0.02


class Servers:
    """All emulated servers, a few in each process."""

    def __init__(self, folder: Path, ports: Ports, time_scale: float) -> None:
        self.ports = ports
        self.children = {host: Child(host, folder) for host in HOSTS}
        self._files = {host: folder / f"{host}.yaml" for host in HOSTS}
        for host, file in self._files.items():
            file.write_text(yaml.safe_dump(fleet_tree(host, ports, time_scale)), encoding="utf-8")
        # Nothing here speaks TLS, and reading the system's certificates takes a while.
        self._client = httpx.AsyncClient(timeout=5.0, trust_env=False, verify=False)

    def __repr__(self) -> str:
        return f"<Servers {dict(self.ports)}>"

    def url(self, server: str) -> str:
        return f"http://{HOST}:{self.ports[server]}"

    async def start(self) -> None:
        """Start all; RuntimeError when one does not come up."""
        for host, child in self.children.items():
            child.start("emulate", str(self._files[host]))
        await asyncio.gather(*(self._until_serving(one.name, one.host) for one in SERVERS))

    async def close(self) -> None:
        await self._client.aclose()

    async def seen(self, server: str) -> int:
        """How many requests have reached it, probes included."""
        return int((await self._state(server))["requests_seen"])

    async def questions_since(self, server: str, seen: int) -> list[str]:
        """The questions (not the probes) among what reached it since then, as far as it knows."""
        state = await self._state(server)
        news = min(state["requests_seen"] - seen, RECORD_LIMIT)
        records = state["requests"][-news:] if news > 0 else []
        return [f"{r['path']} {r['x_request_id']}" for r in records if r["method"] == "POST"]

    async def _state(self, server: str) -> dict[str, Any]:
        reply = await self._client.get(f"{self.url(server)}/emulator/state")
        reply.raise_for_status()
        found: dict[str, Any] = reply.json()
        return found

    async def _until_serving(self, server: str, host: str) -> None:
        child = self.children[host]
        deadline = time.monotonic() + START_LIMIT_S
        while not await self._is_serving(server):
            if not child.is_running:
                raise RuntimeError(f"the emulator {host} ended:\n{child.tail()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"server {server} does not serve after {START_LIMIT_S:g} s")
            await asyncio.sleep(_POLL_S)

    async def _is_serving(self, server: str) -> bool:
        try:
            reply = await self._client.get(f"{self.url(server)}/health")
        except httpx.HTTPError:
            return False
        return reply.status_code == 200


class Removed:
    """Servers that left the routing file, and the questions that reached them all the same."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._seen: dict[str, int] = {}
        self.questions: list[str] = []

    def __repr__(self) -> str:
        return f"<Removed {sorted(self._seen)} questions={len(self.questions)}>"

    async def confirmed(self, serving: frozenset[str]) -> None:
        """A reload was confirmed: from now on nothing may go anywhere else than to these."""
        gone = [one.name for one in SERVERS if one.name not in serving | set(self._seen)]
        for name in gone:
            self._seen[name] = await self._servers.seen(name)

    async def returning(self, serving: frozenset[str]) -> None:
        """These may be used from now on: look at those that were away one last time."""
        await self.look()
        for name in serving & set(self._seen):
            del self._seen[name]

    async def look(self) -> None:
        """Note the questions that have reached removed servers since the last look."""
        for name, seen in self._seen.items():
            found = await self._servers.questions_since(name, seen)
            self.questions += [f"{name}: {question}" for question in found]
            if found:
                self._seen[name] = await self._servers.seen(name)

    async def requests(self) -> int:
        """All that has ever reached the removed ones, probes included."""
        return sum([await self._servers.seen(name) for name in self._seen])
