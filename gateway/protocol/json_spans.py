"""Where in the bytes of a JSON document the values of a key stand, without decoding it.

Exact for every document that Python's json takes: strings and their escapes (in keys too), depth,
white space and a BOM are known. Linear in the length, and quick through long strings, since
quotes are looked for with `bytes.find`.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

Span = tuple[int, int]

_BOM: Final = b"\xef\xbb\xbf"
_NEEDLE: Final = b'"model"'
# The letters of "model" are U+006D, 6F, 64, 65 and 6C: an escaped spelling has this in it.
_ESCAPED: Final = b"\\u006"
_QUOTE: Final = 0x22
_BACKSLASH: Final = 0x5C
_OPEN: Final = frozenset(b"{[")

_WS: Final = rb"[ \t\n\r]*+"
# Bounded, since the expression is about 50 times slower than `find` through a long string.
_STRING: Final = rb'"[^"\\]{0,500}+(?:\\.[^"\\]{0,500}+){0,20}+"'
_SIMPLE: Final = rb'[^][{}"\\]{0,500}+(?:"[^"\\]{0,500}+"[^][{}"\\]{0,500}+){0,20}+'
# A value that holds no other list or object but is passed over by the expression alone.
_FLAT_VALUE: Final = (
    rb"(?:" + _STRING + rb"|[-+.0-9A-Za-z]++|\[" + _SIMPLE + rb"\]|\{" + _SIMPLE + rb"\})"
)
_MEMBERS: Final = rb"(?:" + _WS + _STRING + _WS + rb":" + _WS + _FLAT_VALUE + _WS + rb",)*?" + _WS


def _head(path: tuple[str, ...]) -> re.Pattern[bytes]:
    """Matches from the first byte to the value at `path`, if only flat values stand before it."""
    levels = (
        rb"\{" + _MEMBERS + b'"' + key.encode("ascii") + b'"' + _WS + rb":" + _WS for key in path
    )
    return re.compile(rb"(?:\xef\xbb\xbf)?" + _WS + b"".join(levels), re.DOTALL)


MODEL: Final = ("model",)
RESPONSE_MODEL: Final = ("response", "model")
MESSAGE_MODEL: Final = ("message", "model")

_HEADS: Final[Mapping[tuple[str, ...], re.Pattern[bytes]]] = MappingProxyType(
    {path: _head(path) for path in (MODEL, RESPONSE_MODEL, MESSAGE_MODEL)}
)

# In a JSON object the last byte closes it, so a member right before that byte is its own.
_TAIL: Final = re.compile(_NEEDLE + _WS + rb":" + _WS + rb'("[^"\\]{0,500}+")' + _WS + rb"\}" + _WS)

_SPACE: Final = re.compile(_WS)
_COLON: Final = re.compile(_WS + rb":" + _WS)
_NEXT: Final = re.compile(_WS + rb"([,}])" + _WS)
_LITERAL: Final = re.compile(rb"[-+.0-9A-Za-z]++")
_FLAT_RUN: Final = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]{0,256}+")*+')
_ESCAPES: Final = re.compile(rb'(?:[^"\\]{0,64}+\\.)*+', re.DOTALL)


class _NotJson(Exception):  # noqa: N818 - never leaves this file
    """The bytes can't be a JSON document."""


def model_spans(body: bytes, path: tuple[str, ...] = MODEL) -> list[Span]:
    """The byte spans of all values at `path`, in order; `path` is one of the three above.

    A string's span includes its quotes. Empty if there is none. `body` should be a JSON object;
    if it is not, nothing or a member that looks like one is found.
    """
    first = body.find(_NEEDLE)
    has_escapes = _BACKSLASH in body and _ESCAPED in body
    if first < 0 and not has_escapes:
        return []
    if not has_escapes:
        match = _HEADS[path].match(body)
        if match is not None:
            start = match.end()
            if body.find(_NEEDLE, start) < 0:
                try:
                    return [(start, _value_end(body, start))]
                except _NotJson:
                    return []
        elif path == MODEL and body[first - 1] != _BACKSLASH and _is_object(body):
            match = _TAIL.fullmatch(body, first)
            if match is not None:
                return [match.span(1)]
    return value_spans(body, path)


def value_spans(body: bytes, path: tuple[str, ...]) -> list[Span]:
    """As `model_spans`, for any path and by a full scan."""
    spans: list[Span] = []
    pos = body_start(body)
    if not _is_object(body):
        return spans
    try:
        end = _scan_object(body, pos + 1, path, spans)
    except _NotJson:
        return []
    return [] if body[end:].strip(b" \t\n\r") else spans


def body_start(body: bytes) -> int:
    """The position of the first byte that is neither BOM nor white space."""
    match = _SPACE.match(body, len(_BOM) if body.startswith(_BOM) else 0)
    return match.end() if match else 0


def _is_object(body: bytes) -> bool:
    return body.startswith(b"{", body_start(body))


def _scan_object(body: bytes, pos: int, path: tuple[str, ...], spans: list[Span]) -> int:
    """Reads an object from after its brace; adds what `path` leads to; returns its end."""
    pos = _skip(_SPACE, body, pos)
    if body[pos : pos + 1] == b"}":
        return pos + 1
    while True:
        if body[pos : pos + 1] != b'"':
            raise _NotJson
        key_end = _string_end(body, pos)
        is_on_path = _is_key(body[pos:key_end], path[0])
        pos = _skip(_COLON, body, key_end)
        if not is_on_path:
            end = _value_end(body, pos)
        elif len(path) == 1:
            end = _value_end(body, pos)
            spans.append((pos, end))
        elif body[pos : pos + 1] == b"{":
            end = _scan_object(body, pos + 1, path[1:], spans)
        else:
            end = _value_end(body, pos)
        follows = _NEXT.match(body, end)
        if follows is None:
            raise _NotJson
        if follows[1] == b"}":
            return follows.end(1)
        pos = follows.end()


def _is_key(quoted: bytes, key: str) -> bool:
    if b"\\" not in quoted:
        return quoted[1:-1] == key.encode()
    try:
        return bool(json.loads(quoted) == key)
    except ValueError:
        return False


def _value_end(body: bytes, pos: int) -> int:
    lead = body[pos] if pos < len(body) else 0
    if lead == _QUOTE:
        return _string_end(body, pos)
    if lead in _OPEN:
        return _container_end(body, pos + 1)
    return _skip(_LITERAL, body, pos)


def _skip(pattern: re.Pattern[bytes], body: bytes, pos: int) -> int:
    match = pattern.match(body, pos)
    if match is None:
        raise _NotJson
    return match.end()


def _string_end(body: bytes, pos: int) -> int:
    """The position after the string whose opening quote is at `pos`."""
    pos += 1
    while True:
        quote = body.find(b'"', pos)
        if quote < 0:
            raise _NotJson
        if quote == pos or body[quote - 1] != _BACKSLASH:
            return quote + 1
        segment = body[pos:quote]
        if (len(segment) - len(segment.rstrip(b"\\"))) % 2 == 0:
            return quote + 1
        # The quote is escaped. Where escapes are dense the expression is quicker than the loop.
        pos = _skip(_ESCAPES, body, quote + 1)


def _container_end(body: bytes, pos: int) -> int:
    """The position after the list or object whose opening bracket is before `pos`."""
    depth = 1
    size = len(body)
    while True:
        pos = _skip(_FLAT_RUN, body, pos)
        if pos >= size:
            raise _NotJson
        lead = body[pos]
        if lead == _QUOTE:
            pos = _string_end(body, pos)
            continue
        pos += 1
        if lead in _OPEN:
            depth += 1
            continue
        depth -= 1
        if depth == 0:
            return pos
