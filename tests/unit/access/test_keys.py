"""Keys: who is let in, and what the others are told."""

import pytest

from gateway.access.keys import ANONYMOUS, Keyring, presented_key
from gateway.errors import Outcome, Refusal

RING = Keyring([("app", "secret-1"), ("batch", "secret-2")], b"salt")


@pytest.mark.parametrize(
    ("headers", "caller"),
    [
        ([(b"authorization", b"Bearer secret-1")], "app"),
        ([(b"authorization", b"bearer  secret-2 ")], "batch"),
        ([(b"x-api-key", b"secret-1")], "app"),
        ([(b"api-key", b"secret-2")], "batch"),
        ([(b"x-api-key", b"wrong"), (b"authorization", b"Bearer secret-1")], "app"),
        ([(b"authorization", b"Basic abc"), (b"x-api-key", b"secret-1")], "app"),
    ],
)
def test_a_known_key_names_its_caller(headers: list[tuple[bytes, bytes]], caller: str) -> None:
    assert RING.authorize(headers).name == caller


@pytest.mark.parametrize(
    ("headers", "outcome"),
    [
        ([], Outcome.KEY_REQUIRED),
        ([(b"authorization", b"")], Outcome.KEY_REQUIRED),
        ([(b"authorization", b"Bearer ")], Outcome.KEY_REQUIRED),
        ([(b"authorization", b"Basic c2VjcmV0LTE=")], Outcome.KEY_REQUIRED),
        ([(b"x-api-key", b" ")], Outcome.KEY_REQUIRED),
        ([(b"authorization", b"Bearer secret")], Outcome.KEY_INVALID),
        ([(b"authorization", b"Bearer secret-11")], Outcome.KEY_INVALID),
        ([(b"authorization", b"Bearer SECRET-1")], Outcome.KEY_INVALID),
        ([(b"x-api-key", b"\xff\x00")], Outcome.KEY_INVALID),
        ([(b"cookie", b"secret-1")], Outcome.KEY_REQUIRED),
    ],
)
def test_everything_else_is_refused(headers: list[tuple[bytes, bytes]], outcome: Outcome) -> None:
    with pytest.raises(Refusal) as caught:
        RING.authorize(headers)
    assert caught.value.outcome is outcome
    assert "secret" not in caught.value.message


def test_without_keys_everybody_is_anonymous() -> None:
    ring = Keyring([], b"salt")
    assert not ring
    assert ring.authorize([]) is ANONYMOUS
    assert ring.authorize([(b"authorization", b"Bearer x")]) is ANONYMOUS


def test_keys_are_not_shown() -> None:
    assert repr(RING) == "<Keyring 2 keys>"
    assert presented_key([(b"authorization", b"Bearer a")]) == b"a"
