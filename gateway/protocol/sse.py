"""Server-sent events: bytes in, event boundaries out (WHATWG HTML, section 9.2).

Nothing is decoded and nothing is changed: the events and the rest, joined, are the input.
"""

import re
from enum import Enum, auto
from typing import Final

from gateway.errors import Phase, ResponseMalformed

_BOM: Final = b"\xef\xbb\xbf"
_LF: Final = 0x0A
# A blank line shows as two line ends in a row; "\r\n" alone is one line end.
_END: Final = re.compile(rb"\n\n|\n\r\n?|\r\r\n?")
_LINE_ENDS: Final = re.compile(rb"[\r\n]*+")


class EventKind(Enum):
    """What an event is for its reader."""

    DATA = auto()
    """It has data: only this is progress."""
    COMMENT = auto()
    """Comments or fields without data, such as `: keep-alive`; a reader gets nothing of it."""


class EventSplitter:
    """Cuts a stream into events; the pieces may be cut anywhere, also between CR and LF.

    An event comes with its blank line and with any blank lines before it. `feed` raises
    ResponseMalformed when one event is longer than `max_event_bytes`.
    """

    __slots__ = ("_buffer", "_has_cr", "_is_blank", "_scan", "max_event_bytes")

    def __init__(self, max_event_bytes: int) -> None:
        self.max_event_bytes = max_event_bytes
        self._buffer = bytearray()
        self._scan = 0  # before it there is no end of an event in the buffer
        self._is_blank = True  # the event at hand has nothing but line ends so far
        self._has_cr = False

    def __repr__(self) -> str:
        return f"EventSplitter({len(self._buffer)} of {self.max_event_bytes} bytes pending)"

    @property
    def rest(self) -> bytes:
        """The bytes after the last whole event."""
        return bytes(self._buffer)

    @property
    def has_partial(self) -> bool:
        """If an event has begun and has not ended; blank lines alone are none."""
        return not self._is_blank

    def feed(self, piece: bytes) -> list[bytes]:
        """The events that are complete with `piece`."""
        if (
            not self._buffer
            and piece.endswith(b"\n\n")
            and piece.find(b"\n\n") == len(piece) - 2
            and b"\r" not in piece
            and piece[0] != _LF
        ):
            self._check(len(piece))
            return [piece]
        if not self._has_cr and b"\r" in piece:
            self._has_cr = True
        self._buffer += piece
        events = self._cut()
        self._check(len(self._buffer))
        return events

    def _cut(self) -> list[bytes]:
        buffer = self._buffer
        events: list[bytes] = []
        start = 0
        scan = self._scan
        while True:
            if self._is_blank:
                blank = _LINE_ENDS.match(buffer, scan)
                scan = blank.end() if blank else scan
                if scan == len(buffer):
                    break
                self._is_blank = False
            end = self._end_after(scan)
            if end < 0:
                # The last byte may be the first of an end.
                scan = max(scan, len(buffer) - 1)
                break
            self._check(end - start)
            events.append(bytes(buffer[start:end]))
            start = scan = end
            self._is_blank = True
        if start:
            del buffer[:start]
        self._scan = scan - start
        return events

    def _end_after(self, scan: int) -> int:
        if not self._has_cr:
            found = self._buffer.find(b"\n\n", scan)
            return found if found < 0 else found + 2
        match = _END.search(self._buffer, scan)
        return -1 if match is None else match.end()

    def _check(self, size: int) -> None:
        if size > self.max_event_bytes:
            raise ResponseMalformed(
                f"the backend sent one event of more than {self.max_event_bytes} bytes, "
                "which is the limit for an event",
                phase=Phase.BETWEEN,
            )


def classify_event(event: bytes) -> EventKind:
    """If a reader gets data from `event`."""
    if event.startswith(b"data:") or b"\ndata:" in event:
        return EventKind.DATA
    if event.startswith(b":") and event.find(b"\n") == len(event) - 2 and b"\r" not in event:
        return EventKind.COMMENT
    return EventKind.DATA if data_spans(event) else EventKind.COMMENT


def data_spans(event: bytes) -> list[tuple[int, int]]:
    """Where the values of the `data` lines of `event` stand."""
    start = _one_line_start(event)
    if start:
        return [(start, len(event) - 2)]
    spans: list[tuple[int, int]] = []
    pos = len(_BOM) if event.startswith(_BOM) else 0
    for line in event[pos:].splitlines(keepends=True):
        text = line.rstrip(b"\r\n")
        if text.startswith(b"data:"):
            skip = 6 if text.startswith(b"data: ") else 5
            spans.append((pos + skip, pos + len(text)))
        elif text == b"data":
            spans.append((pos + len(text), pos + len(text)))
        pos += len(line)
    return spans


def event_data(event: bytes) -> bytes:
    """The data of `event`: the values of its data lines, joined by LF; empty if it has none."""
    start = _one_line_start(event)
    if start:
        return event[start:-2]
    return b"\n".join([event[start:end] for start, end in data_spans(event)])


def event_name(event: bytes) -> bytes:
    """The value of the last `event` line; empty if there is none."""
    name = b""
    for line in event.removeprefix(_BOM).splitlines():
        if line.startswith(b"event:"):
            name = line[6:].removeprefix(b" ")
        elif line == b"event":
            name = b""
    return name


def _one_line_start(event: bytes) -> int:
    """Where the data starts in the two forms that engines send; 0 if `event` is neither.

    They are `data: X` and `event: NAME` with `data: X` below, with LF line ends.
    """
    last = len(event) - 2
    if event.startswith(b"data: "):
        start = 6
    elif event.startswith(b"event: "):
        start = event.find(b"\n") + 7
        if not event.startswith(b"data: ", start - 6):
            return 0
    else:
        return 0
    if event.find(b"\n", start) == last and event.endswith(b"\n\n") and b"\r" not in event:
        return start
    return 0
