"""HTTP/1.1 bytes in pieces: heads, chunks and SSE events, written and read plainly."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

HeaderList = Sequence[tuple[str, str]]

REASONS = {
    200: "OK",
    204: "No Content",
    307: "Temporary Redirect",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    413: "Request Entity Too Large",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
}

DONE = b"data: [DONE]\n\n"


def compact(value: Any) -> bytes:
    """JSON as vLLM writes it: no blanks, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def event(value: Any, name: str | None = None) -> bytes:
    """One SSE event as vLLM writes it."""
    prefix = b"" if name is None else b"event: " + name.encode() + b"\n"
    return prefix + b"data: " + compact(value) + b"\n\n"


def head(status: int, headers: Iterable[tuple[str, str]] = ()) -> bytes:
    """The head of an answer, names and values exactly as given."""
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body; the empty one ends the body."""
    return b"%x\r\n" % len(data) + data + b"\r\n"


LAST_CHUNK = b"0\r\n\r\n"


def split_events(body: bytes) -> list[bytes]:
    """The SSE events of a body that ends its lines in LF, each with its blank line."""
    parts = body.split(b"\n\n")
    events = [part + b"\n\n" for part in parts[:-1]]
    return [*events, parts[-1]] if parts[-1] else events


def event_json(one: bytes) -> Any:
    """The JSON of an event's data lines."""
    lines = [line[5:].strip() for line in one.splitlines() if line.startswith(b"data:")]
    return json.loads(b"\n".join(lines))


@dataclass(slots=True)
class Request:
    """A request as it arrived: nothing normalised."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes = b""
    connection_id: int = 0
    trailers: list[bytes] = field(default_factory=list)

    @property
    def path(self) -> str:
        return self.target.split("?", 1)[0]

    def header(self, name: str) -> str | None:
        """The only value of a header; None without it; fails if it came twice."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else None

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def json(self) -> Any:
        return json.loads(self.body)


def parse_head(raw: bytes) -> tuple[str, list[tuple[str, str]]]:
    """The first line and the headers of a head without its blank line."""
    first, *rest = raw.decode("latin-1").split("\r\n")
    pairs = [line.partition(":") for line in rest if line]
    return first, [(name, value.strip()) for name, _, value in pairs]


class ChunkedBody:
    """Decodes a chunked body piece by piece; `rest` holds what came after its end."""

    __slots__ = ("_buffer", "_need", "is_complete", "rest", "trailers")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._need: int | None = None  # bytes of the open chunk with its CRLF; None: at a size line
        self.is_complete = False
        self.rest = b""
        self.trailers: list[bytes] = []

    def feed(self, data: bytes) -> bytes:
        self._buffer += data
        out = bytearray()
        while not self.is_complete and self._advance(out):
            pass
        if self.is_complete:
            self.rest += bytes(self._buffer)
            self._buffer.clear()
        return bytes(out)

    def _advance(self, out: bytearray) -> bool:
        if self._need is None:
            end = self._buffer.find(b"\r\n")
            if end < 0:
                return False
            size = int(bytes(self._buffer[:end]).split(b";")[0], 16)
            if size == 0:
                return self._finish(end + 2)
            del self._buffer[: end + 2]
            self._need = size + 2
        if len(self._buffer) < self._need:
            # Hand out what is there, so that arrival times mean something.
            ready = min(len(self._buffer), max(self._need - 2, 0))
            out += self._buffer[:ready]
            del self._buffer[:ready]
            self._need -= ready
            return False
        out += self._buffer[: self._need - 2]
        del self._buffer[: self._need]
        self._need = None
        return True

    def _finish(self, start: int) -> bool:
        if self._buffer[start : start + 2] == b"\r\n":
            del self._buffer[: start + 2]
        else:
            end = self._buffer.find(b"\r\n\r\n", start)
            if end < 0:
                return False
            self.trailers = bytes(self._buffer[start:end]).split(b"\r\n")
            del self._buffer[: end + 4]
        self.is_complete = True
        return True
