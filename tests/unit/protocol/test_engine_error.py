"""Errors in the shapes in which engines send them."""

from typing import Any

import pytest

from gateway.protocol.engine_error import ErrorInfo, error_from_object


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({}, None),
        ({"error": None}, None),
        ({"error": ""}, None),
        ({"message": "m"}, None),
        ({"error": {"message": "m", "type": "t", "param": "p", "code": 400}}, ("m", "t", 400, "p")),
        ({"error": {"message": "m", "code": "c"}}, ("m", None, "c", None)),
        ({"error": {}}, ("the engine gave no message", None, None, None)),
        ({"error": {"message": 5, "code": []}}, ("the engine gave no message", None, None, None)),
        ({"error": "Unauthorized"}, ("Unauthorized", None, None, None)),
        ({"error": ["a"]}, ('["a"]', None, None, None)),
        ({"object": "error", "message": "m", "type": "T"}, ("m", "T", None, None)),
        ({"type": "error", "error": {"type": "t", "message": "m"}}, ("m", "t", None, None)),
        ({"type": "error", "message": "m", "code": "c"}, ("m", "error", "c", None)),
        ({"type": "response.failed", "response": {"error": {"message": "m"}}}, ("m",)),
        ({"type": "response.completed", "response": {"error": {"message": "m"}}}, None),
    ],
)
def test_shapes(value: dict[str, Any], error: tuple[Any, ...] | None) -> None:
    assert error_from_object(value) == (None if error is None else ErrorInfo(*error))
