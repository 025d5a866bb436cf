"""The body of a request on its way to backends, under the name that each of them answers to."""

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Protocol

from gateway.flow.spool import Spool
from gateway.protocol.multipart import Edit, Editor, MultipartModelScanner, length_change
from gateway.protocol.rewrite import rewrite_request
from gateway.upstream.pool import BodySource


class Payload(Protocol):
    """A body that can be sent to several backends in turn. Leaving it frees what it holds."""

    content_type: bytes

    def body_for(self, served_name: str) -> bytes | BodySource:
        """The body with `served_name` as its model; every other byte as it came."""

    def __enter__(self) -> "Payload": ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class JsonPayload:
    """A JSON body in memory."""

    __slots__ = ("_body", "_last", "_named", "content_type")

    def __init__(self, body: bytes, named: str | None) -> None:
        self.content_type = b"application/json"
        self._body = body
        self._named = named
        self._last: tuple[str, bytes] | None = None

    def body_for(self, served_name: str) -> bytes:
        """The body with `served_name` as its model; the last one is kept for the next attempt."""
        body = self._body
        if served_name == self._named and body.count(b"model") == 1 and b"\\u006" not in body:
            # Said once, and rightly; no key is spelt with escapes.
            return body
        if self._last is None or self._last[0] != served_name:
            self._last = (served_name, rewrite_request(self._body, served_name))
        return self._last[1]

    def __enter__(self) -> "JsonPayload":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._last = None


class FormPayload:
    """A form, spooled; the model's field is replaced while it is sent."""

    __slots__ = ("_scanner", "_spool", "content_type")

    def __init__(self, spool: Spool, scanner: MultipartModelScanner, content_type: bytes) -> None:
        self.content_type = content_type
        self._spool = spool
        self._scanner = scanner

    def body_for(self, served_name: str) -> "EditedForm":
        """The form with `served_name` in its model field."""
        return EditedForm(self._spool, self._scanner.edits(served_name))

    def __enter__(self) -> "FormPayload":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._spool.close()


class EditedForm:
    """A spooled form with edits, as a source that can be read several times."""

    __slots__ = ("_edits", "_spool", "length_bytes")

    def __init__(self, spool: Spool, edits: list[Edit]) -> None:
        self._spool = spool
        self._edits = edits
        self.length_bytes: int | None = spool.size_bytes + length_change(edits)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes in order, a piece at a time."""
        editor = Editor(self._edits)
        async for piece in self._spool.pieces():
            for part in editor.feed(piece):
                yield part
        for part in editor.finish():
            yield part
