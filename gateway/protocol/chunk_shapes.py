"""The few fields of an engine's events and answers that are read, decoded and checked for type.

msgspec checks that the whole text is JSON while it passes over all other fields. What it refuses
(NaN, lone surrogates, a field of an unexpected type) is read by Python's json instead, leniently.
"""

import json
from typing import Any, Final

import msgspec

_NONE: Final = msgspec.Raw(b"null")
_NULL: Final = b"null"


class Choice(msgspec.Struct, gc=False):
    """One choice of an OpenAI event or answer."""

    index: int = 0
    finish_reason: str | None = None


class Delta(msgspec.Struct, gc=False):
    """The part of a Messages event that carries the end of the answer."""

    stop_reason: str | None = None


class Response(msgspec.Struct):
    """The response object inside an event of the Responses API."""

    status: str | None = None
    error: msgspec.Raw = _NONE
    usage: msgspec.Raw = _NONE


class Message(msgspec.Struct):
    """The message object inside `message_start` of the Messages API."""

    usage: msgspec.Raw = _NONE


class Chunk(msgspec.Struct):
    """An event or an answer in OpenAI's chat or completions shape; audio streams use it too."""

    choices: list[Choice] | None = None
    error: msgspec.Raw = _NONE
    usage: msgspec.Raw = _NONE
    object: str | None = None
    type: str | None = None


class TalkDelta(msgspec.Struct, gc=False):
    """What a chat event adds to the answer."""

    role: str | None = None
    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: msgspec.Raw = _NONE


class TalkChoice(Choice):
    """A choice with what it says: `delta` of chat, `text` of completions."""

    delta: TalkDelta | None = None
    text: str | None = None
    token_ids: list[int] | None = None
    prompt_token_ids: list[int] | None = None


class TalkChunk(Chunk):
    """A chat or completions event with what it says."""

    choices: list[TalkChoice] | None = None  # type: ignore[assignment]
    prompt_token_ids: list[int] | None = None


class ResponsesEvent(msgspec.Struct):
    """An event of the Responses API, or (with `status`) a whole answer of it."""

    type: str | None = None
    sequence_number: int | None = None
    response: Response | None = None
    error: msgspec.Raw = _NONE
    usage: msgspec.Raw = _NONE
    status: str | None = None


class MessagesEvent(msgspec.Struct):
    """An event of the Messages API, or (with `stop_reason`) a whole answer of it."""

    type: str | None = None
    delta: Delta | None = None
    message: Message | None = None
    error: msgspec.Raw = _NONE
    usage: msgspec.Raw = _NONE
    stop_reason: str | None = None


class _ContentChoice(msgspec.Struct):
    delta: dict[str, Any] | None = None
    text: str | None = None


class _ContentChunk(msgspec.Struct):
    choices: list[_ContentChoice] | None = None


_CHUNK: Final = msgspec.json.Decoder(Chunk)
_TALK: Final = msgspec.json.Decoder(TalkChunk)
_RESPONSES: Final = msgspec.json.Decoder(ResponsesEvent)
_MESSAGES: Final = msgspec.json.Decoder(MessagesEvent)
_CONTENT: Final = msgspec.json.Decoder(_ContentChunk)


def read_chunk(data: bytes) -> Chunk | None:
    """`data` as a chunk; None if it is not a JSON object."""
    try:
        return _CHUNK.decode(data)
    except (msgspec.DecodeError, RecursionError):
        fields = _object(data)
    if fields is None:
        return None
    choices = fields.get("choices")
    return Chunk(
        choices=[_choice(one) for one in choices if isinstance(one, dict)]
        if isinstance(choices, list)
        else None,
        error=_raw(fields.get("error")),
        usage=_raw(fields.get("usage")),
        object=_text(fields.get("object")),
        type=_text(fields.get("type")),
    )


def read_talk(data: bytes) -> TalkChunk | None:
    """`data` with what it says; None if it is odd in any way (then `read_chunk` may still do)."""
    try:
        return _TALK.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None


def read_responses_event(data: bytes) -> ResponsesEvent | None:
    """`data` as an event or answer of the Responses API; None if it is not a JSON object."""
    try:
        return _RESPONSES.decode(data)
    except (msgspec.DecodeError, RecursionError):
        fields = _object(data)
    if fields is None:
        return None
    response = fields.get("response")
    number = fields.get("sequence_number")
    return ResponsesEvent(
        type=_text(fields.get("type")),
        sequence_number=number if type(number) is int else None,
        response=Response(
            status=_text(response.get("status")),
            error=_raw(response.get("error")),
            usage=_raw(response.get("usage")),
        )
        if isinstance(response, dict)
        else None,
        error=_raw(fields.get("error")),
        usage=_raw(fields.get("usage")),
        status=_text(fields.get("status")),
    )


def read_messages_event(data: bytes) -> MessagesEvent | None:
    """`data` as an event or answer of the Messages API; None if it is not a JSON object."""
    try:
        return _MESSAGES.decode(data)
    except (msgspec.DecodeError, RecursionError):
        fields = _object(data)
    if fields is None:
        return None
    delta = fields.get("delta")
    message = fields.get("message")
    return MessagesEvent(
        type=_text(fields.get("type")),
        delta=Delta(_text(delta.get("stop_reason"))) if isinstance(delta, dict) else None,
        message=Message(_raw(message.get("usage"))) if isinstance(message, dict) else None,
        error=_raw(fields.get("error")),
        usage=_raw(fields.get("usage")),
        stop_reason=_text(fields.get("stop_reason")),
    )


def chunk_has_content(data: bytes) -> bool:
    """If a chunk brings anything of the answer: text, reasoning, a tool call, an unknown field."""
    try:
        chunk = _CONTENT.decode(data)
    except (msgspec.DecodeError, RecursionError):
        # Odd, but there is something in it; it only dates the first token.
        return True
    return any(
        bool(choice.text)
        or any(value for name, value in (choice.delta or {}).items() if name != "role")
        for choice in chunk.choices or ()
    )


def is_set(raw: msgspec.Raw) -> bool:
    """If a field was there and not null."""
    return bytes(raw) != _NULL


def read_object(data: bytes) -> dict[str, Any] | None:
    """`data` as a JSON object with all its fields; None if it is none."""
    return _object(data)


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _choice(fields: dict[str, Any]) -> Choice:
    index = fields.get("index")
    return Choice(
        index=index if type(index) is int else 0, finish_reason=_text(fields.get("finish_reason"))
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _raw(value: object) -> msgspec.Raw:
    return _NONE if value is None else msgspec.Raw(json.dumps(value).encode())
