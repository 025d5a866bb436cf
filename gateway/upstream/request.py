"""Write the head of a request, and refuse what would break its framing."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from gateway.upstream.origin import Origin

Headers = Sequence[tuple[bytes, bytes]]

# RFC 9110, 5.6.2: the characters of a token.
_TOKEN = b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NOT_PRINTABLE = bytes(range(0x21)) + b"\x7f"
# The pool writes these itself, or they are about one connection only (RFC 9110, 7.6.1).
_OWN_HEADERS = frozenset(
    {
        b"host",
        b"content-length",
        b"transfer-encoding",
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"upgrade",
        b"expect",
    }
)
_NAMES_KEPT = 256
_BODILESS = frozenset({b"GET", b"HEAD", b"OPTIONS", b"DELETE"})


class BodySource(Protocol):
    """A request body that is not in memory.

    `length_bytes` None means unknown; it is then sent in chunks. `chunks` may be called again
    to send the same body a second time.
    """

    @property
    def length_bytes(self) -> int | None: ...

    def chunks(self) -> AsyncIterator[bytes]: ...


class RequestEncoder:
    """Writes request heads for one origin."""

    __slots__ = ("_base_path", "_good_names", "_host_line")

    def __init__(self, origin: Origin) -> None:
        self._base_path = origin.base_path
        # The same few names come with every request; those that were found good are remembered.
        self._good_names: set[bytes] = set()
        self._host_line = b" HTTP/1.1\r\nhost: " + origin.host_header + b"\r\n"

    def encode(
        self, method: bytes, target: bytes, headers: Headers, body: "bytes | BodySource"
    ) -> bytes:
        """The head with its blank line.

        Raises ValueError for a header or target that could smuggle a line, or for a header that
        the pool writes itself.
        """
        _check(method, target)
        unknown = [name for name, _ in headers if name not in self._good_names]
        if unknown:
            _check_names(unknown)
            if len(self._good_names) < _NAMES_KEPT:
                self._good_names.update(unknown)
        lines = [method, b" ", self._base_path, target, self._host_line]
        for name, value in headers:
            lines += (name, b": ", value, b"\r\n")
        line_count = len(headers) + 3
        if isinstance(body, bytes):
            if body or method not in _BODILESS:
                lines.append(b"content-length: %d\r\n" % len(body))
                line_count += 1
        else:
            length = body.length_bytes
            lines.append(
                b"transfer-encoding: chunked\r\n"
                if length is None
                else b"content-length: %d\r\n" % length
            )
            line_count += 1
        lines.append(b"\r\n")
        head = b"".join(lines)
        # One look at the whole head is cheaper than one at each value: it holds exactly the line
        # ends that we wrote, so no value brought one of its own.
        if head.count(b"\r") != line_count or head.count(b"\n") != line_count or b"\0" in head:
            raise ValueError(_name_bad_value(headers))
        return head


def _check(method: bytes, target: bytes) -> None:
    if not method or method.translate(None, _TOKEN):
        raise ValueError(f"the request method {method!r} is not a token")
    if target[:1] != b"/" or len(target.translate(None, _NOT_PRINTABLE)) != len(target):
        raise ValueError(f"the request target {target!r} must start with / and have no white space")


def _check_names(given: list[bytes]) -> None:
    names = [name.lower() for name in given]
    if not _OWN_HEADERS.isdisjoint(names):
        name = next(name for name in names if name in _OWN_HEADERS)
        raise ValueError(f"the request header {name!r} is written by the connection pool")
    if b"" in names or b"".join(names).translate(None, _TOKEN):
        name = next(name for name in names if not name or name.translate(None, _TOKEN))
        raise ValueError(f"the request header name {name!r} is not a token")


def _name_bad_value(headers: Headers) -> str:
    for name, value in headers:
        if any(byte in value for byte in (b"\r", b"\n", b"\0")):
            return f"the request header {name!r} holds a line end or a NUL byte"
    return "the request head holds a line end or a NUL byte"
