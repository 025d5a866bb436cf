"""uvicorn's HTTP protocol with what a gateway needs beyond it.

- The flow learns at once, and without a task per request, that a client has closed.
- Heads of requests are bounded, and broken ones get the envelope instead of plain text.
- Answers are written by our own cycle.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from gateway.api.http_cycle import GatewayCycle
from gateway.flow.call import CONNECTION
from gateway.protocol.chunks import Protocol
from gateway.protocol.envelope import ErrorView, error_body


class GatewayHttpProtocol(HttpToolsProtocol):
    """One connection of a client."""

    max_header_bytes = 64 * 1024

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._on_gone: Callable[[], None] | None = None
        self._header_bytes = 0

    def watch(self, on_gone: Callable[[], None]) -> None:
        """Calls `on_gone` once when the client has closed; soon if it already has."""
        if self.transport.is_closing():
            self.loop.call_soon(on_gone)
            return
        self._on_gone = on_gone
        # Only a connection that is read can be seen to close.
        self.flow.resume_reading()

    def unwatch(self) -> None:
        """Forgets the watcher."""
        self._on_gone = None

    def drop(self) -> None:
        """Closes the connection now, whatever is still to be written."""
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has closed, or we have."""
        super().connection_lost(exc)
        on_gone, self._on_gone = self._on_gone, None
        if on_gone is not None:
            on_gone()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._header_bytes = 0
        scope: dict[str, Any] = self.scope  # type: ignore[assignment]
        scope[CONNECTION] = self

    def on_url(self, url: bytes) -> None:
        """A part of the request's target."""
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header of the request."""
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))
        self._header_bytes += len(name) + len(value) + 4
        if self._header_bytes > self.max_header_bytes:
            self._count_head(0)

    def on_headers_complete(self) -> None:
        """The head of the request is whole."""
        super().on_headers_complete()
        GatewayCycle.take_over(self.cycle)

    def send_400_response(self, msg: str) -> None:
        """Tells a client that what it sent is not HTTP."""
        view = ErrorView(400, f"{msg} Send a valid HTTP/1.1 request.", _INVALID, "invalid_http")
        self._refuse(b"400 Bad Request", view)

    def _count_head(self, more_bytes: int) -> None:
        self._header_bytes += more_bytes
        if self._header_bytes > self.max_header_bytes and not self.transport.is_closing():
            message = f"The head of the request is larger than {self.max_header_bytes} bytes."
            view = ErrorView(431, message, _INVALID, "headers_too_large")
            self._refuse(b"431 Request Header Fields Too Large", view)

    def _refuse(self, status: bytes, view: ErrorView) -> None:
        body = error_body(view, Protocol.GENERIC)
        head = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
        self.transport.write(head % (status, len(body)) + b"connection: close\r\n\r\n" + body)
        self.transport.close()


_INVALID = "invalid_request_error"
