"""A gateway inside the test's own loop, on an ephemeral port, with clients for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import yaml

from gateway.app import build_gateway
from gateway.clock import Clock
from gateway.config.load import load_text
from gateway.server import Server
from gateway.settings import Settings
from tests.support import names, wire
from tests.support.metrics import Samples
from tests.support.rawclient import RawAnswer, RawConnection
from tests.support.waiting import LIMIT_S, eventually

CHAT = "/v1/chat/completions"
JSON = ("Content-Type", "application/json")


class GatewayClient:
    """What a test does with a running gateway, wherever it runs."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.base_url = f"http://{authority}"

    @property
    def openai_url(self) -> str:
        return f"{self.base_url}/v1"

    def connect(self) -> RawConnection:
        """A raw connection to the gateway; use as `async with`."""
        return RawConnection(self.host, self.port)

    async def raw(
        self,
        method: str,
        target: str,
        headers: wire.HeaderList = (),
        body: bytes | None = None,
        *,
        version: str = "1.1",
    ) -> RawAnswer:
        """One request on a connection of its own, the target sent exactly as given."""
        async with self.connect() as connection:
            await connection.request(method, target, headers, body, version=version)
            return await connection.read_answer(has_body=method != "HEAD")

    async def post(
        self, path: str, body: Any, headers: wire.HeaderList = (), *, content_type: str | None = ""
    ) -> RawAnswer:
        """POST JSON (or bytes as they are) on a connection of its own."""
        data = body if isinstance(body, bytes) else wire.compact(body)
        lines = list(headers)
        if content_type is not None:
            lines.append(("Content-Type", content_type) if content_type else JSON)
        return await self.raw("POST", path, lines, data)

    async def chat(self, model: Any, headers: wire.HeaderList = (), **fields: Any) -> RawAnswer:
        """One chat request for `model`."""
        return await self.post(CHAT, chat_request(model, **fields), headers)

    async def get(self, target: str, headers: wire.HeaderList = ()) -> RawAnswer:
        return await self.raw("GET", target, headers)

    async def health(self) -> Any:
        """The JSON of /health, whatever its status."""
        return (await self.get("/health")).json()

    async def metrics(self) -> Samples:
        answer = await self.get("/metrics")
        assert answer.status == 200
        return Samples.parse(answer.body.decode())

    async def in_flight(self) -> float:
        return (await self.metrics()).total(names.IN_FLIGHT)

    async def until_idle(self, limit_s: float = LIMIT_S) -> None:
        """Wait until no request holds a slot of any backend."""

        async def is_idle() -> bool:
            return await self.in_flight() == 0

        await eventually(is_idle, limit_s)

    async def until_probed(self, limit_s: float = LIMIT_S) -> None:
        """Wait until the state of every backend is known, up or down."""

        async def is_probed() -> bool:
            backends = (await self.health())["backends"].values()
            return all(one["state"] not in names.UNPROBED_STATES for one in backends)

        await eventually(is_probed, limit_s)


def chat_request(model: Any, **fields: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": "hi"}], **fields}


@asynccontextmanager
async def running_gateway(
    config: str | dict[str, Any], *, wait: bool = True, **settings: Any
) -> AsyncIterator[GatewayClient]:
    """A gateway over a routing file (text or tree); with `wait` its backends have been probed."""
    text = config if isinstance(config, str) else yaml.safe_dump(config, allow_unicode=True)
    loaded = load_text(text, "routing.yaml")
    assert loaded.config is not None, loaded.problems
    values: dict[str, Any] = {"host": "127.0.0.1", "port": 0, "access_log": False, **settings}
    gateway = build_gateway(Settings(**values), loaded.config, clock=Clock())
    server = Server(gateway)
    await server.start()
    client = GatewayClient(values["host"], server.port)
    try:
        if wait:
            await client.until_probed()
        yield client
    finally:
        await asyncio.wait_for(server.stop(), LIMIT_S)
