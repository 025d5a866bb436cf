"""A server whose every byte is scripted, and both event loops for every test in this folder."""

import asyncio
import math
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import pytest
import uvloop

from gateway.upstream.origin import Origin
from gateway.upstream.pool import BackendPool
from gateway.upstream.timer import PhaseLimits

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


class Peer:
    """One accepted socket, as a script sees it."""

    def __init__(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.number = number
        self.reader = reader
        self.writer = writer
        self.requests = 0

    async def head(self) -> bytes:
        """The next request's head; raises IncompleteReadError at the end."""
        data = await self.reader.readuntil(b"\r\n\r\n")
        self.requests += 1
        return data

    async def request(self) -> tuple[bytes, bytes]:
        """The next request with a content-length body."""
        head = await self.head()
        length = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return head, await self.reader.readexactly(length)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def closed(self) -> None:
        """Wait until the gateway has closed its end."""
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            pass

    def reset(self) -> None:
        """End with RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Script = Callable[[Peer], Awaitable[None]]


class Server:
    """Runs the script for each connection, closes the socket after it, remembers failures."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.peers: list[Peer] = []
        self.failures: list[BaseException] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self._server: asyncio.Server | None = None

    async def start(
        self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None, port: int = 0
    ) -> None:
        self._server = await asyncio.start_server(self._accept, host, port, ssl=tls)
        self.port = self._server.sockets[0].getsockname()[1]

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(len(self.peers), reader, writer)
        self.peers.append(peer)
        task = asyncio.get_running_loop().create_task(self._serve(peer))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _serve(self, peer: Peer) -> None:
        try:
            await self.script(peer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except Exception as error:
            self.failures.append(error)
        finally:
            peer.writer.close()

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self.tasks):
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks)
        for peer in self.peers:
            peer.writer.transport.abort()
        await asyncio.sleep(0)
        await self._server.wait_closed()
        assert self.failures == []


class Bench:
    """Starts servers and pools, and closes them after the test."""

    limits = PhaseLimits(connect_s=10, first_byte_s=20, between_s=20, total_s=60)
    endless = PhaseLimits(math.inf, math.inf, math.inf, math.inf)

    def __init__(self) -> None:
        self.servers: list[Server] = []
        self.pools: list[BackendPool] = []

    async def server(
        self, script: Script, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
    ) -> Server:
        server = Server(script)
        await server.start(host, tls)
        self.servers.append(server)
        return server

    def pool(self, server: Server | int, host: str = "127.0.0.1", **options: object) -> BackendPool:
        port = server if isinstance(server, int) else server.port
        return self.pool_at(Origin("http", host, port), **options)

    def pool_at(self, origin: Origin, **options: object) -> BackendPool:
        pool = BackendPool(origin, **options)  # type: ignore[arg-type]
        self.pools.append(pool)
        return pool

    async def serve(self, script: Script, **options: object) -> BackendPool:
        """A server and a pool for it in one."""
        return self.pool(await self.server(script), **options)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110 - most conditions have no event
                await asyncio.sleep(0.002)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    bench = Bench()
    yield bench
    for pool in bench.pools:
        async with asyncio.timeout(20):
            await pool.close(0)
        assert pool.stats().open == 0
        assert pool.stats().waiting == 0
    for server in bench.servers:
        await server.stop()
