"""Who may use the gateway: keys of clients and of administrators, compared in constant time."""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from gateway.errors import Outcome, Refusal

Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request: the name of its key, or `anonymous` where no keys are set."""

    name: str


ANONYMOUS: Final = Caller("anonymous")


class Keyring:
    """A set of named keys.

    Keys are kept as keyed digests (`salt` is secret and random per process) and every one is
    compared in constant time, so the time of a look-up says nothing about how much was right.
    """

    __slots__ = ("_callers", "_salt")

    def __init__(self, keys: Iterable[tuple[str, str]], salt: bytes) -> None:
        self._salt = salt
        self._callers = {self._digest(key.encode()): Caller(name) for name, key in keys}

    def __repr__(self) -> str:
        return f"<Keyring {len(self._callers)} keys>"

    def __bool__(self) -> bool:
        return bool(self._callers)

    def find(self, key: bytes) -> Caller | None:
        """The caller whose key this is, or None."""
        digest = self._digest(key)
        found: Caller | None = None
        for known, caller in self._callers.items():
            if hmac.compare_digest(digest, known):
                found = caller
        return found

    def authorize(self, headers: Headers) -> Caller:
        """The caller of a request; raises `Refusal` with KEY_REQUIRED or KEY_INVALID.

        A ring without keys lets everybody in as anonymous.
        """
        if not self._callers:
            return ANONYMOUS
        presented = presented_key(headers)
        if presented is None:
            raise Refusal(
                Outcome.KEY_REQUIRED,
                "The request has no API key. Send it as 'Authorization: Bearer KEY' or as "
                "'x-api-key: KEY'.",
            )
        caller = self.find(presented)
        if caller is None:
            raise Refusal(
                Outcome.KEY_INVALID,
                "The API key is not known to this gateway. Check that it is a key of the gateway, "
                "not of a backend, and that it was copied whole.",
            )
        return caller

    def _digest(self, key: bytes) -> bytes:
        return blake2b(key, key=self._salt, digest_size=32).digest()


def presented_key(headers: Headers) -> bytes | None:
    """The key that a request carries: a bearer token (OpenAI), or x-api-key (Anthropic)."""
    fallback: bytes | None = None
    for name, value in headers:
        if name == b"authorization":
            scheme, _, token = value.strip().partition(b" ")
            if scheme.lower() == b"bearer" and token.strip():
                return token.strip()
        elif name in (b"x-api-key", b"api-key") and value.strip():
            fallback = value.strip()
    return fallback
