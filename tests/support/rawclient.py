"""An HTTP client that hides nothing: exact bytes out, exact bytes in, with arrival times."""

import asyncio
import json
import socket
import struct
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from tests.support import wire
from tests.support.waiting import LIMIT_S
from tests.support.wire import ChunkedBody


@dataclass(slots=True)
class RawAnswer:
    """An answer as it came; `pieces` are (monotonic seconds, decoded body bytes)."""

    version: str
    status: int
    headers: list[tuple[str, str]]
    interim: list[int] = field(default_factory=list)
    pieces: list[tuple[float, bytes]] = field(default_factory=list)
    is_complete: bool = False
    arrived_at_s: float = 0.0

    @property
    def body(self) -> bytes:
        return b"".join(data for _, data in self.pieces)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def header(self, name: str) -> str | None:
        values = self.all(name)
        assert len(values) <= 1, f"{name} came {len(values)} times: {values}"
        return values[0] if values else None

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        """The error object, after a check of the envelope."""
        assert self.header("content-type") == "application/json"
        error = self.json()["error"]
        assert set(error) >= {"message", "type", "param", "code"}, error
        assert isinstance(error["message"], str)
        assert error["message"]
        return dict(error)

    @property
    def events(self) -> list[bytes]:
        return wire.split_events(self.body)


class RawConnection:
    """One client connection; use as `async with`."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._buffer = b""
        self._chunked: ChunkedBody | None = None
        self._left: int | None = None

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(
            self.host, self.port, limit=1 << 16
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Leave; what was not read is thrown away."""
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        writer.transport.abort()
        try:
            await writer.wait_closed()
        except OSError:
            return

    async def reset(self) -> None:
        """Leave with RST."""
        assert self._writer is not None
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self.close()

    async def send(self, data: bytes) -> None:
        assert self._writer is not None
        self._writer.write(data)
        await self._writer.drain()

    async def request(
        self,
        method: str,
        target: str,
        headers: wire.HeaderList = (),
        body: bytes | None = None,
        *,
        version: str = "1.1",
    ) -> None:
        """Send a request; content-length and host are added unless given."""
        lines = list(headers)
        names = {name.lower() for name, _ in lines}
        if "host" not in names:
            host = f"[{self.host}]" if ":" in self.host else self.host
            lines.insert(0, ("Host", f"{host}:{self.port}"))
        if body is not None and not names & {"content-length", "transfer-encoding"}:
            lines.append(("Content-Length", str(len(body))))
        text = "".join(f"{name}: {value}\r\n" for name, value in lines)
        head = f"{method} {target} HTTP/{version}\r\n{text}\r\n".encode("latin-1")
        await self.send(head + (body or b""))

    async def _more(self) -> bytes:
        assert self._reader is not None
        return await asyncio.wait_for(self._reader.read(1 << 16), LIMIT_S)

    async def read_head(self) -> RawAnswer:
        """The final head; interim ones (1xx) are listed in it."""
        interim: list[int] = []
        while True:
            while b"\r\n\r\n" not in self._buffer:
                data = await self._more()
                assert data, f"the connection ended before the head: {self._buffer!r}"
                self._buffer += data
            raw, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            first, headers = wire.parse_head(raw)
            version, status, *_ = first.split(" ", 2)
            if not status.startswith("1"):
                break
            interim.append(int(status))
        answer = RawAnswer(version.removeprefix("HTTP/"), int(status), headers, interim)
        answer.arrived_at_s = time.monotonic()
        is_chunked = answer.header("transfer-encoding") == "chunked"
        self._chunked = ChunkedBody() if is_chunked else None
        length = answer.header("content-length")
        assert not (is_chunked and length), "both content-length and chunked"
        self._left = int(length) if length is not None else None
        if answer.status in (204, 304):
            self._left = 0
        return answer

    async def read_piece(self, answer: RawAnswer) -> bool:
        """Read once into `answer.pieces`; false when the body is over, in whatever way."""
        if self._is_over(answer):
            return False
        data, self._buffer = self._buffer, b""
        if not data:
            try:
                data = await self._more()
            except ConnectionError:
                return False
            if not data:
                answer.is_complete = self._chunked is None and self._left is None
                return False
        now_s = time.monotonic()
        if self._chunked is not None:
            answer.pieces.append((now_s, self._chunked.feed(data)))
            self._buffer = self._chunked.rest
        elif self._left is not None:
            taken, self._buffer = data[: self._left], data[self._left :]
            self._left -= len(taken)
            answer.pieces.append((now_s, taken))
        else:
            answer.pieces.append((now_s, data))
        self._is_over(answer)
        return True

    def _is_over(self, answer: RawAnswer) -> bool:
        if self._chunked is not None:
            answer.is_complete = self._chunked.is_complete
        elif self._left is not None:
            answer.is_complete = self._left == 0
        return answer.is_complete

    async def read_answer(self, *, has_body: bool = True) -> RawAnswer:
        """The whole answer, or what came before the connection ended."""
        answer = await self.read_head()
        if not has_body:
            answer.is_complete = True
            return answer
        while await self.read_piece(answer):
            pass
        return answer

    async def read_events(self, answer: RawAnswer, count: int) -> list[bytes]:
        """Read on until `count` SSE events are there."""
        while answer.body.count(b"\n\n") < count:
            assert await self.read_piece(answer), f"the stream ended early: {answer.body!r}"
        return answer.events

    async def read_once(self, max_bytes: int) -> bytes:
        """At most `max_bytes` raw bytes from the socket, as a slow reader takes them."""
        assert self._reader is not None
        return await asyncio.wait_for(self._reader.read(max_bytes), LIMIT_S)

    async def is_closed_by_peer(self, within_s: float) -> bool:
        """Whether the peer ends the connection within the time, no byte coming first."""
        assert self._reader is not None
        try:
            data = await asyncio.wait_for(self._reader.read(1), within_s)
        except TimeoutError:
            return False
        except ConnectionError:
            return True
        assert not data, f"unexpected byte {data!r}"
        return True
