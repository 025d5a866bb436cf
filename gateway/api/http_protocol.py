"""uvicorn's HTTP protocol with what a gateway needs beyond it.

- The flow learns at once, and without a task per request, that a client has closed.
- Heads of requests are bounded in size and time, and broken ones get the envelope instead of plain
  text.
- An offer to switch to another protocol (the JDK's client offers h2c with its first request) is
  passed over, as RFC 9110 §7.8 allows; httptools alone would stop reading there and lose the body.
- Answers are written by our own cycle.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from gateway.api.http_cycle import GatewayCycle
from gateway.errors import Outcome, Refusal
from gateway.flow.call import CONNECTION
from gateway.protocol.chunks import Protocol
from gateway.protocol.envelope import ErrorView, error_body


class GatewayHttpProtocol(HttpToolsProtocol):
    """One connection of a client."""

    max_header_bytes = 64 * 1024
    max_head_s = 30.0

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
        self._open_head_bytes = 0
        self._heads_total = 0
        self._is_in_head = True
        self._is_head_begun = False
        self._has_offer = False
        self._head_timer: asyncio.TimerHandle | None = None

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

    @property
    def is_writable(self) -> bool:
        """Whether bytes can be written at once."""
        return not (self.flow.write_paused or self.transport.is_closing())

    def drop(self) -> None:
        """Closes the connection now, whatever is still to be written."""
        self.transport.abort()

    def shutdown(self) -> None:
        """The server stops: an idle connection closes, a busy one after its answer.

        A client behind TLS may be too idle to answer the goodbye, which is not waited for long.
        """
        super().shutdown()
        if self.scheme == "https" and self.transport.is_closing():
            self.loop.call_later(_GOODBYE_S, self.transport.abort)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected; its first head must come in time."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has closed, or we have."""
        super().connection_lost(exc)
        self._head_came()
        on_gone, self._on_gone = self._on_gone, None
        if on_gone is not None:
            on_gone()

    def data_received(self, data: bytes) -> None:
        """Bytes of the client."""
        heads, was_in_head = self._heads_total, self._is_in_head
        if self.timeout_keep_alive_task is not None:
            self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except (httptools.HttpParserUpgrade, httptools.HttpParserError) as stop:
            self._go_on(data, stop)
        if self._is_in_head and not self.transport.is_closing():
            if was_in_head and heads == self._heads_total:
                # A header without an end is not seen by `on_header`.
                self._open_head_bytes += len(data)
                if self._open_head_bytes > self.max_header_bytes:
                    self._refuse_head()
            if self._head_timer is None and self._is_head_begun:
                self._expect_head()

    def _go_on(self, data: bytes, stop: Exception) -> None:
        """After the parser stopped: past an offer to switch, or with an answer that ends it."""
        while isinstance(stop, httptools.HttpParserUpgrade):
            if self.parser.get_method() == b"CONNECT":
                self.send_400_response("This is no proxy, so CONNECT has no meaning here.")
                return
            data = self._head_without_offer() + data[stop.args[0] :]
            self.parser = _parser(self)
            try:
                self.parser.feed_data(data)
                return
            except (httptools.HttpParserUpgrade, httptools.HttpParserError) as again:
                stop = again
        self.send_400_response("Invalid HTTP request received.")

    def _head_without_offer(self) -> bytes:
        version = self.parser.get_http_version().encode("ascii")
        lines = [b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, version)]
        self._has_offer = False
        for name, value in self.headers:
            if name in _OFFER_HEADERS:
                continue
            if name == b"connection":
                tokens = [t.strip() for t in value.split(b",")]
                value = b", ".join([t for t in tokens if t.lower() not in _OFFER_HEADERS])
            lines.append(b"%b: %b\r\n" % (name, value))
        return b"".join(lines) + b"\r\n"

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._header_bytes = self._open_head_bytes = 0
        self._is_in_head = self._is_head_begun = True
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
        if self.parser.should_upgrade():
            self._has_offer = True
            return
        self._heads_total += 1
        self._is_in_head = self._is_head_begun = False
        if self._head_timer is not None:
            self._head_came()
        super().on_headers_complete()
        GatewayCycle.take_over(self.cycle)

    def on_message_complete(self) -> None:
        """The request is whole; what comes next is another one's head."""
        if self._has_offer:
            return
        self._is_in_head = True
        self._open_head_bytes = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Tells a client that what it sent is not HTTP."""
        self._refuse(Refusal(Outcome.HTTP_INVALID, f"{msg} Send a valid HTTP/1.1 request."))

    def _expect_head(self) -> None:
        self._head_timer = self.loop.call_later(self.max_head_s, self._head_is_late)

    def _head_came(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        if not self._is_head_begun:
            self.transport.close()
            return
        told = (
            f"The head of the request did not arrive within {self.max_head_s:g} s. Send it again."
        )
        self._refuse(Refusal(Outcome.HEAD_TOO_SLOW, told))

    def _count_head(self, more_bytes: int) -> None:
        self._header_bytes += more_bytes
        if self._header_bytes > self.max_header_bytes:
            self._refuse_head()

    def _refuse_head(self) -> None:
        if self.transport.is_closing():
            return
        message = f"The head of the request is larger than {self.max_header_bytes} bytes."
        self._refuse(Refusal(Outcome.HEAD_TOO_LARGE, message))

    def _refuse(self, refusal: Refusal) -> None:
        view = ErrorView.of(refusal)
        body = error_body(view, Protocol.GENERIC)
        head = b"%bcontent-type: application/json\r\ncontent-length: %d\r\n"
        self.transport.write(head % (STATUS_LINE[view.status], len(body)) + _LAST + body)
        self.transport.close()


def _parser(protocol: GatewayHttpProtocol) -> httptools.HttpRequestParser:
    parser = httptools.HttpRequestParser(protocol)
    # As uvicorn's own: bytes after a `connection: close` are passed over, not an error.
    parser.set_dangerous_leniencies(lenient_data_after_close=True)
    return parser


_GOODBYE_S: Final = 0.5
_LAST: Final = b"connection: close\r\n\r\n"
_OFFER_HEADERS: Final = frozenset({b"upgrade", b"http2-settings"})
