"""Undoing a content coding that a backend applied although it was asked not to.

Engines send plain bytes; a proxy between may not. Names can only be rewritten in plain bytes, so
what can be undone is, within a bound; what can't passes as it is, with its header.
"""

import zlib
from typing import Final

from gateway.errors import Phase, ResponseMalformed

_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


class Decoder:
    """Undoes gzip or deflate piece by piece; output is bounded to `max_bytes` in all."""

    __slots__ = ("_inflate", "_left_bytes", "_max_bytes", "coding")

    def __init__(self, coding: str, max_bytes: int) -> None:
        self.coding = coding
        self._inflate = zlib.decompressobj(_GZIP_WINDOW if coding == "gzip" else zlib.MAX_WBITS)
        self._max_bytes = max_bytes
        self._left_bytes = max_bytes

    def feed(self, piece: bytes) -> bytes:
        """The plain bytes that `piece` adds; raises ResponseMalformed if it is not so coded."""
        try:
            plain = self._inflate.decompress(piece, self._left_bytes + 1)
        except zlib.error as error:
            raise ResponseMalformed(
                f"the backend's answer says it is {self.coding} but can't be unpacked: {error}",
                phase=Phase.BETWEEN,
            ) from error
        self._left_bytes -= len(plain)
        if self._left_bytes < 0:
            raise ResponseMalformed(
                f"the backend's answer unpacks to more than {self._max_bytes} bytes",
                phase=Phase.BETWEEN,
            )
        return plain

    def finish(self) -> None:
        """Says that no more comes; raises ResponseMalformed if the coded bytes are not whole."""
        if not self._inflate.eof:
            raise ResponseMalformed(
                f"the backend's {self.coding} answer ends too early", phase=Phase.BETWEEN
            )


def decoder_for(coding: bytes | None, max_bytes: int) -> Decoder | None:
    """A decoder for the value of content-encoding; None if there is none or it is unknown."""
    if coding is None:
        return None
    name = coding.strip().lower()
    if name in (b"gzip", b"x-gzip"):
        return Decoder("gzip", max_bytes)
    if name == b"deflate":
        return Decoder("deflate", max_bytes)
    return None
