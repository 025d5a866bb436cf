"""What a client sees of one answer, and when: for whole answers, first events and gaps."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

import httpx

from tests.chaos.judge import Observed

_END: Final = b"data: [DONE]"
_TAIL_BYTES: Final = 64


@dataclass(slots=True)
class Timed(Observed):
    """An answer with the moment of each of its events, in monotonic seconds."""

    events_s: list[float] = field(default_factory=list)

    def note_head(self, answer_id: str, model: str) -> None:
        """Take in whose event it is, and when it came."""
        self.events_s.append(time.monotonic())
        super(Timed, self).note_head(answer_id, model)


class Tails(httpx.AsyncBaseTransport):
    """Passes everything on and keeps the last bytes of each stream by its request id.

    The official client hides the end of a stream; here it can be seen that [DONE] came.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self._tails: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"<Tails {len(self._tails)} kept>"

    def is_done(self, request_id: str | None) -> bool:
        """Whether this stream ended with [DONE]; asked once."""
        return _END in self._tails.pop(request_id or "", b"")

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        request_id = response.headers.get("x-request-id")
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        if request_id and is_stream:
            assert isinstance(response.stream, httpx.AsyncByteStream)
            response.stream = _Tail(response.stream, self._tails, request_id)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Tail(httpx.AsyncByteStream):
    def __init__(
        self, inner: httpx.AsyncByteStream, tails: dict[str, bytes], request_id: str
    ) -> None:
        self._inner = inner
        self._tails = tails
        self._request_id = request_id

    async def __aiter__(self) -> AsyncIterator[bytes]:
        tail = b""
        async for piece in self._inner:
            tail = (tail + piece)[-_TAIL_BYTES:]
            self._tails[self._request_id] = tail
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
