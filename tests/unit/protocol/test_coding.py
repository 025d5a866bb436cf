"""Undoing content codings, within bounds."""

import gzip
import zlib

import pytest

from gateway.errors import ResponseMalformed
from gateway.protocol.coding import decoder_for

TEXT = "一段文字 and more ".encode() * 100


@pytest.mark.parametrize(
    ("coding", "coded"),
    [
        (b"gzip", gzip.compress(TEXT, mtime=0)),
        (b" GZIP ", gzip.compress(TEXT, mtime=0)),
        (b"x-gzip", gzip.compress(TEXT, mtime=0)),
        (b"deflate", zlib.compress(TEXT)),
    ],
    ids=["gzip", "GZIP", "x-gzip", "deflate"],
)
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_whole_bodies_in_pieces(coding: bytes, coded: bytes, step: int) -> None:
    decoder = decoder_for(coding, 10**6)
    assert decoder is not None
    plain = b"".join(decoder.feed(coded[i : i + step]) for i in range(0, len(coded), step))
    decoder.finish()
    assert plain == TEXT


@pytest.mark.parametrize("coding", [None, b"br", b"zstd", b"identity", b"gzip, br"])
def test_unknown_codings_have_no_decoder(coding: bytes | None) -> None:
    assert decoder_for(coding, 100) is None


def test_a_bomb_is_stopped() -> None:
    decoder = decoder_for(b"gzip", 1000)
    assert decoder is not None
    with pytest.raises(ResponseMalformed, match="more than 1000 bytes"):
        decoder.feed(gzip.compress(b"0" * 10**7))


def test_garbage_and_half_bodies_are_malformed() -> None:
    decoder = decoder_for(b"gzip", 1000)
    assert decoder is not None
    with pytest.raises(ResponseMalformed, match="can't be unpacked"):
        decoder.feed(b"not gzip at all")
    half = decoder_for(b"gzip", 10**6)
    assert half is not None
    half.feed(gzip.compress(TEXT, mtime=0)[:-20])
    with pytest.raises(ResponseMalformed, match="ends too early"):
        half.finish()
