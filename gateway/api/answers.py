"""Answers of the site's routes."""

import json
from typing import Any

from fastapi import Response

from gateway.errors import Refusal
from gateway.protocol.chunks import Protocol
from gateway.protocol.envelope import ErrorView, error_body


def as_json(value: Any, status: int = 200) -> Response:
    """`value` as a JSON answer, non-ASCII text readable."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Response(body, status, media_type="application/json")


def envelope(refusal: Refusal) -> Response:
    """A refusal as an answer."""
    view = ErrorView.of(refusal)
    headers = {name.decode(): value.decode() for name, value in view.headers}
    return Response(error_body(view, Protocol.GENERIC), view.status, headers)


def as_error(status: int, code: str, message: str, param: str | None = None) -> Response:
    """An error of the site's own routes, in the envelope of all errors."""
    view = ErrorView(status, message, "invalid_request_error", code, param)
    return Response(error_body(view, Protocol.GENERIC), status, media_type="application/json")
