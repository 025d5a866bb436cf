"""Bodies that are not in memory, and answers that come before their end."""

import asyncio

import pytest

from gateway.errors import (
    ClientGone,
    LimitReached,
    Phase,
)
from gateway.upstream.timer import PhaseLimits

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


async def send(pool, limits, method=b"GET", body=b""):
    return await pool.send(method, b"/", [], body, limits)


class Source:
    def __init__(self, parts, length=None, gate=None, error=None):
        self.length_bytes = length
        self.parts, self.gate, self.error = parts, gate, error
        self.calls = 0
        self.closed = 0

    async def chunks(self):
        self.calls += 1
        try:
            for part in self.parts:
                yield part
            if self.gate is not None:
                await self.gate.wait()
            if self.error is not None:
                raise self.error
        finally:
            self.closed += 1


async def test_a_body_of_known_length_streams(bench):
    async def script(peer):
        while True:
            bodies.append((await peer.request())[1])
            await peer.send(OK)

    bodies = []
    pool = await bench.serve(script)
    for _ in range(2):
        source = Source([b"ab", b"", b"c" * 500_000, b"d"], length=500_003)
        async with await send(pool, bench.limits, b"POST", source) as exchange:
            assert await exchange.read_all(10) == b"ok"
    assert bodies == [b"ab" + b"c" * 500_000 + b"d"] * 2
    assert pool.stats().opened_total == 1


async def test_a_body_of_unknown_length_is_chunked(bench):
    async def script(peer):
        head = await peer.head()
        seen.append((head, await peer.reader.readuntil(b"0\r\n\r\n")))
        await peer.send(OK)
        await peer.request()

    seen = []
    pool = await bench.serve(script)
    async with await send(pool, bench.limits, b"POST", Source([b"hello", b"w" * 17])) as exchange:
        assert await exchange.read_all(10) == b"ok"
    head, body = seen[0]
    assert b"transfer-encoding: chunked\r\n" in head
    assert body == b"5\r\nhello\r\n11\r\n" + b"w" * 17 + b"\r\n0\r\n\r\n"
    assert pool.stats().idle == 1


async def test_a_streamed_body_is_sent_again_on_a_stale_connection(bench):
    async def script(peer):
        await peer.request()
        await peer.send(OK)
        await peer.request()

    pool = await bench.serve(script)
    for calls in (1, 2):
        source = Source([b"abc"], length=3)
        async with await send(pool, bench.limits, b"POST", source) as exchange:
            assert await exchange.read_all(10) == b"ok"
        assert (source.calls, source.closed) == (calls, calls)


@pytest.mark.parametrize("status", [b"413 Content Too Large", b"400 Bad Request"])
@pytest.mark.parametrize("is_lagging", [True, False])
async def test_an_early_answer_stops_the_upload(bench, status, is_lagging):
    async def script(peer):
        await peer.head()
        await peer.send(b"HTTP/1.1 " + status + b"\r\ncontent-length: 2\r\n\r\nno")
        await bench.until(lambda: source.closed == 1)

    parts = [b"x" * 100_000] * 500 if is_lagging else [b"x"]
    source = Source(parts, length=10**9, gate=asyncio.Event())
    pool = await bench.serve(script)
    async with await send(pool, bench.limits, b"POST", source) as exchange:
        assert exchange.status == int(status[:3])
        assert await exchange.read_all(10) == b"no"
    assert source.closed == 1
    assert pool.stats().open == 0


async def test_an_early_answer_to_a_big_body_in_memory(bench):
    async def script(peer):
        await peer.head()
        await peer.send(b"HTTP/1.1 413 X\r\ncontent-length: 2\r\n\r\nno")
        await peer.closed()

    pool = await bench.serve(script)
    async with await send(pool, bench.limits, b"POST", b"x" * 50_000_000) as exchange:
        assert (exchange.status, await exchange.read_all(10)) == (413, b"no")
    assert pool.stats().open == 0


async def test_an_early_success_lets_the_upload_go_on(bench):
    async def script(peer):
        await peer.head()
        await peer.send(CHUNKED)
        await peer.send(b"3\r\n%b\r\n0\r\n\r\n" % await peer.reader.readexactly(3))
        await peer.request()

    gate = asyncio.Event()
    pool = await bench.serve(script)

    class Late(Source):
        async def chunks(self):
            yield b"a"
            await gate.wait()
            yield b"bc"

    async with await send(pool, bench.limits, b"POST", Late([], length=3)) as exchange:
        assert exchange.status == 200
        gate.set()
        assert await exchange.read_all(10) == b"abc"
    await bench.until(lambda: pool.stats().idle == 1)


@pytest.mark.parametrize("error", [ClientGone("the client left"), ZeroDivisionError()])
async def test_an_error_of_the_source_reaches_the_caller(bench, error):
    async def script(peer):
        await peer.head()
        await peer.closed()

    server = await bench.server(script)
    pool = bench.pool(server)
    with pytest.raises(type(error)):
        await send(pool, bench.limits, b"POST", Source([b"ab"], length=9, error=error))
    assert pool.stats().open == 0
    await bench.until(lambda: not server.tasks)


@pytest.mark.parametrize("parts", [[b"abc", b"d"], [b"a"], []])
async def test_a_source_that_breaks_its_promise_is_refused(bench, parts):
    async def script(peer):
        await peer.head()
        await peer.closed()

    pool = await bench.serve(script)
    with pytest.raises(ValueError, match="is not 2 bytes long"):
        await send(pool, bench.limits, b"POST", Source(parts, length=2))
    assert pool.stats().open == 0


async def test_a_slow_source_is_not_the_backends_fault_but_counts_in_total(bench):
    async def script(peer):
        await peer.head()
        await peer.closed()

    pool = await bench.serve(script)
    source = Source([b"a"], length=2, gate=asyncio.Event())
    with pytest.raises(LimitReached) as caught:
        await send(pool, PhaseLimits(9, 0.05, 0.05, 0.4), b"POST", source)
    assert (caught.value.phase, caught.value.may_have_run) == (Phase.TOTAL, False)
    assert source.closed == 1


async def test_cancelling_during_an_upload_ends_it(bench):
    async def script(peer):
        await peer.head()
        await peer.closed()

    server = await bench.server(script)
    pool = bench.pool(server)
    source = Source([b"a"], length=2, gate=asyncio.Event())
    task = asyncio.create_task(send(pool, bench.limits, b"POST", source))
    await bench.until(lambda: source.calls == 1)
    task.cancel()
    await asyncio.wait([task])
    assert source.closed == 1
    assert pool.stats().open == 0
    await bench.until(lambda: not server.tasks)
