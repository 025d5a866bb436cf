"""One connection at the scripted server: requests in, bytes out, nothing hidden."""

import asyncio
import socket
import struct
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from tests.support import wire
from tests.support.wire import ChunkedBody, Request

if TYPE_CHECKING:
    from tests.support.upstream import ScriptedUpstream

HOLD_LIMIT_S = 60.0
DATE = "Mon, 30 Nov 2026 20:29:24 GMT"
STREAM_HEADERS = (
    ("date", DATE),
    ("server", "uvicorn"),
    ("content-type", "text/event-stream; charset=utf-8"),
    ("vary", "Origin"),
    ("transfer-encoding", "chunked"),
)


class Exchange:
    """One request at the scripted server, and the means to answer it byte by byte."""

    __slots__ = ("_connection", "request", "upstream")

    def __init__(
        self, upstream: "ScriptedUpstream", connection: "Connection", request: Request
    ) -> None:
        self.upstream = upstream
        self._connection = connection
        self.request = request

    async def write(self, data: bytes) -> None:
        """Send raw bytes; waits while the peer doesn't read."""
        await self._connection.write(data)

    async def answer(
        self,
        status: int,
        body: bytes = b"",
        *,
        content_type: str | None = "application/json",
        headers: wire.HeaderList = (),
    ) -> None:
        """A whole answer with a content-length, in one write."""
        lines = [("date", DATE), ("server", "uvicorn"), ("content-length", str(len(body)))]
        if content_type is not None:
            lines.append(("content-type", content_type))
        await self.write(wire.head(status, [*lines, *headers]) + body)

    async def start_stream(self, headers: wire.HeaderList = ()) -> None:
        """The head of an SSE answer as vLLM sends it."""
        await self.write(wire.head(200, [*STREAM_HEADERS, *headers]))

    async def event(self, data: bytes) -> None:
        """One event as a chunk of its own."""
        await self.write(wire.chunk(data))

    async def end_stream(self) -> None:
        await self.write(wire.LAST_CHUNK)

    async def stream(self, events: list[bytes], headers: wire.HeaderList = ()) -> None:
        """A whole SSE answer, an event a chunk."""
        await self.start_stream(headers)
        for one in events:
            await self.event(one)
        await self.end_stream()

    def reset(self) -> None:
        """End the connection with RST."""
        self._connection.reset()

    def close(self) -> None:
        """End the connection with FIN after what was written."""
        self._connection.close()

    async def peer_closed(self, limit_s: float = HOLD_LIMIT_S) -> float:
        """Wait until the peer has closed; returns when it did (monotonic seconds)."""
        connection = self._connection
        await self.upstream.until(lambda: connection.closed_at_s is not None, limit_s)
        assert connection.closed_at_s is not None
        return connection.closed_at_s


Handler = Callable[[Exchange], Awaitable[None]]


class Connection(asyncio.Protocol):
    """One accepted socket: parses requests, runs one handler at a time."""

    def __init__(self, upstream: "ScriptedUpstream", number: int) -> None:
        self.upstream = upstream
        self.number = number
        self.closed_at_s: float | None = None
        self.carried_request = False
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._open: Request | None = None
        self._chunked: ChunkedBody | None = None
        self._writable = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._writable.set()
        self.upstream.connections.append(self)
        self.upstream.changes.notify()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while self._task is None and (request := self._parse()) is not None:
            self._task = asyncio.get_running_loop().create_task(self._serve(request))

    def eof_received(self) -> bool:
        self._mark_closed()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._mark_closed()
        self._writable.set()
        self._transport = None
        if self._task is not None:
            self._task.cancel()
        self.upstream.changes.notify()

    def _mark_closed(self) -> None:
        if self.closed_at_s is None:
            self.closed_at_s = time.monotonic()
            self.upstream.changes.notify()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _parse(self) -> Request | None:
        """The next whole request in the buffer."""
        if self._open is None:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return None
            first, headers = wire.parse_head(bytes(self._buffer[:end]))
            del self._buffer[: end + 4]
            method, target, _ = first.split(" ")
            self._open = Request(method, target, headers, connection_id=self.number)
            self._chunked = ChunkedBody() if self._open.all("transfer-encoding") else None
        request = self._open
        if self._chunked is not None:
            request.body += self._chunked.feed(bytes(self._buffer))
            self._buffer.clear()
            if not self._chunked.is_complete:
                return None
            self._buffer += self._chunked.rest
        else:
            length = int(request.header("content-length") or 0)
            if len(self._buffer) < length:
                return None
            request.body = bytes(self._buffer[:length])
            del self._buffer[:length]
        self._open = None
        return request

    async def _serve(self, request: Request) -> None:
        upstream = self.upstream
        is_probe = upstream.is_probe(request)
        (upstream.probes if is_probe else upstream.requests).append(request)
        upstream.live += 0 if is_probe else 1
        self.carried_request = self.carried_request or not is_probe
        upstream.most_carrying = max(upstream.most_carrying, upstream.carrying_connections)
        upstream.changes.notify()
        try:
            await upstream.handler_for(request)(Exchange(upstream, self, request))
        except ConnectionError:
            pass  # the peer left; connection_lost has noted it
        except Exception as error:
            upstream.failures.append(error)
            self.reset()
        finally:
            upstream.live -= 0 if is_probe else 1
            self._task = None
            upstream.changes.notify()
        if "close" in request.all("connection"):
            self.close()
        elif self._buffer and self._transport is not None:
            self.data_received(b"")

    async def write(self, data: bytes) -> None:
        await self._writable.wait()
        if self._transport is None or self._transport.is_closing():
            raise ConnectionResetError("the peer closed")
        self._transport.write(data)
        self.upstream.bytes_written += len(data)
        await self._writable.wait()

    def reset(self) -> None:
        if self._transport is None:
            return
        sock = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def drop(self) -> None:
        """End everything now, the running handler too."""
        if self._transport is not None:
            self._transport.abort()

    @property
    def is_open(self) -> bool:
        return self._transport is not None

    @property
    def is_idle(self) -> bool:
        return not self.is_open and self._task is None
