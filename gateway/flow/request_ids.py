"""The two ids of a request: the client's own, and a fresh one for each engine."""

import re
from typing import Final

from gateway.protocol.headers import Headers, first

_ACCEPTABLE: Final = re.compile(rb"[\x21-\x7e]{1,200}")


class RequestIds:
    """Makes ids that no other request has; `prefix` tells gateways apart."""

    __slots__ = ("_count", "_prefix")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0

    def fresh(self) -> str:
        """A new id. Engines crash or mix answers when two live requests share one."""
        self._count += 1
        return f"{self._prefix}-{self._count:x}"

    def of(self, headers: Headers) -> tuple[str, str]:
        """The id to echo to the client (its own where it is usable), and a fresh one."""
        fresh = self.fresh()
        given = first(headers, b"x-request-id")
        if given is not None and _ACCEPTABLE.fullmatch(given):
            return given.decode("ascii"), fresh
        return fresh, fresh
