"""Token ids that a client did not ask for."""

import json

import pytest

from gateway.protocol.chunks import Protocol
from gateway.protocol.rewrite import ModelRewriter
from gateway.protocol.strip import IdStripper, asking_for_ids, strip_ids


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (b'data: {"token_ids":[1, 22],"x":1}\n\n', b'data: {"token_ids":null,"x":1}\n\n'),
        (b'data: {"prompt_token_ids":[]}\n\n', b'data: {"prompt_token_ids":null}\n\n'),
        (b'data: {"token_ids":null}\n\n', b'data: {"token_ids":null}\n\n'),
        (b'data: {"c":"\\"token_ids\\":[1]"}\n\n', b'data: {"c":"\\"token_ids\\":[1]"}\n\n'),
    ],
)
def test_only_ids_change(event: bytes, expected: bytes) -> None:
    assert strip_ids(event) == expected


def test_the_name_changes_with_them() -> None:
    stripper = IdStripper(ModelRewriter("pub"))
    told = stripper.event(b'data: {"model":"m","token_ids":[1]}\n\n', Protocol.OPENAI_CHAT)
    assert told == b'data: {"model":"pub","token_ids":null}\n\n'
    assert "pub" in repr(stripper)


@pytest.mark.parametrize("body", [b"{}", b' { "a": 1}', b'{"a":{"b":2}}'])
def test_a_request_asks_for_ids_and_stays_as_it_is(body: bytes) -> None:
    asked = json.loads(asking_for_ids(body))
    assert asked.pop("return_token_ids") is True
    assert asked == json.loads(body)
