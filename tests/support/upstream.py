"""A scripted vLLM server: real sockets, exact bytes, and a memory of everything it saw."""

import asyncio
import socket
from collections.abc import Callable
from types import TracebackType
from typing import Self

from tests.support import answers
from tests.support.connection import Connection, Exchange, Handler
from tests.support.waiting import Changes
from tests.support.wire import Request

__all__ = ["Exchange", "Handler", "ScriptedUpstream"]

PROBE_PATHS = frozenset({"/health", "/ping", "/version", "/load", "/metrics", "/v1/models"})


class ScriptedUpstream:
    """A vLLM stand-in on loopback that serves `names` and does what `handlers` say.

    The socket is bound at once, so that `url` is known; until `start` connections are refused.
    A handler is looked up by the request's path, then by "*" (not for probes), then among the
    usual answers.
    """

    def __init__(
        self,
        *names: str,
        host: str = "127.0.0.1",
        prefix: str = "",
        max_model_len: int = 4096,
        root: str = "/models/test",
        any_model: bool = False,
    ) -> None:
        self.names = names or ("m1",)
        self.prefix = prefix
        self.max_model_len = max_model_len
        self.root = root
        self.any_model = any_model
        self.handlers: dict[str, Handler] = {}
        self.requests: list[Request] = []
        self.probes: list[Request] = []
        self.connections: list[Connection] = []
        self.failures: list[Exception] = []
        self.treats_canary_alike = False
        self.live = 0
        self.most_carrying = 0
        self.bytes_written = 0
        self.changes = Changes()
        self.probe_paths = frozenset(prefix + path for path in PROBE_PATHS)
        self._server: asyncio.Server | None = None
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.bind((host, 0))
        self.host = host
        self.port: int = self._socket.getsockname()[1]

    def __repr__(self) -> str:
        return f"<ScriptedUpstream {self.authority} {self.names} seen={len(self.requests)}>"

    @property
    def authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.authority}{self.prefix}"

    @property
    def carrying_connections(self) -> int:
        """Open connections that have carried a request, probes aside."""
        return sum(one.is_open and one.carried_request for one in self.connections)

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def handler_for(self, request: Request) -> Handler:
        if self.is_canary(request) and not self.treats_canary_alike:
            return answers.usual
        path = request.path.removeprefix(self.prefix)
        any_path = None if self.is_probe(request) else self.handlers.get("*")
        return self.handlers.get(path) or any_path or answers.usual

    def is_probe(self, request: Request) -> bool:
        """Whether the gateway asks for itself, not for a client."""
        is_probe = request.method == "GET" and request.path in self.probe_paths
        return is_probe or self.is_canary(request)

    def is_canary(self, request: Request) -> bool:
        """Whether the gateway asks for tokens of its own."""
        return request.header("user-agent") == "ascend-gateway canary"

    async def until(self, condition: Callable[[], object], limit_s: float = 20.0) -> None:
        """Wait for a condition over this object's own state."""
        await self.changes.until(condition, limit_s)

    async def start(self) -> None:
        """Accept connections from now on."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._accept, sock=self._socket, backlog=4096)

    def _accept(self) -> Connection:
        return Connection(self, len(self.connections))

    async def stop(self) -> None:
        """Refuse connections and end the open ones; what was seen stays readable."""
        if self._server is None:
            self._socket.close()
            return
        self._server.close()
        for connection in self.connections:
            connection.drop()
        await self.until(lambda: all(connection.is_idle for connection in self.connections))
        await self._server.wait_closed()
        self._server = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
        if self.failures and error is None:
            raise self.failures[0]
