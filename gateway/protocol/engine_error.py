"""An error that an engine reports inside a stream or an answer with status 200."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error as the engine told it; `code` may be a number, as vLLM sends the status there."""

    message: str
    type: str | None = None
    code: str | int | None = None
    param: str | None = None


def error_from_object(value: dict[str, Any]) -> ErrorInfo | None:
    """The error in an event or a body that may as well be a normal one; None if it is.

    Known shapes: `{"error": {...}}`, `{"error": "text"}`, the flat one of vLLM before 0.10
    (`{"object": "error", "message": ...}`), Anthropic's and the Responses API's `error` events,
    and `response.failed`.
    """
    error = value.get("error")
    if isinstance(error, dict):
        return _from_fields(error)
    if isinstance(error, str) and error:
        return ErrorInfo(error)
    if error:
        return ErrorInfo(json.dumps(error))
    if value.get("type") == "error" or value.get("object") == "error":
        return _from_fields(value)
    response = value.get("response")
    if value.get("type") == "response.failed" and isinstance(response, dict):
        inner = response.get("error")
        fields = inner if isinstance(inner, dict) else {}
        return _from_fields({"message": "the engine says that the response failed", **fields})
    return None


def _from_fields(fields: dict[str, Any]) -> ErrorInfo:
    code = fields.get("code")
    return ErrorInfo(
        message=_text(fields.get("message")) or "the engine gave no message",
        type=_text(fields.get("type")),
        code=code if isinstance(code, str | int) else None,
        param=_text(fields.get("param")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
