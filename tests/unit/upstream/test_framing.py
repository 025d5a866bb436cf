"""Framing of answers over a real socket: what is whole, what is malformed."""

import asyncio

import pytest

from gateway.errors import (
    Phase,
    ResponseMalformed,
)

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def answering(data, *, end="keep"):
    """Answer each request with these bytes; then keep the socket, or end it."""

    async def script(peer):
        while True:
            await peer.request()
            await peer.send(data)
            if end == "fin":
                return
            if end == "half":
                peer.writer.write_eof()
                await peer.closed()
                return

    return script


async def send(pool, limits, method=b"GET", body=b""):
    return await pool.send(method, b"/", [], body, limits)


WHOLE = [
    ("length", OK, b"GET", 200, b"ok", True),
    ("chunked", CHUNKED + b"2\r\nok\r\n0\r\n\r\n", b"GET", 200, b"ok", True),
    (
        "extensions and trailers",
        CHUNKED + b'2;a=b;c="d e"\r\nok\r\n0;x\r\nmd5: 1\r\ncontent-length: 9\r\n\r\n',
        b"GET",
        200,
        b"ok",
        True,
    ),
    (
        "length and chunked",
        CHUNKED.replace(b"transfer", b"content-length: 7\r\ntransfer") + b"2\r\nok\r\n0\r\n\r\n",
        b"GET",
        200,
        b"ok",
        False,
    ),
    ("204", b"HTTP/1.1 204 No Content\r\n\r\n", b"GET", 204, b"", True),
    ("204 with length", b"HTTP/1.1 204 X\r\ncontent-length: 3\r\n\r\n", b"GET", 204, b"", True),
    ("304", b"HTTP/1.1 304 X\r\ncontent-length: 3\r\n\r\n", b"GET", 304, b"", True),
    ("HEAD", b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n", b"HEAD", 200, b"", True),
    (
        "HEAD chunked",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        b"HEAD",
        200,
        b"",
        True,
    ),
    (
        "connection: close",
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\ncontent-length: 2\r\n\r\nok",
        b"GET",
        200,
        b"ok",
        False,
    ),
    ("HTTP/1.0", b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok", b"GET", 200, b"ok", False),
    (
        "HTTP/1.0 keep-alive",
        b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok",
        b"GET",
        200,
        b"ok",
        True,
    ),
    (
        "interim answers",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
        b"HTTP/1.1 100 Continue\r\ncontent-length: 5\r\n\r\n" + OK,
        b"GET",
        200,
        b"ok",
        True,
    ),
    ("no reason", b"HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok", b"GET", 200, b"ok", True),
    ("bytes after the end", OK + b"HTTP/1.1 200 OK\r\n", b"GET", 200, b"ok", False),
    ("garbage after the end", OK + b"!", b"GET", 200, b"ok", False),
    (
        "bytes after a HEAD answer",
        b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc",
        b"HEAD",
        200,
        b"",
        False,
    ),
]


@pytest.mark.parametrize("row", WHOLE, ids=[row[0] for row in WHOLE])
async def test_whole_answers(bench, row):
    _, data, method, status, body, is_kept = row
    server = await bench.server(answering(data))
    pool = bench.pool(server)
    for round_number in range(2):
        async with await send(pool, bench.limits, method) as exchange:
            assert exchange.status == status
            assert await exchange.read_all(100) == body
            assert exchange.is_complete
            assert await exchange.read() == b""
            assert exchange.reused is (is_kept and round_number == 1)
        assert pool.stats().idle == int(is_kept)
    assert len(server.peers) == (1 if is_kept else 2)


@pytest.mark.parametrize("end", ["fin", "half"])
@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.0 200 OK\r\na: b\r\n\r\n"])
async def test_the_end_of_the_connection_ends_a_body_without_framing(bench, head, end):
    pool = await bench.serve(answering(head + b"all of it", end=end))
    async with await send(pool, bench.limits) as exchange:
        assert await exchange.read_all(100) == b"all of it"
    assert pool.stats().open == 0


async def test_headers_keep_order_and_duplicates(bench):
    data = (
        b"HTTP/1.1 200 OK\r\nSet-Cookie:  a=1 \t\r\nX-Empty:\r\nset-cookie: b=\xe4\r\n"
        b"Content-Length: 0\r\n\r\n"
    )
    pool = await bench.serve(answering(data))
    async with await send(pool, bench.limits) as exchange:
        assert exchange.headers == [
            (b"set-cookie", b"a=1"),
            (b"x-empty", b""),
            (b"set-cookie", b"b=\xe4"),
            (b"content-length", b"0"),
        ]


HEAD_START = b"HTTP/1.1 200 OK\r\n"
MALFORMED = [
    ("garbage", b"SSH-2.0-OpenSSH\r\n", "Expected HTTP/"),
    ("bad length", HEAD_START + b"content-length: x\r\n\r\n", "Content-Length"),
    ("signed length", HEAD_START + b"content-length: +1\r\n\r\n", "Content-Length"),
    ("negative length", HEAD_START + b"content-length: -1\r\n\r\n", "Content-Length"),
    ("empty length", HEAD_START + b"content-length:\r\n\r\n", "Content-Length"),
    ("length list", HEAD_START + b"content-length: 1, 2\r\n\r\na", "Content-Length"),
    ("huge length", HEAD_START + b"content-length: 99999999999999999999\r\n\r\n", "overflow"),
    ("two lengths", HEAD_START + b"content-length: 1\r\ncontent-length: 2\r\n\r\na", "Content-Len"),
    ("folded header", HEAD_START + b"a: b\r\n c\r\ncontent-length: 0\r\n\r\n", "whitespace"),
    ("NUL in value", HEAD_START + b"a: b\0c\r\ncontent-length: 0\r\n\r\n", "header value"),
    ("NUL in name", HEAD_START + b"a\0: bc\r\ncontent-length: 0\r\n\r\n", "header token"),
    ("space before colon", HEAD_START + b"a : b\r\ncontent-length: 0\r\n\r\n", "header token"),
    ("lone CR", HEAD_START + b"a: b\rc\r\ncontent-length: 0\r\n\r\n", "LF"),
    ("lone LF", b"HTTP/1.1 200 OK\ncontent-length: 0\n\n", "CR"),
    ("HTTP/2", b"HTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n", "HTTP version 2.0"),
    ("switched", b"HTTP/1.1 101 X\r\nupgrade: a\r\nconnection: upgrade\r\n\r\n", "status 101"),
    ("status 099", b"HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n", "status 99"),
    ("status 1000", b"HTTP/1.1 1000 X\r\ncontent-length: 0\r\n\r\n", "status"),
    ("gzip coding", HEAD_START + b"transfer-encoding: gzip\r\n\r\n", "gzip"),
    ("two codings", HEAD_START + b"transfer-encoding: gzip, chunked\r\n\r\n", "gzip"),
    (
        "chunked twice",
        HEAD_START + b"transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
        "transfer-encoding",
    ),
    ("long head", HEAD_START + b"a: " + b"b" * 5000 + b"\r\ncontent-length: 0\r\n\r\n", "longer"),
    ("endless head", HEAD_START + b"a: b\r\n" * 2000, "longer than 4096"),
    ("endless interim", b"HTTP/1.1 100 Continue\r\n\r\n" * 400, "longer than 4096"),
]


@pytest.mark.parametrize("row", MALFORMED, ids=[row[0] for row in MALFORMED])
async def test_malformed_heads(bench, row):
    _, data, text = row
    pool = await bench.serve(answering(data), max_head_bytes=4096)
    with pytest.raises(ResponseMalformed, match=text) as caught:
        await send(pool, bench.limits)
    assert caught.value.phase is Phase.FIRST_BYTE
    assert pool.origin.authority in caught.value.message
    assert pool.stats().open == 0


@pytest.mark.parametrize(
    ("tail", "text"),
    [
        (b"2\r\nok\r\nzz\r\n", "chunk size"),
        (b"2\r\nok!!0\r\n\r\n", "after chunk data"),
        (b"2\r\nok\r\n0;" + b"e" * 9000, "chunk framing is longer"),
    ],
)
async def test_malformed_bodies_give_what_came_before(bench, tail, text):
    async def script(peer):
        await peer.request()
        await peer.send(CHUNKED + b"4\r\ndata\r\n")
        await gate.wait()
        await peer.send(tail[:7])
        await bench.until(lambda: got == [b"data", b"ok"])
        await peer.send(tail[7:])
        await peer.closed()

    gate, got = asyncio.Event(), []
    pool = await bench.serve(script, max_head_bytes=4096)
    async with await send(pool, bench.limits) as exchange:
        got.append(await exchange.read())
        gate.set()
        got.append(await exchange.read())
        with pytest.raises(ResponseMalformed, match=text) as caught:
            await exchange.read()
    assert caught.value.phase is Phase.BETWEEN
    assert got == [b"data", b"ok"]
