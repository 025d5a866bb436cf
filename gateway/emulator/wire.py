"""The server side of HTTP/1.1 as uvicorn speaks it, with the means to misbehave on purpose."""

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from urllib.parse import unquote

import httptools

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class HttpRequest:
    """One request as it came in. Header names are in lower case; the last of equal ones counts."""

    method: str
    target: str
    path: str
    version: str
    raw_headers: tuple[tuple[str, str], ...]
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    keep_alive: bool = True


Handler = Callable[[HttpRequest, "Exchange"], Awaitable[None]]


class Connection(asyncio.Protocol):
    """One client connection: parses requests and runs one handler at a time."""

    def __init__(
        self, handler: Handler, open_connections: set["Connection"], keep_alive_s: float
    ) -> None:
        self._handler = handler
        self._open = open_connections
        self._keep_alive_s = keep_alive_s
        self._parser = httptools.HttpRequestParser(self)
        self._loop = asyncio.get_running_loop()
        self._queue: deque[HttpRequest] = deque()
        self._task: asyncio.Task[None] | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self.transport: asyncio.Transport | None = None
        self.silent = False
        """Keep the connection open, read nothing more and write nothing."""

    # -- asyncio.Protocol ---------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport, which asyncio promises to be one for streams."""
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "write")
        self.transport = transport  # type: ignore[assignment]
        sock = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone: whatever runs for it is cancelled."""
        self.transport = None
        self._open.discard(self)
        self._stop_idle_timer()
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        """Parse; answer 400 to what is not HTTP, as uvicorn does."""
        self._stop_idle_timer()
        if self.silent:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._bad_request()
        except httptools.HttpParserError:
            self._bad_request()

    # -- httptools callbacks ------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request line follows."""
        self._target, self._headers, self._body = b"", [], []

    def on_url(self, url: bytes) -> None:
        """A piece of the target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header."""
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Say `100 Continue` to a client that waits for it."""
        if (b"expect", b"100-continue") in [(n, v.lower()) for n, v in self._headers]:
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._body.append(body)

    def on_message_complete(self) -> None:
        """A whole request; it waits while another one is being answered."""
        raw = tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in self._headers)
        target = self._target.decode("latin-1")
        request = HttpRequest(
            method=self._parser.get_method().decode("latin-1"),
            target=target,
            path=unquote(target.partition("?")[0]),
            version=self._parser.get_http_version(),
            raw_headers=raw,
            headers=dict(raw),
            body=b"".join(self._body),
            keep_alive=self._parser.should_keep_alive(),
        )
        self._queue.append(request)
        self._next()

    # -- what exchanges use -------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes; nothing happens when the client is gone."""
        if self.transport is not None and not self.silent and not self.transport.is_closing():
            self.transport.write(data)

    def close(self) -> None:
        """End the connection with FIN after what was written."""
        if self.transport is not None:
            self.transport.close()

    def reset(self) -> None:
        """End the connection with RST; unsent bytes are lost."""
        if self.transport is not None:
            sock = self.transport.get_extra_info("socket")
            if sock is not None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            self.transport.abort()

    def exchange_ended(self, *, keep_alive: bool) -> None:
        """An answer is complete: close, take the next request, or wait for one."""
        if not keep_alive:
            self.close()
        elif self.transport is not None:
            self._stop_idle_timer()
            self._idle_timer = self._loop.call_later(self._keep_alive_s, self._idle)

    def _next(self) -> None:
        if self._task is None and self._queue and not self.silent:
            self._stop_idle_timer()
            request = self._queue.popleft()
            exchange = Exchange(self, request)
            self._task = self._loop.create_task(self._run(request, exchange))
            self._task.add_done_callback(self._done)

    async def _run(self, request: HttpRequest, exchange: "Exchange") -> None:
        await self._handler(request, exchange)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled() and task.exception() is not None:
            self._loop.call_exception_handler(
                {"message": "emulator handler failed", "exception": task.exception()}
            )
            self.reset()
        if self.transport is not None and not self.transport.is_closing():
            self._next()

    def _idle(self) -> None:
        if self._task is None:
            self.close()

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _bad_request(self) -> None:
        text = b"Invalid HTTP request received."
        self.write(head(400, ("content-type: text/plain; charset=utf-8",), len(text), close=True))
        self.write(text)
        self.close()


class Exchange:
    """The answer to one request. Write a whole answer, or start, chunks and end."""

    __slots__ = ("_chunked", "_keep_alive", "connection", "ended", "request", "started")

    def __init__(self, connection: Connection, request: HttpRequest) -> None:
        self.connection = connection
        self.request = request
        self.started = False
        self.ended = False
        self._keep_alive = request.keep_alive
        self._chunked = request.version == "1.1"

    def send(
        self, status: int, body: bytes, headers: Iterable[str] = (), *, shown_length: int = -1
    ) -> None:
        """A whole answer. `shown_length` other than the body's makes an incomplete one."""
        length = len(body) if shown_length < 0 else shown_length
        self.started = True
        content = b"" if self.request.method == "HEAD" else body
        top = head(status, headers, length, close=not self._keep_alive)
        self.connection.write(top + content)
        if shown_length < 0:
            self._end()

    def start(self, status: int, headers: Iterable[str]) -> None:
        """The head of a chunked answer (ended by the close of the connection for HTTP/1.0)."""
        self.started = True
        top = head(status, headers, None, close=not self._keep_alive, chunked=self._chunked)
        self.connection.write(top)

    def chunk(self, data: bytes) -> None:
        """One chunk."""
        if self._chunked:
            data = b"%x\r\n%b\r\n" % (len(data), data)
        self.connection.write(data)

    def end(self) -> None:
        """The last chunk."""
        if self._chunked:
            self.connection.write(b"0\r\n\r\n")
        else:
            self._keep_alive = False
        self._end()

    def _end(self) -> None:
        self.ended = True
        self.connection.exchange_ended(keep_alive=self._keep_alive)


def head(
    status: int,
    headers: Iterable[str],
    length: int | None,
    *,
    close: bool,
    chunked: bool = False,
) -> bytes:
    """The head of an answer, its headers in uvicorn's order."""
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        f"date: {formatdate(usegmt=True)}",
        "server: uvicorn",
    ]
    own = list(headers)
    lines += [line for line in own if line.startswith(("allow:", "access-control-"))]
    if length is not None:
        lines.append(f"content-length: {length}")
    lines += [line for line in own if not line.startswith(("allow:", "access-control-"))]
    lines.append("vary: Origin")
    if close:
        lines.append("connection: close")
    if chunked:
        lines.append("transfer-encoding: chunked")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class OpenConnections(set[Connection]):
    """The open connections; `are_closed` is set while there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.are_closed = asyncio.Event()
        self.are_closed.set()

    def add(self, connection: Connection, /) -> None:
        super().add(connection)
        self.are_closed.clear()

    def discard(self, connection: object, /) -> None:
        super().discard(connection)
        if not self:
            self.are_closed.set()
