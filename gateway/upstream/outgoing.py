"""The sending side of one connection: what was written, what the kernel has not taken yet."""

import asyncio

from gateway.upstream.exchange import HIGH_WATER_BYTES


class Outgoing:
    """Writes requests and knows when they have left. `is_sent` is true once the last one has."""

    __slots__ = ("_drained", "_is_flushing", "_is_paused", "_loop", "_unsent_bytes", "is_sent")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._drained: asyncio.Future[None] | None = None
        self._is_paused = False
        self._is_flushing = False
        self._unsent_bytes = 0
        self.is_sent = False

    def __repr__(self) -> str:
        return f"<Outgoing sent={self.is_sent} paused={self._is_paused}>"

    def begin(
        self, transport: asyncio.Transport, head: bytes, body: bytes, *, has_upload: bool
    ) -> bool:
        """Writes a request, its body unless an upload follows; whether all of it has left."""
        if len(body) <= HIGH_WATER_BYTES:
            transport.write(head + body if body else head)
        else:
            transport.write(head)
            transport.write(body)
        self.is_sent = not (has_upload or self._is_paused)
        if not self.is_sent:
            self._is_flushing = not has_upload
            self._unsent_bytes = transport.get_write_buffer_size()
        return self.is_sent

    async def write(self, transport: asyncio.Transport, data: bytes) -> None:
        """Writes a part of the body and waits while the backend takes no more."""
        transport.write(data)
        self._unsent_bytes = transport.get_write_buffer_size()
        if self._is_paused:
            self._drained = self._loop.create_future()
            await self._drained

    def end_of_body(self) -> bool:
        """The upload has written all; whether it has also left."""
        self.is_sent = not self._is_paused
        self._is_flushing = self._is_paused
        return self.is_sent

    def pause(self) -> None:
        """The transport's buffer is full."""
        self._is_paused = True

    def resume(self) -> bool:
        """The buffer has room again; whether a whole request has left with that."""
        self._is_paused = False
        self.close()
        has_left, self._is_flushing = self._is_flushing, False
        self.is_sent = self.is_sent or has_left
        return has_left

    def close(self) -> None:
        """Lets go of who waits for room."""
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None

    def is_moving(self, transport: asyncio.Transport) -> bool:
        """Whether the backend has taken bytes since the last look."""
        unsent_bytes = transport.get_write_buffer_size()
        has_moved = unsent_bytes < self._unsent_bytes
        self._unsent_bytes = min(self._unsent_bytes, unsent_bytes)
        return has_moved
