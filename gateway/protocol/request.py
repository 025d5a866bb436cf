"""Reading the few fields of a JSON request body that the gateway itself needs."""

import json
from typing import Any, Final, NamedTuple

import msgspec

from gateway.errors import Outcome, Refusal

# Both decoders, on every supported interpreter, take far more (about 990); a bound of our own
# makes the refusal the same everywhere. Real requests, JSON schemas included, stay below 50.
MAX_DEPTH: Final = 200

_BOM: Final = b"\xef\xbb\xbf"
_DECODER: Final = msgspec.json.Decoder()
# What pydantic takes as true for a bool field in lax mode, as vLLM's request models do.
_TRUE_WORDS: Final = frozenset({"1", "on", "t", "true", "y", "yes"})
_LONG_LIST: Final = 256


class RequestFacts(NamedTuple):
    """What every request must tell: the decoded body, the model it names, and if it streams.

    `model` is None when the body has none, null or an empty string. With a key given twice the
    last one counts, as in the engine. `is_stream` is what the engine would make of the field;
    it is only a hint, since the content type of the answer decides.
    """

    payload: dict[str, Any]
    model: str | None
    is_stream: bool


def read_json_request(body: bytes) -> RequestFacts:
    """Decodes a request body.

    Raises Refusal: BODY_NOT_UTF8, BODY_NOT_JSON (also for JSON that is no object), BODY_TOO_DEEP,
    or MODEL_REQUIRED if `model` is there but is not a string.
    """
    payload = _decode(body)
    if type(payload) is not dict:
        raise Refusal(
            Outcome.BODY_NOT_JSON,
            f"The request body is {json_kind(payload)}; send one JSON object, "
            'such as {"model": "...", ...}.',
        )
    # As many levels need as many brackets, which are counted much faster.
    may_be_deep = body.count(b"[") + body.count(b"{") > MAX_DEPTH
    if may_be_deep and is_deeper_than(payload, MAX_DEPTH):
        raise _too_deep()
    model = payload.get("model")
    if model is not None and type(model) is not str:
        raise Refusal(
            Outcome.MODEL_REQUIRED,
            f"`model` must be a string that names a model, but it is {json_kind(model)}.",
            param="model",
        )
    stream = payload.get("stream")
    is_stream = stream if type(stream) is bool else is_true(stream)
    return RequestFacts(payload=payload, model=model or None, is_stream=is_stream)


def is_true(value: object) -> bool:
    """If the engine takes `value` as true in a boolean field (true, 1, 1.0, "true", "on" ...)."""
    if isinstance(value, str):
        return value.lower() in _TRUE_WORDS
    return isinstance(value, int | float) and value == 1


def json_kind(value: object) -> str:
    """What a decoded JSON value is, for messages: "a number", "an array" ..."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


def is_deeper_than(payload: object, limit: int) -> bool:
    """If `payload` nests lists and objects more than `limit` levels deep, itself included."""
    level = [payload]
    for _ in range(limit):
        level = [
            child
            for node in level
            for child in _children(node)
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def _children(node: Any) -> Any:
    if type(node) is dict:
        return node.values()
    # Lists of token ids may hold a million numbers; this looks through them at C speed.
    if len(node) > _LONG_LIST and {dict, list}.isdisjoint(map(type, node)):
        return ()
    return node


def _decode(body: bytes) -> Any:
    try:
        return _DECODER.decode(body)
    except msgspec.DecodeError:
        return _decode_as_the_engine(body)
    except RecursionError:
        raise _too_deep() from None


def _decode_as_the_engine(body: bytes) -> Any:
    # vLLM reads bodies with Python's json, which takes a BOM, NaN, 1e999 and lone surrogates.
    try:
        text = body.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal(
            Outcome.BODY_NOT_UTF8,
            f"The request body must be UTF-8, but byte {error.start} is not: {error.reason}. "
            "Encode the body as UTF-8.",
        ) from None
    if "\0" in text[:4]:
        raise Refusal(
            Outcome.BODY_NOT_UTF8,
            "The request body must be UTF-8, but it looks like UTF-16 or UTF-32. "
            "Encode the body as UTF-8.",
        )
    if not text.strip():
        raise Refusal(
            Outcome.BODY_NOT_JSON,
            'The request body is empty; send one JSON object, such as {"model": "...", ...}.',
        )
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Refusal(
            Outcome.BODY_NOT_JSON,
            f"The request body is not valid JSON (line {error.lineno}, column {error.colno}, "
            f"character {error.pos}): {error.msg}. Send one JSON object.",
        ) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        # A number of more digits than Python converts; the engine refuses it as well.
        raise Refusal(
            Outcome.BODY_NOT_JSON, f"The request body can't be decoded: {error}."
        ) from None


def _too_deep() -> Refusal:
    return Refusal(
        Outcome.BODY_TOO_DEEP,
        f"The request body nests arrays and objects more than {MAX_DEPTH} levels deep; flatten it.",
    )
