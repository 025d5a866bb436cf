"""Short JSON."""

import json

import pytest

from gateway.protocol.compact import compact_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, None]}, b'{"a":[1,null]}'),
        ("\u901a", b'"\xe9\x80\x9a"'),
        ("\ud800\u901a", b'"\\ud800\\u901a"'),
    ],
)
def test_what_is_written(value: object, text: bytes) -> None:
    assert compact_json(value) == text
    assert json.loads(text) == value
