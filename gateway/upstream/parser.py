"""Read one response after another from bytes, without any I/O."""

from enum import IntEnum

import httptools


class ParserState(IntEnum):
    """How far the current response has come."""

    HEAD = 0
    BODY = 1
    DONE = 2
    FAULTY = 3


_HEAD, _BODY, _DONE, _FAULTY = ParserState
_NO_BODY_STATUSES = frozenset({204, 304})
_VERSIONS = frozenset({"1.0", "1.1"})


class _Stop(Exception):  # noqa: N818 - it only ends a run of the C parser
    """Raised inside a callback to end the run of the C parser."""


class ResponseParser:
    """Turns the bytes of one connection into responses, one `begin` for each.

    After `feed`, look at `state`. `pieces` gathers the decoded body; its taker empties it. Interim
    answers (1xx) are swallowed. `fault` says what is wrong in the state FAULTY. `keep_alive` and
    `has_extra` (bytes after the end) are valid in the state DONE.
    """

    __slots__ = (
        "_chunked",
        "_fed_bytes",
        "_is_head_request",
        "_llhttp",
        "_max_head_bytes",
        "_sized",
        "_until_close",
        "fault",
        "has_extra",
        "headers",
        "keep_alive",
        "on_body",
        "pieces",
        "seen_bytes",
        "state",
        "status",
    )

    def __init__(self, max_head_bytes: int) -> None:
        self._max_head_bytes = max_head_bytes
        self.pieces: list[bytes] = []
        # The C parser calls this for each piece of body: no Python frame is needed for it.
        self.on_body = self.pieces.append
        self._llhttp: httptools.HttpResponseParser | None = None
        self._is_head_request = False
        self.begin(is_head_request=False)

    def begin(self, *, is_head_request: bool) -> None:
        """Expect a new response; the one before must be DONE, without extra bytes."""
        # After a HEAD answer with a length the C parser would wait for that body.
        if self._llhttp is None or self._is_head_request:
            self._llhttp = httptools.HttpResponseParser(self)
            # Both length and chunked: chunked wins (RFC 9112, 6.3) and we close afterwards.
            self._llhttp.set_dangerous_leniencies(lenient_chunked_length=True)
        self._is_head_request = is_head_request
        self.state = _HEAD
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.keep_alive = False
        self.has_extra = False
        self.fault = ""
        self.seen_bytes = False
        self._fed_bytes = 0
        self._sized = False
        self._chunked = False
        self._until_close = False

    def close(self) -> None:
        """Break the reference circle with the C parser."""
        self._llhttp = None

    def feed(self, data: bytes) -> None:
        """Take bytes as they came."""
        self.seen_bytes = True
        self._fed_bytes += len(data)
        try:
            self._llhttp.feed_data(data)  # type: ignore[union-attr]
        except httptools.HttpParserUpgrade:
            self._fail("it switched to another protocol")
        except httptools.HttpParserError as error:
            if self.state == _DONE:
                self.has_extra = True
                if self._is_head_request:
                    self.pieces.clear()
            else:
                self._fail(self.fault or str(error))
            return
        if self._is_head_request and self.state == _DONE:
            # The C parser took what follows for the body: only a clean end may be reused.
            self.has_extra = bool(self.pieces) or not data.endswith(b"\r\n\r\n")
            self.pieces.clear()
        elif self.pieces:
            self._fed_bytes = 0
        elif self._fed_bytes > self._max_head_bytes and self.state < _DONE:
            what = "head" if self.state == _HEAD else "chunk framing"
            self._fail(f"its {what} is longer than {self._max_head_bytes} bytes")

    def feed_eof(self) -> bool:
        """The peer sent its last byte; true if that ends the response rightly."""
        if self.state == _BODY and self._until_close:
            self.state = _DONE
        return self.state == _DONE

    def _fail(self, fault: str) -> None:
        self.fault = fault
        self.state = _FAULTY

    # Called by the C parser.

    def on_message_begin(self) -> None:
        if self.state != _HEAD:
            raise _Stop

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.state != _HEAD:
            return  # a trailer
        name = name.lower()
        value = value.rstrip(b" \t")
        self.headers.append((name, value))
        if name == b"content-length":
            self._sized = True
        elif name == b"transfer-encoding":
            if self._chunked or value.lower() != b"chunked":
                self.fault = f"its transfer-encoding {value!r} is not supported"
                raise _Stop
            self._chunked = True

    def on_headers_complete(self) -> None:
        llhttp = self._llhttp
        assert llhttp is not None
        status = llhttp.get_status_code()
        if status < 200:
            if status == 101 or status < 100:
                self.fault = f"its status {status} is not an answer to this request"
                raise _Stop
            self.headers.clear()
            self._sized = False
            self._chunked = False
            return
        self._judge_head(llhttp)
        self.status = status
        if self._is_head_request:
            self.state = _DONE
            return
        self.state = _BODY
        self._until_close = not (self._chunked or self._sized or status in _NO_BODY_STATUSES)

    def on_message_complete(self) -> None:
        if self.state == _BODY:  # not after an interim answer
            self.state = _DONE

    def _judge_head(self, llhttp: httptools.HttpResponseParser) -> None:
        version = llhttp.get_http_version()
        if version not in _VERSIONS:
            self.fault = f"its HTTP version {version} is not supported"
            raise _Stop
        if self._fed_bytes > self._max_head_bytes:
            size = sum(len(name) + len(value) + 4 for name, value in self.headers)
            if size > self._max_head_bytes:
                self.fault = f"its head is longer than {self._max_head_bytes} bytes"
                raise _Stop
        # RFC 9112, 6.1: chunked together with a length, or with HTTP/1.0, is suspect framing.
        suspect = self._chunked and (self._sized or version == "1.0")
        self.keep_alive = llhttp.should_keep_alive() and not suspect
