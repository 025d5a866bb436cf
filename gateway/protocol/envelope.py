"""The one table from an outcome to what a client sees, and its rendering in each protocol."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from gateway.errors import Outcome, Refusal
from gateway.protocol.chunks import Protocol
from gateway.protocol.compact import compact_json


@dataclass(frozen=True, slots=True)
class Face:
    """How an outcome looks: HTTP status, OpenAI's error type, and what it means for people."""

    status: int
    type: str
    meaning: str


_INVALID: Final = "invalid_request_error"
_UNAVAILABLE: Final = "service_unavailable_error"

TABLE: Final[Mapping[Outcome, Face]] = MappingProxyType(
    {
        Outcome.HTTP_INVALID: Face(400, _INVALID, "What was sent is not HTTP/1.x."),
        Outcome.HEADER_INVALID: Face(400, _INVALID, "A header of the request can't be understood."),
        Outcome.HEAD_TOO_LARGE: Face(431, _INVALID, "The head of the request is too large."),
        Outcome.HEAD_TOO_SLOW: Face(408, _INVALID, "The head did not arrive in time."),
        Outcome.BODY_NOT_JSON: Face(400, _INVALID, "The body is not a JSON object."),
        Outcome.BODY_NOT_UTF8: Face(400, _INVALID, "The body is not valid UTF-8."),
        Outcome.BODY_TOO_DEEP: Face(400, _INVALID, "The JSON is nested too deeply."),
        Outcome.BODY_TOO_LARGE: Face(413, _INVALID, "The body is larger than the limit."),
        Outcome.BODY_TOO_SLOW: Face(408, _INVALID, "The body did not arrive in time."),
        Outcome.BODY_NOT_MULTIPART: Face(400, _INVALID, "The form can't be read."),
        Outcome.MEDIA_TYPE_UNSUPPORTED: Face(
            415, _INVALID, "The body has a content type or coding that is not taken here."
        ),
        Outcome.MODEL_REQUIRED: Face(400, _INVALID, "`model` is missing or not a name."),
        Outcome.MODEL_NOT_FOUND: Face(404, _INVALID, "No model of that name is configured."),
        Outcome.MODEL_UNAVAILABLE: Face(
            503, _UNAVAILABLE, "The model is known, but none of its backends can serve it now."
        ),
        Outcome.MODEL_NOT_PERMITTED: Face(
            403, "permission_error", "The key or the model does not allow this request."
        ),
        Outcome.MODALITY_UNSUPPORTED: Face(
            400, _INVALID, "No backend of the model takes what the prompt holds beside text."
        ),
        Outcome.CONTEXT_TOO_LONG: Face(
            400, _INVALID, "Prompt and answer exceed the context of every backend."
        ),
        Outcome.OUTPUT_TOO_LONG: Face(
            400, _INVALID, "The request asks for more output than the model's limit here."
        ),
        Outcome.KEY_REQUIRED: Face(401, "authentication_error", "The request has no API key."),
        Outcome.KEY_INVALID: Face(401, "authentication_error", "The API key is not known."),
        Outcome.ROUTE_UNKNOWN: Face(404, _INVALID, "There is no such path here."),
        Outcome.ROUTE_DISABLED: Face(404, _INVALID, "The path is switched off here."),
        Outcome.METHOD_NOT_ALLOWED: Face(405, _INVALID, "The path does not take this method."),
        Outcome.OVERLOADED: Face(429, "rate_limit_error", "All backends of the model are full."),
        Outcome.DRAINING: Face(503, _UNAVAILABLE, "This gateway is shutting down."),
        Outcome.UPSTREAM_UNREACHABLE: Face(502, "api_error", "The backend could not be reached."),
        Outcome.UPSTREAM_CUT: Face(502, "api_error", "The backend ended its answer too early."),
        Outcome.UPSTREAM_ABORTED: Face(502, "api_error", "The backend gave up on the request."),
        Outcome.UPSTREAM_MALFORMED: Face(
            502, "api_error", "The backend sent something that is not an answer."
        ),
        Outcome.UPSTREAM_TIMEOUT: Face(504, "api_error", "The backend took longer than it may."),
        Outcome.UPSTREAM_ERROR: Face(502, "api_error", "The backend failed."),
        Outcome.INTERNAL: Face(500, "api_error", "The gateway itself failed."),
    }
)

# Anthropic's error types by status (docs: API reference, "Errors").
_ANTHROPIC_TYPES: Final[Mapping[int, str]] = MappingProxyType(
    {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        503: "overloaded_error",
        504: "timeout_error",
    }
)


@dataclass(frozen=True, slots=True)
class ErrorView:
    """An error ready to be rendered: HTTP status and the four fields of OpenAI's envelope.

    `code` may be a number, as engines send it. `retry_after_s` becomes whole seconds.
    """

    status: int
    message: str
    type: str
    code: str | int | None
    param: str | None = None
    retry_after_s: float | None = None

    @classmethod
    def of(cls, refusal: Refusal) -> "ErrorView":
        """The view of a refusal by the table."""
        face = TABLE[refusal.outcome]
        return cls(
            status=face.status,
            message=refusal.message,
            type=face.type,
            code=refusal.outcome.value,
            param=refusal.param,
            retry_after_s=refusal.retry_after_s,
        )

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers of an answer that is this error, without its length.

        Retry-After is rounded up to whole seconds and at least 1; a 401 names its scheme
        (RFC 9110 §11.6.1).
        """
        headers = [(b"content-type", b"application/json")]
        if self.retry_after_s is not None:
            headers.append((b"retry-after", b"%d" % max(1, math.ceil(self.retry_after_s))))
        if self.status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        return headers


def error_body(view: ErrorView, protocol: Protocol) -> bytes:
    """The JSON body of an error in the caller's protocol."""
    if protocol is Protocol.MESSAGES:
        return compact_json(_anthropic(view))
    return compact_json({"error": _openai(view)})


def error_event(view: ErrorView, protocol: Protocol, sequence_number: int = 0) -> bytes:
    """The last event of a stream that fails after it began; no end marker follows it.

    The Responses API has an `error` event of its own (OpenAI API reference, "Streaming events").
    """
    if protocol is Protocol.MESSAGES:
        return b"event: error\ndata: " + compact_json(_anthropic(view)) + b"\n\n"
    if protocol is Protocol.RESPONSES:
        event = {
            "type": "error",
            "code": None if view.code is None else str(view.code),
            "message": view.message,
            "param": view.param,
            "sequence_number": sequence_number,
            # The official client raises only for events that carry an `error` object.
            "error": _openai(view),
        }
        return b"event: error\ndata: " + compact_json(event) + b"\n\n"
    return b"data: " + compact_json({"error": _openai(view)}) + b"\n\n"


def _openai(view: ErrorView) -> dict[str, Any]:
    return {
        "message": view.message,
        "type": view.type,
        "param": view.param,
        "code": view.code,
    }


def _anthropic(view: ErrorView) -> dict[str, Any]:
    kind = _ANTHROPIC_TYPES.get(view.status, "api_error")
    error: dict[str, Any] = {"type": kind, "message": view.message}
    if view.code is not None:
        error["code"] = view.code
    if view.param is not None:
        error["param"] = view.param
    return {"type": "error", "error": error}
