"""The strict and the lenient reader see the same fields."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from gateway.protocol.chunk_shapes import (
    is_set,
    read_chunk,
    read_messages_event,
    read_object,
    read_responses_event,
)

USAGE = {"prompt_tokens": 1, "x": [None, "a"]}


def plain(value: Any) -> Any:
    """A struct as JSON values, raw fields decoded."""
    if isinstance(value, msgspec.Raw):
        return json.loads(bytes(value))
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    return [plain(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("read", "event"),
    [
        (read_chunk, {"choices": [{"index": 1, "finish_reason": "stop"}], "usage": USAGE}),
        (read_chunk, {"choices": None, "error": {"message": "m"}, "object": "o", "type": "t"}),
        (
            read_responses_event,
            {"type": "t", "sequence_number": 4, "response": {"status": "s", "usage": USAGE}},
        ),
        (read_responses_event, {"status": "s", "usage": USAGE, "error": "e", "response": None}),
        (
            read_messages_event,
            {"type": "t", "delta": {"stop_reason": "s"}, "message": {"usage": USAGE}},
        ),
        (read_messages_event, {"stop_reason": "s", "usage": USAGE, "error": {"a": 1}}),
    ],
)
def test_both_readers_agree(read: Callable[[bytes], Any], event: dict[str, Any]) -> None:
    text = json.dumps(event).encode()
    # NaN makes the strict decoder refuse the text.
    odd = text[:-1] + b', "unread": NaN}'
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(odd)
    assert plain(read(text)) == plain(read(odd))
    assert all(plain(read(text))[name] == value for name, value in event.items() if name == "type")


@pytest.mark.parametrize("read", [read_chunk, read_responses_event, read_messages_event])
@pytest.mark.parametrize("text", [b"", b"x", b"[]", b"5", b'{"a":', b"[" * 100_000, b'"\xff"'])
def test_what_is_no_object_is_none(read: Callable[[bytes], Any], text: bytes) -> None:
    assert read(text) is None
    assert read_object(text) is None


def test_null_is_not_set() -> None:
    chunk = read_chunk(b'{"error": null, "usage": {}}')
    assert chunk is not None
    assert (is_set(chunk.error), is_set(chunk.usage)) == (False, True)
