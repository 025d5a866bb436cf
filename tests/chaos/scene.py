"""Everything a chaos run needs, started in order: reference, fleet, gateway."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import yaml

from tests.chaos.backend import BackendProcess
from tests.chaos.cases import Oracle, ask, ask_beforehand
from tests.chaos.fleet import (
    HOST,
    REFERENCE,
    fleet_members,
    free_port,
    reference_member,
    routing_file,
)
from tests.support.children import Child

READY_LIMIT_S: Final = 60.0
_PROBE_INTERVAL_S: Final = 0.5
_PROBE_TIMEOUT_S: Final = 1.0
_CRASHES: Final = ("request_crashed", "loop_crashed")


@dataclass(frozen=True, slots=True)
class Scene:
    """The running parts."""

    backends: Mapping[str, BackendProcess]
    gateway: Child
    base_url: str
    oracle: Oracle

    def crash_lines(self) -> int:
        """Lines of the gateway's log that tell of a crash of its own."""
        text = self.gateway.log.read_text(encoding="utf-8", errors="replace")
        return sum(any(word in line for word in _CRASHES) for line in text.splitlines())


async def set_up(folder: Path, children: list[Child], seed: int) -> Scene:
    """Start all parts; RuntimeError when one does not come up or says something else."""
    oracle = await know_beforehand(folder, children, seed)
    members = fleet_members()
    backends = {member.name: BackendProcess(member, folder) for member in members}
    children.extend(backend.child for backend in backends.values())
    await asyncio.gather(*(backend.start() for backend in backends.values()))
    await asyncio.gather(*(_compare(backend, oracle) for backend in backends.values()))
    gateway, base_url = _start_gateway(folder, children, yaml.safe_dump(routing_file(members)))
    await _until_ready(gateway, base_url)
    return Scene(backends, gateway, base_url, oracle)


async def know_beforehand(folder: Path, children: list[Child], seed: int) -> Oracle:
    """Ask a backend that nobody disturbs, and end it."""
    reference = BackendProcess(reference_member(), folder)
    children.append(reference.child)
    await reference.start()
    oracle = await ask_beforehand(reference.member.url, REFERENCE, seed)
    await reference.terminate()
    return oracle


async def _compare(backend: BackendProcess, oracle: Oracle) -> None:
    """The text must not depend on the backend."""
    member = backend.member
    some = [*oracle.of_kind(is_chat=True)[:2], *oracle.of_kind(is_chat=False)[:2]]
    async with httpx.AsyncClient(base_url=member.url, trust_env=False, timeout=60) as client:
        found = await asyncio.gather(*(ask(client, case, member.served_name) for case in some))
    if found != [oracle.expected(case) for case in some]:
        raise RuntimeError(f"backend {member.name} does not say what the reference says")


def _start_gateway(folder: Path, children: list[Child], routing: str) -> tuple[Child, str]:
    file = folder / "routing.yaml"
    file.write_text(routing, encoding="utf-8")
    gateway = Child("gateway", folder)
    children.append(gateway)
    port = free_port()
    gateway.start(
        *("serve", "--config-file", str(file), "--host", HOST, "--port", str(port)),
        *("--probe-interval-s", str(_PROBE_INTERVAL_S)),
        *("--probe-timeout-s", str(_PROBE_TIMEOUT_S), "--no-access-log"),
    )
    return gateway, f"http://{HOST}:{port}"


async def _until_ready(gateway: Child, base_url: str) -> None:
    deadline = time.monotonic() + READY_LIMIT_S
    async with httpx.AsyncClient(base_url=base_url, trust_env=False, timeout=5) as client:
        while not await _is_ready(client):
            if not gateway.is_running:
                raise RuntimeError(f"the gateway ended:\n{gateway.tail()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"the gateway is not ready:\n{gateway.tail()}")
            await asyncio.sleep(0.05)


async def _is_ready(client: httpx.AsyncClient) -> bool:
    try:
        told = (await client.get("/health")).json()
    except (httpx.HTTPError, ValueError):
        return False
    return all(backend["state"] == "up" for backend in told["backends"].values())
