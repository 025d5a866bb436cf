"""The processes of a measurement: emulated engines, gateways, a store, a balancer."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import httpx
import yaml

from tests.support.children import Child, last_lines, spawn

HOST: Final = "127.0.0.1"
MODEL: Final = "qwen3.5-9b"
CAP: Final = 8
EVENTS_PER_S: Final = 20.0
"""Tokens of one stream a second: less than half of what an A2 card makes, for two cores."""

_LIMIT_S: Final = 60.0
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in found]


async def until(
    what: str, condition: Callable[[], Awaitable[bool]], limit_s: float = _LIMIT_S
) -> float:
    """Waits for a condition; seconds that it took. RuntimeError after the limit."""
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    while not await condition():
        if loop.time() - began_s > limit_s:
            raise RuntimeError(f"{what}: not within {limit_s:g} s")
        await asyncio.sleep(0.02)
    return loop.time() - began_s


class Program:
    """Another program, such as redis-server, whose output goes to a log file."""

    def __init__(self, name: str, command: list[str], folder: Path) -> None:
        self.name = name
        self.command = command
        self.log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        if shutil.which(self.command[0]) is None:
            raise RuntimeError(
                f"{self.command[0]} is missing; apt-get install redis-server haproxy"
            )
        self._process = spawn(self.command, self.log)

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()

    def tail(self) -> str:
        return last_lines(self.log, 15)


class Stage:
    """What a measurement starts; all of it is dead at the end.

    The engine at `oracle_port` is in no routing file: it is asked what answers must be.
    """

    def __init__(self, folder: Path, engines: int) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.children: list[Child] = []
        self.programs: list[Program] = []
        *self.ports, self.oracle_port = free_ports(engines + 1)
        self.client = httpx.AsyncClient(timeout=10.0, trust_env=False, verify=False)
        self.routing = folder / "routing.yaml"
        self.routing.write_text(yaml.safe_dump(self._routing()), encoding="utf-8")
        self._engines = folder / "engines.yaml"
        self._engines.write_text(yaml.safe_dump(self._fleet()), encoding="utf-8")

    async def start_engines(self) -> None:
        """All engines in one process."""
        child = self._child("engines")
        child.start("emulate", str(self._engines))
        await until("the engines", lambda: self._answers(self.oracle_port, "/health"))

    async def gateway(self, name: str, port: int, *options: str, store: str = "") -> Child:
        """A gateway that is ready; started again, it keeps its name and log."""
        child = next((c for c in self.children if c.name == name), None) or self._child(name)
        child.start(
            *("serve", "--config-file", str(self.routing), "--host", HOST, "--port", str(port)),
            *("--no-access-log", "--state-dir", str(self.folder / name), *options),
            env={"ASCEND_GATEWAY_STORE_URL": store} if store else {},
        )
        await until(f"gateway {name}", lambda: self._answers(port, "/readyz"))
        return child

    async def redis(self, name: str, port: int, *options: str) -> Program:
        """A redis-server of its own without persistence."""
        folder = self.folder / f"{name}-data"
        folder.mkdir()
        command = ["redis-server", "--port", str(port), "--bind", HOST, "--save", ""]
        program = Program(name, [*command, "--dir", str(folder), *options], self.folder)
        self.programs.append(program)
        program.start()
        await until(name, lambda: listens(port))
        return program

    def program(self, name: str, command: list[str]) -> Program:
        program = Program(name, command, self.folder)
        self.programs.append(program)
        program.start()
        return program

    async def most_running(self) -> int:
        """The most requests that any engine ever had at once."""
        states = await asyncio.gather(*(self._state(port) for port in self.ports))
        return max(int(state["max_running"]) for state in states)

    async def health(self, port: int) -> dict[str, Any]:
        found: dict[str, Any] = (await self.client.get(f"http://{HOST}:{port}/health")).json()
        return found

    async def metric(self, port: int, name: str) -> float:
        text = (await self.client.get(f"http://{HOST}:{port}/metrics")).text
        lines = (line.split() for line in text.splitlines() if line.startswith(name))
        return sum(float(parts[-1]) for parts in lines)

    async def is_store(self, ports: list[int], status: str, others: int | None = None) -> bool:
        """Whether the gateways say so of the store, and of so many others."""
        for port in ports:
            try:
                store = (await self.health(port))["store"]
            except (httpx.HTTPError, ValueError, KeyError):
                return False
            if store["status"] != status or others not in (None, len(store["replicas"])):
                return False
        return True

    async def close(self) -> None:
        await self.client.aclose()
        for child in self.children:
            child.kill()
        for program in self.programs:
            program.kill()

    def _child(self, name: str) -> Child:
        child = Child(name, self.folder)
        self.children.append(child)
        return child

    async def _state(self, port: int) -> dict[str, Any]:
        answer = await self.client.get(f"http://{HOST}:{port}/emulator/state")
        found: dict[str, Any] = answer.json()
        return found

    async def _answers(self, port: int, path: str) -> bool:
        try:
            return (await self.client.get(f"http://{HOST}:{port}{path}")).status_code == 200
        except httpx.HTTPError:
            return False

    def _fleet(self) -> dict[str, Any]:
        # The engines could run more than the routing file says, so that too many would be seen.
        return {
            "backends": [
                {
                    "name": f"e{number}",
                    "port": port,
                    "preset": "a2-9b",
                    "time_scale": EVENTS_PER_S / 46.0,
                    "served_names": [MODEL],
                    "max_model_len": 32768,
                }
                for number, port in enumerate([*self.ports, self.oracle_port])
            ]
        }

    def _routing(self) -> dict[str, Any]:
        return {
            "version": 1,
            "health": {"longest_step_s": 20},
            "queue": {"max_wait_s": 300, "max_requests": 2000},
            "backends": [
                {
                    "name": f"e{number}",
                    "url": f"http://{HOST}:{port}",
                    "served_name": MODEL,
                    "tier": "graph",
                    "chip": "A2",
                    "capture_sizes": [1, 2, 4, CAP],
                    "max_num_seqs": CAP,
                }
                for number, port in enumerate(self.ports)
            ],
            "models": [{"name": MODEL, "backends": [f"e{n}" for n in range(len(self.ports))]}],
        }


async def listens(port: int) -> bool:
    """Whether somebody accepts connections there."""
    try:
        _, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return False
    writer.close()
    return True


def cpu_s(pid: int | None) -> float:
    """CPU seconds of a process so far."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S
