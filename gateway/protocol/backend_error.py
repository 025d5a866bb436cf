"""Error answers of backends in all their shapes, and bringing them into the caller's envelope."""

import json
from typing import Any, Final

from gateway.protocol.chunks import Protocol
from gateway.protocol.envelope import ErrorView, error_body

_TEXT_KEPT_CHARS: Final = 2000


def error_fields(body: bytes) -> dict[str, Any]:
    """The fields of an error body, nested, flat or a bare string; {} if there are none.

    vLLM nests them; before 0.10 they were flat; routes that do not exist give `{"detail"}` and a
    wrong key `{"error": "Unauthorized"}` (vllm/entrypoints/openai/server_utils.py).
    """
    value = _object(body)
    inner = value.get("error")
    if isinstance(inner, dict):
        return inner
    if isinstance(inner, str):
        return {"message": inner}
    if isinstance(value.get("message"), str):
        return {k: v for k, v in value.items() if k != "object"}
    detail = value.get("detail")
    if detail is not None:
        return {"message": detail if isinstance(detail, str) else json.dumps(detail)}
    return {}


def in_envelope(status: int, body: bytes, protocol: Protocol) -> bytes:
    """The body as the caller's protocol wants it: unchanged if it already is, else wrapped.

    Status and text are kept; text that is not JSON is cut to 2,000 characters.
    """
    value = _object(body)
    if isinstance(value.get("error"), dict) and (
        protocol is not Protocol.MESSAGES or value.get("type") == "error"
    ):
        return body
    return error_body(view_of(status, body), protocol)


def view_of(status: int, body: bytes) -> ErrorView:
    """What an error answer says, as the fields of our own envelope."""
    fields = error_fields(body)
    message = fields.get("message")
    if not isinstance(message, str) or not message.strip():
        message = _text(body) or f"The backend answered {status} without saying why."
    kind = fields.get("type")
    code = fields.get("code")
    param = fields.get("param")
    return ErrorView(
        status=status,
        message=message,
        type=kind if isinstance(kind, str) else _type_of(status),
        code=code if isinstance(code, str | int) else status,
        param=param if isinstance(param, str) else None,
    )


def _type_of(status: int) -> str:
    return "api_error" if status >= 500 else "invalid_request_error"


def _text(body: bytes) -> str:
    text = body[: 4 * _TEXT_KEPT_CHARS].decode("utf-8", "replace").strip()
    return text if len(text) <= _TEXT_KEPT_CHARS else text[:_TEXT_KEPT_CHARS] + "…"


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
