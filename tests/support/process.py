"""A gateway as a process of its own, for what only a process can show."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.support.gateway import GatewayClient
from tests.support.waiting import LIMIT_S, eventually

ROOT = Path(__file__).parents[2]
COMMAND = "from gateway.cli.main import main; main()"


def free_port(host: str = "127.0.0.1") -> int:
    """A port nobody listens on now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.bind((host, 0))
        return int(sock.getsockname()[1])


class GatewayProcess(GatewayClient):
    """A client of a gateway process, and the process."""

    def __init__(self, host: str, port: int, process: asyncio.subprocess.Process) -> None:
        super().__init__(host, port)
        self.process = process
        self.log = bytearray()

    async def read_log(self) -> None:
        assert self.process.stdout is not None
        while data := await self.process.stdout.read(1 << 16):
            self.log += data

    async def until_live(self, limit_s: float = LIMIT_S) -> None:
        async def is_live() -> bool:
            assert self.process.returncode is None, self.log.decode(errors="replace")
            try:
                return (await self.get("/livez")).status == 200
            except OSError:
                return False

        await eventually(is_live, limit_s)

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    async def exit_code(self, limit_s: float = LIMIT_S) -> int:
        return await asyncio.wait_for(self.process.wait(), limit_s)

    @property
    def text(self) -> str:
        """What the process has written so far."""
        return self.log.decode(errors="replace")


@asynccontextmanager
async def gateway_process(
    config: dict[str, Any],
    folder: Path,
    *arguments: str,
    host: str = "127.0.0.1",
    env: Mapping[str, str] | None = None,
    wait: bool = True,
) -> AsyncIterator[GatewayProcess]:
    """`ascend-gateway serve` over a routing file written into `folder`; stopped at the end."""
    file = folder / "routing.yaml"
    file.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    port = free_port(host)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", COMMAND, "serve", "--config-file", str(file)),
        *("--host", host, "--port", str(port), *arguments),
        cwd=ROOT,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state"), **(env or {})},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    gateway = GatewayProcess(host, port, process)
    reading = asyncio.create_task(gateway.read_log())
    try:
        if wait:
            await gateway.until_live()
            await gateway.until_probed()
        yield gateway
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await reading
