"""Finding the `model` field in a form that streams by, without keeping its files in memory.

Offsets count from the first byte of the body. Parts are told apart as python-multipart does for
the engine: CRLF, two hyphens, the boundary, then CRLF (a part follows) or two hyphens (the end);
the boundary followed by anything else is content.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from gateway.errors import Outcome, Refusal
from gateway.protocol.multipart_headers import form_field_name
from gateway.protocol.request import is_true

_MAX_HEADER_BYTES: Final = 16 * 1024
_MAX_FIELD_BYTES: Final = 4 * 1024
_READ_FIELDS: Final = frozenset({b"model", b"stream"})


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes `start` to `end` of a body are to be replaced by `value`; insertion if both agree."""

    start: int
    end: int
    value: bytes


class _State(Enum):
    PREAMBLE = auto()
    HEADERS = auto()
    CONTENT = auto()
    EPILOGUE = auto()


class MultipartModelScanner:
    """Reads a form piece by piece; memory is bounded by the fields that it reads.

    `feed` and `finish` raise Refusal: BODY_NOT_MULTIPART if the form is broken, BODY_NOT_UTF8 if
    the model is not UTF-8, MODEL_REQUIRED if it is too long to be a name.
    """

    __slots__ = (
        "_base",
        "_boundary",
        "_buffer",
        "_content_start",
        "_delimiter",
        "_field",
        "_first_delimiter",
        "_state",
        "_values",
        "spans",
    )

    def __init__(self, boundary: bytes) -> None:
        self.spans: list[tuple[int, int]] = []
        self._boundary = boundary
        self._delimiter = b"\r\n--" + boundary
        # The first boundary may open the body: as if a line had ended before it.
        self._buffer = bytearray(b"\r\n")
        self._base = -2
        self._state = _State.PREAMBLE
        self._field: bytes | None = None
        self._content_start = 0
        self._first_delimiter = 0
        self._values: dict[bytes, bytes] = {}

    def __repr__(self) -> str:
        return (
            f"MultipartModelScanner({self._state.name.lower()}, "
            f"at={self._base + len(self._buffer)}, models={len(self.spans)})"
        )

    @property
    def model(self) -> str | None:
        """The model named by the form, the last one if there are several; None if none or ""."""
        value = self._values.get(b"model")
        if not value:
            return None
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            raise Refusal(
                Outcome.BODY_NOT_UTF8,
                "The form field `model` must be UTF-8; encode it as UTF-8.",
                param="model",
            ) from None

    @property
    def is_stream(self) -> bool:
        """If the form asks for a stream; a hint, as in a JSON request."""
        return is_true(self._values.get(b"stream", b"").decode("latin-1"))

    @property
    def is_complete(self) -> bool:
        """If the closing boundary has come."""
        return self._state is _State.EPILOGUE

    def feed(self, piece: bytes) -> None:
        """Takes in the next piece of the body."""
        if self._state is _State.EPILOGUE:
            return
        self._buffer += piece
        while self._step():
            pass

    def finish(self) -> None:
        """Says that no more comes; raises Refusal if the form is not whole."""
        if self.is_complete:
            return
        what = (
            "its boundary does not occur in the body"
            if self._state is _State.PREAMBLE
            else "it ends before its closing boundary"
        )
        raise Refusal(
            Outcome.BODY_NOT_MULTIPART, f"The form can't be read: {what}. Send the whole form."
        )

    def edits(self, name: str) -> list[Edit]:
        """What to change so that the form names the model `name`, in rising order.

        Without a `model` field one is put in front of all parts. Call it after `finish`.
        """
        value = name.encode("utf-8")
        if self.spans:
            return [Edit(start, end, value) for start, end in self.spans]
        part = b'--%b\r\nContent-Disposition: form-data; name="model"\r\n\r\n%b\r\n'
        at = self._first_delimiter
        return [Edit(at, at, part % (self._boundary, value))]

    def _step(self) -> bool:
        """Goes on as far as the next change of state; false if more bytes are needed for it."""
        if self._state is _State.HEADERS:
            return self._read_headers()
        if self._state is _State.EPILOGUE:
            self._drop(len(self._buffer))
            return False
        return self._read_content()

    def _read_headers(self) -> bool:
        # The CRLF of the boundary line is still here, so that a part without headers shows as well.
        end = self._buffer.find(b"\r\n\r\n", 0, _MAX_HEADER_BYTES)
        if end < 0:
            if len(self._buffer) >= _MAX_HEADER_BYTES:
                raise Refusal(
                    Outcome.BODY_NOT_MULTIPART,
                    f"A part of the form has more than {_MAX_HEADER_BYTES} bytes of headers.",
                )
            return False
        name = form_field_name(bytes(self._buffer[:end]))
        self._field = name if name in _READ_FIELDS else None
        self._drop(end + 4)
        self._content_start = self._base
        self._state = _State.CONTENT
        return True

    def _read_content(self) -> bool:
        found, follows = self._find_delimiter()
        if not follows:
            if self._field is None:
                self._drop(max(0, found))
            else:
                self._check_field(len(self._buffer) - len(self._delimiter) - 2)
            return False
        if self._state is _State.PREAMBLE:
            self._first_delimiter = self._base + found + 2
        elif self._field is not None:
            self._keep_field(self._field, bytes(self._buffer[:found]))
        self._field = None
        self._drop(found + len(self._delimiter))
        self._state = _State.HEADERS if follows == b"\r\n" else _State.EPILOGUE
        return True

    def _find_delimiter(self) -> tuple[int, bytes]:
        """Where a boundary line starts in the buffer, and the two bytes after the boundary.

        Without one these are empty, and the position is that up to which none can start.
        """
        buffer = self._buffer
        size = len(self._delimiter)
        pos = 0
        while True:
            found = buffer.find(self._delimiter, pos)
            if found < 0:
                return len(buffer) - size + 1, b""
            follows = bytes(buffer[found + size : found + size + 2])
            if len(follows) < 2:
                return found, b""
            if follows in (b"\r\n", b"--"):
                return found, follows
            pos = found + 2

    def _keep_field(self, name: bytes, value: bytes) -> None:
        self._check_field(len(value))
        self._values[name] = value
        if name == b"model":
            self.spans.append((self._content_start, self._content_start + len(value)))

    def _check_field(self, size: int) -> None:
        if size > _MAX_FIELD_BYTES:
            shown = (self._field or b"").decode("latin-1")
            raise Refusal(
                Outcome.MODEL_REQUIRED if shown == "model" else Outcome.BODY_NOT_MULTIPART,
                f"The form field `{shown}` is longer than {_MAX_FIELD_BYTES} bytes.",
                param=shown,
            )

    def _drop(self, count: int) -> None:
        if count > 0:
            del self._buffer[:count]
            self._base += count


def length_change(edits: Sequence[Edit]) -> int:
    """By how many bytes the edits make a body longer (negative: shorter)."""
    return sum(len(edit.value) - (edit.end - edit.start) for edit in edits)


class Editor:
    """Makes edits (in rising order, not overlapping) in a body that streams by."""

    __slots__ = ("_pending", "_pos")

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._pending = list(edits)
        self._pos = 0  # where the next byte stands in the body

    def feed(self, piece: bytes) -> list[bytes]:
        """What the next piece of the body becomes."""
        out: list[bytes] = []
        rest = piece
        while self._pending and self._pending[0].start < self._pos + len(rest):
            edit = self._pending[0]
            if edit.start > self._pos:
                out.append(rest[: edit.start - self._pos])
                rest = rest[edit.start - self._pos :]
                self._pos = edit.start
            cut = min(len(rest), edit.end - self._pos)
            rest = rest[cut:]
            self._pos += cut
            if self._pos < edit.end:
                # The replaced bytes go on in the next piece.
                self._pending[0] = Edit(self._pos, edit.end, edit.value)
                break
            self._pending.pop(0)
            out.append(edit.value)
        if rest:
            out.append(rest)
            self._pos += len(rest)
        return out

    def finish(self) -> list[bytes]:
        """What comes after the last piece."""
        return [edit.value for edit in self._pending]


def edited(pieces: Iterable[bytes], edits: Sequence[Edit]) -> Iterator[bytes]:
    """The pieces of a body with the edits made on the way."""
    editor = Editor(edits)
    for piece in pieces:
        yield from editor.feed(piece)
    yield from editor.finish()
