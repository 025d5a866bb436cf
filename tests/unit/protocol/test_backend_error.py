"""Error bodies of backends, in all shapes, in the caller's envelope."""

import json

import pytest

from gateway.protocol.backend_error import error_fields, in_envelope
from gateway.protocol.chunks import Protocol

NESTED = b'{"error": {"message":"m","type":"T","param":null,"code":400}}'
FLAT = b'{"object":"error","message":"m","type":"T","param":null,"code":400}'
ANTHROPIC = b'{"type":"error","error":{"type":"T","message":"m"}}'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (NESTED, "m"),
        (FLAT, "m"),
        (ANTHROPIC, "m"),
        (b'{"error":"Unauthorized"}', "Unauthorized"),
        (b'{"detail":"Not Found"}', "Not Found"),
        (b'{"detail":[{"loc":1}]}', '[{"loc": 1}]'),
        (b"Internal Server Error", None),
        (b"", None),
        (b"[1]", None),
        (b"\xff\xfe", None),
    ],
)
def test_fields(body: bytes, message: str | None) -> None:
    assert error_fields(body).get("message") == message


def test_what_is_in_the_envelope_stays_byte_for_byte() -> None:
    assert in_envelope(400, NESTED, Protocol.OPENAI_CHAT) is NESTED
    assert in_envelope(400, ANTHROPIC, Protocol.MESSAGES) is ANTHROPIC


@pytest.mark.parametrize(
    ("status", "body", "message", "kind", "code"),
    [
        (400, FLAT, "m", "T", 400),
        (401, b'{"error":"Unauthorized"}', "Unauthorized", "invalid_request_error", 401),
        (404, b'{"detail":"Not Found"}', "Not Found", "invalid_request_error", 404),
        (500, b"Internal Server Error", "Internal Server Error", "api_error", 500),
        (502, b"<html>bad</html>", "<html>bad</html>", "api_error", 502),
        (404, b"", "The backend answered 404 without saying why.", "invalid_request_error", 404),
        (500, b"\xff", "\ufffd", "api_error", 500),
        (400, b'{"error":{}}', None, None, None),
    ],
)
def test_everything_else_is_wrapped(
    status: int, body: bytes, message: str | None, kind: str | None, code: int | None
) -> None:
    told = json.loads(in_envelope(status, body, Protocol.OPENAI_CHAT))["error"]
    assert told.get("message") == message
    assert told.get("type") == kind
    assert told.get("code") == code


def test_an_openai_error_becomes_anthropics_for_messages() -> None:
    told = json.loads(in_envelope(400, NESTED, Protocol.MESSAGES))
    assert (told["type"], told["error"]["message"]) == ("error", "m")


def test_long_text_is_cut() -> None:
    told = json.loads(in_envelope(500, b"x" * 1_000_000, Protocol.GENERIC))
    assert len(told["error"]["message"]) == 2001
