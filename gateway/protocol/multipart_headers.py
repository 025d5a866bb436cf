"""The few header values that a multipart/form-data body is read by (RFC 7578, RFC 2183)."""

import re
from typing import Final

from gateway.errors import Outcome, Refusal

# RFC 2046 allows 70 characters; some clients are more generous.
_MAX_BOUNDARY_BYTES: Final = 200
_PARAMETER: Final = re.compile(
    rb'[ \t]*;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*+)"|([^\s;"]*+))', re.DOTALL
)
_ESCAPED: Final = re.compile(rb"\\(.)", re.DOTALL)


def boundary_of(content_type: bytes) -> bytes:
    """The boundary that a content-type value names; raises Refusal BODY_NOT_MULTIPART."""
    kind, parameters = header_parameters(content_type)
    if kind != b"multipart/form-data":
        shown = kind.decode("latin-1") or "missing"
        raise Refusal(
            Outcome.BODY_NOT_MULTIPART,
            f"This path takes a form: send the body as multipart/form-data (it is {shown}).",
        )
    boundary = parameters.get(b"boundary", b"")
    if not 0 < len(boundary) <= _MAX_BOUNDARY_BYTES:
        raise Refusal(
            Outcome.BODY_NOT_MULTIPART,
            "The content type multipart/form-data has no usable boundary; "
            "let the HTTP client set this header by itself.",
        )
    return boundary


def form_field_name(headers: bytes) -> bytes | None:
    """The field name of a part with these header lines; None for files and nameless parts."""
    for line in headers.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if colon and name.strip().lower() == b"content-disposition":
            kind, parameters = header_parameters(value)
            # A part with a file name is a file to the engine, whatever its field name.
            if kind != b"form-data" or not parameters.keys().isdisjoint(_FILE_NAMES):
                return None
            return parameters.get(b"name")
    return None


_FILE_NAMES: Final = frozenset({b"filename", b"filename*"})


def header_parameters(value: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """A header value such as `kind; name="value"`: the kind in lower case, and its parameters."""
    kind, semicolon, _ = value.partition(b";")
    parameters: dict[bytes, bytes] = {}
    pos = len(kind)
    while semicolon:
        match = _PARAMETER.match(value, pos)
        if match is None:
            break
        quoted = match[2]
        plain = match[3] if quoted is None else _ESCAPED.sub(rb"\1", quoted)
        parameters.setdefault(match[1].lower(), plain)
        pos = match.end()
    return kind.strip().lower(), parameters
