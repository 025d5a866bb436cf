"""One request on a connection of its own, as thin as it can be: the clients must not be slow."""

import asyncio
from collections.abc import Callable
from typing import cast

import httptools

from tests.bench.answer import Answer

_SHOWN_BYTES = 300


class Client(asyncio.Protocol):
    """Sends one request and reads its streamed answer; `ended` is set at the end of either."""

    def __init__(self, request: bytes, now: Callable[[], float]) -> None:
        self.answer = Answer()
        self.status = 0
        self.ended = asyncio.Event()
        self.end_at: float | None = None
        self._request = request
        self._now = now
        self._refusal = b""
        self._is_complete = False
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's by type.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(f"the answer is no HTTP: {error}")
        if self._is_complete:
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._is_complete:
            self._fail(f"the connection ended inside the answer: {exc}")

    def on_headers_complete(self) -> None:
        """The parser has read the head."""
        self.status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        """The parser has read a piece of the body."""
        if self.status == 200:
            self.answer.feed(body, self._now())
        else:
            self._refusal += body[:_SHOWN_BYTES]

    def on_message_complete(self) -> None:
        """The parser has read all."""
        self._is_complete = True
        if self.status != 200:
            shown = self._refusal[:_SHOWN_BYTES].decode(errors="replace")
            self.answer.error = f"status {self.status}: {shown}"

    def _fail(self, text: str) -> None:
        self.answer.error = self.answer.error or text
        self._end()

    def _end(self) -> None:
        if self.end_at is None:
            self.end_at = self._now()
        self.ended.set()
        if self._transport is not None:
            self._transport.close()


def http_request(port: int, body: bytes) -> bytes:
    """A chat request as bytes on the wire."""
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\n"
        f"host: 127.0.0.1:{port}\r\n"
        "content-type: application/json\r\n"
        "accept: text/event-stream\r\n"
        "connection: close\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
