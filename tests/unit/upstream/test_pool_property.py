"""However an answer is cut into segments, the same answer is read."""

import asyncio
import itertools
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.upstream.origin import Origin
from gateway.upstream.pool import BackendPool
from gateway.upstream.timer import PhaseLimits

NO_LIMITS = PhaseLimits(10, 20, 20, math.inf)
TOKEN = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-_.", min_size=1, max_size=12)
VALUE = st.text("abc XYZ;=,\"'!\u00e4\u00ff", max_size=30).map(str.strip)
HEADERS = st.lists(st.tuples(TOKEN.map(lambda name: "x-" + name), VALUE), max_size=6)
BODY = st.binary(max_size=3000)
FRAMINGS = ("length", "chunked", "close", "none")


@st.composite
def answers(draw):
    """(bytes, status, headers, body, ends with the connection)."""
    framing = draw(st.sampled_from(FRAMINGS))
    status = draw(st.sampled_from([204, 304] if framing == "none" else [200, 201, 400, 404, 503]))
    body = b"" if framing == "none" else draw(BODY)
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in draw(HEADERS)]
    wire = b"".join(
        b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n" for _ in range(draw(st.integers(0, 2)))
    )
    wire += b"HTTP/1.1 %d Reason\r\n" % status
    if framing == "length":
        headers.append((b"content-length", b"%d" % len(body)))
    elif framing == "chunked":
        headers.append((b"transfer-encoding", b"chunked"))
    for name, value in headers:
        wire += name.title() + b": " + value + b"\r\n"
    wire += b"\r\n"
    wire += chunks(draw, body) if framing == "chunked" else body
    return wire, status, headers, body, framing == "close"


def chunks(draw, body):
    wire = b""
    while body:
        size = draw(st.integers(1, len(body)))
        extension = draw(st.sampled_from([b"", b";a", b';a="b c"']))
        wire += b"%x%b\r\n%b\r\n" % (size, extension, body[:size])
        body = body[size:]
    trailers = draw(st.sampled_from([b"", b"x-sum: 1\r\n", b"content-length: 5\r\na: b\r\n"]))
    return wire + b"0\r\n" + trailers + b"\r\n"


def cut(data, places):
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[a:b] for a, b in itertools.pairwise(edges)]


async def exchange_once(scripts):
    """Each script is (segments, ends with the connection); returns what was read for each."""

    async def serve(reader, writer):
        try:
            while segments_left:
                await reader.readuntil(b"\r\n\r\n")
                segments, is_last = segments_left.pop(0)
                for segment in segments:
                    writer.write(segment)
                    await writer.drain()
                    await asyncio.sleep(0)  # let the other side read, so that segments stay apart
                if is_last:
                    break
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    segments_left = list(scripts)
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    pool = BackendPool(Origin("http", "127.0.0.1", server.sockets[0].getsockname()[1]))
    results = []
    try:
        for _ in scripts:
            async with await pool.send(b"GET", b"/", [], b"", NO_LIMITS) as exchange:
                body = await exchange.read_all(10**6)
                results.append((exchange.status, exchange.headers, body))
        opened = pool.stats().opened_total
    finally:
        await pool.close(0)
        server.close()
        await server.wait_closed()
    return results, opened


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(answers(), st.lists(st.integers(0, 10_000), max_size=12)),
        min_size=1,
        max_size=3,
    )
)
def test_any_cut_gives_the_same_answer(cases):
    scripts = [(cut(answer[0], places), answer[4]) for answer, places in cases]
    results, opened = asyncio.run(exchange_once(scripts))
    assert results == [(status, headers, body) for (_, status, headers, body, _), _ in cases]
    assert opened == 1 + sum(answer[4] for answer, _ in cases[:-1])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_byte_by_byte(size):
    body = b"hello"
    wire = (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x\r\nllo\r\n0\r\n\r\n"
    )
    segments = [wire[at : at + size] for at in range(0, len(wire), size)]
    results, opened = asyncio.run(exchange_once([(segments, False)] * 2))
    assert results == [(200, [(b"transfer-encoding", b"chunked")], body)] * 2
    assert opened == 1
