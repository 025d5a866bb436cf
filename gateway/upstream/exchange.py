"""One request and its response, as its owner sees it."""

import asyncio
from types import TracebackType
from typing import Protocol, Self

from gateway.errors import ResponseCut, ResponseMalformed
from gateway.upstream.timer import PhaseLimits

__all__ = ["HIGH_WATER_BYTES", "Exchange", "Link", "PhaseLimits"]

# So much may wait for a reader before the backend's bytes stay in the kernel.
HIGH_WATER_BYTES = 64 * 1024


class Link(Protocol):
    """What an exchange needs of the connection that carries it."""

    authority: str

    def abort(self) -> None: ...

    def resume_reading(self) -> None: ...


class Exchange:
    """One request and its response on one connection.

    `status` and `headers` (names in lower case, order and duplicates kept) are set when `send`
    returns it. `reused` tells whether the connection had served another request before.
    `is_complete` is true once the whole response has arrived, whether or not it was read; the
    connection then no longer belongs to it. `was_paused` tells whether the backend ever had to wait
    for the reader. Read from one task at a time. Use it with `async
    with`: leaving the block aborts what is not complete.
    """

    __slots__ = (
        "_authority",
        "_fault",
        "_link",
        "_loop",
        "_waiter",
        "headers",
        "is_complete",
        "is_paused",
        "pieces",
        "reused",
        "status",
        "unread_bytes",
        "upload",
        "was_paused",
    )

    def __init__(
        self, link: Link, pieces: list[bytes], loop: asyncio.AbstractEventLoop, *, reused: bool
    ) -> None:
        self._link: Link | None = link
        self._authority = link.authority
        self._loop = loop
        self._fault: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None
        self.pieces = pieces
        self.reused = reused
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.is_complete = False
        self.is_paused = False
        self.was_paused = False
        self.unread_bytes = 0
        self.upload: asyncio.Task[None] | None = None

    async def read(self) -> bytes:
        """The next piece of the body as it came, without its transfer coding; b"" at the end.

        Pieces that came before a fault are given out first. Raises ResponseCut,
        ResponseMalformed or LimitReached. If the task is cancelled here, the exchange is aborted.
        """
        while not self.pieces:
            if self._fault is not None:
                raise self._fault
            if self.is_complete:
                return b""
            await self._wait()
        pieces = self.pieces
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self.unread_bytes = 0
        if self.is_paused:
            self.is_paused = False
            if self._link is not None:
                self._link.resume_reading()
        return data

    async def read_all(self, max_bytes: int) -> bytes:
        """The rest of the body; raises ResponseMalformed, and aborts, if it is longer."""
        parts: list[bytes] = []
        total_bytes = 0
        while data := await self.read():
            total_bytes += len(data)
            if total_bytes > max_bytes:
                self.abort()
                raise ResponseMalformed(
                    f"the answer of {self._authority} is longer than {max_bytes} bytes; raise the"
                    " limit for answers or ask for less"
                )
            parts.append(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def abort(self) -> None:
        """Close the socket now; does nothing to a complete exchange or a second time.

        Whoever still reads gets ResponseCut.
        """
        link = self._link
        if link is not None:
            self.pieces.clear()
            self.fail(ResponseCut(f"the exchange with {self._authority} was aborted by us"))
            link.abort()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.abort()
        if self.upload is not None:
            await self.upload_ended()

    # The rest is for the pool and the connection.

    async def head(self) -> None:
        """Wait until the final head is there; raises what ended the exchange before."""
        while self.status == 0:
            if self._fault is not None:
                raise self._fault
            await self._wait()

    async def upload_ended(self) -> None:
        """Stop the upload and wait until it has let go of the body's source."""
        if self.upload is not None and not self.upload.done():
            self.upload.cancel()
            await asyncio.wait([self.upload])

    def finish(self) -> None:
        """The response is whole; the connection goes its own way."""
        self.pieces = self.pieces.copy()  # the list itself belongs to the connection's parser
        self.is_complete = True
        self._link = None
        self.wake()

    def fail(self, fault: BaseException) -> None:
        """The exchange is over; the first fault is the one that counts."""
        if self._fault is None:
            self._fault = fault
        self._link = None
        self.wake()

    def wake(self) -> None:
        """Let the waiting task look again."""
        waiter = self._waiter
        if waiter is not None:
            self._waiter = None
            if not waiter.done():
                waiter.set_result(None)

    async def _wait(self) -> None:
        if self._waiter is not None:
            raise RuntimeError(f"two tasks read the answer of {self._authority} at once")
        waiter = self._waiter = self._loop.create_future()
        try:
            await waiter
        except BaseException:
            self._waiter = None
            self.abort()
            raise
