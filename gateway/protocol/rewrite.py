"""Putting another model name into requests and answers; every other byte stays as it is."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from gateway.errors import Outcome, Refusal
from gateway.protocol.chunks import Protocol
from gateway.protocol.json_spans import (
    MESSAGE_MODEL,
    MODEL,
    RESPONSE_MODEL,
    Span,
    body_start,
    model_spans,
)
from gateway.protocol.sse import data_spans

_NEEDLE: Final = b'"model"'
_ESCAPED: Final = b"\\u006"
_QUOTE: Final = 0x22
_EVENT_PATHS: Final[Mapping[Protocol, tuple[str, ...]]] = MappingProxyType(
    {Protocol.RESPONSES: RESPONSE_MODEL, Protocol.MESSAGES: MESSAGE_MODEL}
)


def json_name(name: str) -> bytes:
    """`name` as a JSON string: UTF-8 as it is, only what JSON demands is escaped."""
    return msgspec.json.encode(name)


def rewrite_request(body: bytes, served_name: str) -> bytes:
    """`body` with every top-level `model` set to `served_name`; put in first if there is none.

    `body` is one that `read_json_request` has taken; raises Refusal BODY_NOT_JSON if it is not
    an object.
    """
    value = json_name(served_name)
    spans = model_spans(body)
    if spans:
        return replace_spans(body, spans, value)
    brace = body_start(body)
    if body[brace : brace + 1] != b"{":
        raise Refusal(
            Outcome.BODY_NOT_JSON, "The request body is not a JSON object; send one JSON object."
        )
    inside = brace + 1
    is_empty = body[inside:].lstrip(b" \t\n\r").startswith(b"}")
    member = b'"model":' + value + (b"" if is_empty else b",")
    return b"".join((body[:inside], member, memoryview(body)[inside:]))


def rename_in_header(value: bytes, shown_name: str) -> bytes:
    """A header that holds a JSON object, with its top-level `model` set to `shown_name`.

    vLLM puts `metadata` beside embeddings in raw bytes (0.32, entrypoints/pooling/utils.py);
    headers are ASCII, so other letters of the name are escaped. Unchanged if it is no such object.
    """
    if not value.strip().startswith(b"{"):
        return value
    name = json.dumps(shown_name).encode("ascii")
    return replace_spans(value, _strings(value, model_spans(value, MODEL)), name)


def replace_spans(body: bytes, spans: Sequence[Span], value: bytes) -> bytes:
    """`body` with each span, in rising order, replaced by `value`."""
    view = memoryview(body)
    parts: list[bytes | memoryview] = []
    last = 0
    for start, end in spans:
        parts.append(view[last:start])
        parts.append(value)
        last = end
    parts.append(view[last:])
    return b"".join(parts)


class ModelRewriter:
    """Puts the name that the client knows into the bodies or events of one answer.

    One object per answer: the events of a stream begin alike up to the model, so what was found
    in one event is used for the next.
    """

    __slots__ = ("_begin", "_begin_shown", "_shown", "_value", "shown_name")

    def __init__(self, shown_name: str) -> None:
        self.shown_name = shown_name
        self._value = json_name(shown_name)
        self._shown = _NEEDLE + b":" + self._value
        self._begin = b""
        self._begin_shown = b""

    def __repr__(self) -> str:
        return f"ModelRewriter({self.shown_name!r})"

    def body(self, body: bytes, protocol: Protocol) -> bytes:
        """A whole answer; unchanged if it is no JSON object or its model is no string."""
        del protocol  # whole answers hold the model on top in all of them
        if body.count(_NEEDLE) == 1 and self._shown in body and _ESCAPED not in body:
            return body
        if not body.rstrip().endswith(b"}"):
            return body
        return self._replaced(body, _strings(body, model_spans(body, MODEL)))

    def event(self, event: bytes, protocol: Protocol) -> bytes:
        """One event of a stream; unchanged if it names no model."""
        begin = self._begin
        if begin and event.startswith(begin):
            size = len(begin)
            if event.find(_NEEDLE, size) < 0 and _ESCAPED not in event:
                if self._begin_shown is begin:
                    return event
                return self._begin_shown + event[size:]
        elif _NEEDLE not in event and _ESCAPED not in event:
            return event
        return self._event_anew(event, protocol)

    def _event_anew(self, event: bytes, protocol: Protocol) -> bytes:
        lines = data_spans(event)
        if not lines:
            return event
        data = b"\n".join([event[start:end] for start, end in lines])
        found = model_spans(data, _EVENT_PATHS.get(protocol, MODEL))
        spans = [_in_event(span, lines) for span in _strings(data, found)]
        if len(spans) == 1 and len(lines) == 1:
            start, end = spans[0]
            self._begin = event[:end]
            is_shown = event[start:end] == self._value
            self._begin_shown = self._begin if is_shown else event[:start] + self._value
        return self._replaced(event, spans)

    def _replaced(self, text: bytes, spans: list[Span]) -> bytes:
        wrong = [span for span in spans if text[span[0] : span[1]] != self._value]
        return replace_spans(text, wrong, self._value) if wrong else text


def _strings(text: bytes, spans: list[Span]) -> list[Span]:
    return [span for span in spans if text[span[0]] == _QUOTE]


def _in_event(span: Span, lines: Sequence[Span]) -> Span:
    """Where a span of the joined data stands in the event; a string never crosses a line."""
    start, end = span
    offset = 0
    for line_start, line_end in lines:
        size = line_end - line_start
        if start < offset + size:
            return line_start + start - offset, line_start + end - offset
        offset += size + 1
    raise AssertionError("the span is not in the event")
