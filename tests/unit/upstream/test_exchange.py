"""One exchange over a real socket: flow control, early ends, limits, cancellation."""

import asyncio

import pytest

from gateway.errors import (
    ConnectionLost,
    LimitReached,
    Phase,
    ResponseCut,
    ResponseMalformed,
)
from gateway.upstream.timer import PhaseLimits

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


@pytest.mark.parametrize("end", ["fin", "half"])
@pytest.mark.parametrize(
    "data", [CHUNKED + b"2\r\nok\r\n", CHUNKED + b"5\r\nok", OK[:-2] + b"o", CHUNKED]
)
async def test_a_cut_body_gives_its_bytes_and_then_fails(bench, data, end):
    pool = await bench.serve(answering(data, end=end))
    got = b""
    async with await send(pool, bench.limits) as exchange:
        with pytest.raises(ResponseCut, match="in the middle of its answer"):
            while piece := await exchange.read():
                got += piece
        assert not exchange.is_complete
    assert got == data.rpartition(b"\r\n\r\n")[2].removeprefix(b"2\r\n").removeprefix(
        b"5\r\n"
    ).removesuffix(b"\r\n")
    assert pool.stats().open == 0


@pytest.mark.parametrize("how", ["fin", "half", "reset"])
async def test_an_end_before_the_answer(bench, how):
    async def script(peer):
        await peer.request()
        if how == "half":
            peer.writer.write_eof()
            await peer.closed()
        elif how == "reset":
            peer.reset()

    pool = await bench.serve(script)
    with pytest.raises(ConnectionLost, match="before its answer"):
        await send(pool, bench.limits)


async def test_half_closed_after_a_whole_answer(bench):
    pool = await bench.serve(answering(OK, end="half"))
    for _ in range(3):
        async with await send(pool, bench.limits) as exchange:
            assert await exchange.read_all(10) == b"ok"
    await bench.until(lambda: pool.stats().open == 0)


async def test_events_arrive_one_by_one(bench):
    async def script(peer):
        await peer.request()
        await peer.send(CHUNKED)
        for number in range(5):
            await steps.get()
            await peer.send(b"8\r\nevent %d\n\r\n" % number)
        await steps.get()
        await peer.send(b"0\r\n\r\n")
        await peer.request()

    steps = asyncio.Queue()
    pool = await bench.serve(script)
    async with await send(pool, bench.limits) as exchange:
        for number in range(5):
            steps.put_nowait(None)
            assert await exchange.read() == b"event %d\n" % number
            assert not exchange.is_complete
        steps.put_nowait(None)
        assert await exchange.read() == b""
    assert pool.stats().idle == 1


async def test_a_lagging_reader_holds_the_backend_back(bench):
    total_bytes = 40_000_000

    async def script(peer):
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % total_bytes)
        for _ in range(total_bytes // 100_000):
            await peer.send(b"x" * 100_000)
            progress.append(100_000)
        await peer.closed()

    progress = []
    pool = await bench.serve(script)
    async with await send(pool, bench.limits) as exchange:
        seen = -1
        while seen != len(progress):  # until the server stands still
            seen = len(progress)
            await asyncio.sleep(0.05)
        assert 0 < sum(progress) < total_bytes // 2
        held_bytes = sum(len(piece) for piece in exchange.pieces)
        assert held_bytes <= 64 * 1024 + 256 * 1024
        count_bytes = 0
        while piece := await exchange.read():
            count_bytes += len(piece)
    assert count_bytes == total_bytes
    assert pool.stats().idle == 1


async def test_read_all_is_bounded(bench):
    pool = await bench.serve(answering(CHUNKED + b"5\r\nhello\r\n"))
    async with await send(pool, bench.limits) as exchange:
        with pytest.raises(ResponseMalformed, match="longer than 4 bytes"):
            await exchange.read_all(4)
    assert pool.stats().open == 0


async def test_leaving_an_unfinished_exchange_closes_the_socket(bench):
    server = await bench.server(answering(CHUNKED + b"2\r\nok\r\n"))
    pool = bench.pool(server)
    async with await send(pool, bench.limits) as exchange:
        assert await exchange.read() == b"ok"
    assert pool.stats().open == 0
    await bench.until(lambda: not server.tasks)
    exchange.abort()
    with pytest.raises(ResponseCut, match="aborted by us"):
        await exchange.read()


async def test_abort_wakes_the_reader(bench):
    pool = await bench.serve(answering(CHUNKED))
    async with await send(pool, bench.limits) as exchange:
        reading = asyncio.create_task(exchange.read())
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="two tasks"):
            await exchange.read()
    with pytest.raises(ResponseCut, match="aborted by us"):
        await reading


async def test_abort_of_a_complete_exchange_does_nothing(bench):
    pool = await bench.serve(answering(OK))
    exchange = await send(pool, bench.limits)
    await bench.until(lambda: exchange.is_complete)
    exchange.abort()
    assert await exchange.read() == b"ok"
    assert pool.stats().idle == 1


# Limits


@pytest.mark.parametrize(
    ("data", "phase"),
    [
        (b"", Phase.FIRST_BYTE),
        (b"HTTP/1.1 100 Continue\r\n\r\n", Phase.FIRST_BYTE),
        (b"HTTP/1.1 200 OK\r\ncontent-", Phase.FIRST_BYTE),
        (CHUNKED + b"2\r\nok\r\n", Phase.BETWEEN),
        (CHUNKED, Phase.BETWEEN),
    ],
)
async def test_silence_reaches_the_limit_of_its_phase(bench, data, phase):
    server = await bench.server(answering(data))
    pool = bench.pool(server)
    first = phase is Phase.FIRST_BYTE
    limits = PhaseLimits(9, 0.1 if first else 9, 9 if first else 0.1, 9)
    with pytest.raises(LimitReached) as caught:
        async with await send(pool, limits) as exchange:
            while await exchange.read():
                pass
    assert (caught.value.phase, caught.value.limit_s) == (phase, 0.1)
    assert caught.value.may_have_run is True
    assert pool.stats().open == 0
    await bench.until(lambda: not server.tasks)


async def test_each_byte_starts_the_limit_between_anew_but_not_the_total(bench):
    async def script(peer):
        await peer.request()
        await peer.send(CHUNKED)
        while True:
            await peer.send(b"1\r\nx\r\n")
            await asyncio.sleep(0.02)

    pool = await bench.serve(script)
    count = 0
    with pytest.raises(LimitReached) as caught:
        async with await send(pool, PhaseLimits(9, 9, 0.4, 1.0)) as exchange:
            while await exchange.read():
                count += 1
    assert (caught.value.phase, caught.value.limit_s) == (Phase.TOTAL, 1.0)
    assert count > 5


async def test_our_own_lag_does_not_count_as_the_backends_silence(bench):
    async def script(peer):
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 20000000\r\n\r\n" + b"x" * 20_000_000)
        await peer.closed()

    pool = await bench.serve(script)
    async with await send(pool, PhaseLimits(9, 9, 0.2, 60)) as exchange:
        await bench.until(lambda: exchange.is_paused)
        await asyncio.sleep(0.6)
        assert len(await exchange.read_all(20_000_000)) == 20_000_000


async def test_a_backend_that_takes_no_body_reaches_the_send_limit(bench):
    async def script(peer):
        await peer.head()
        await gate.wait()

    gate = asyncio.Event()
    server = await bench.server(script)
    pool = bench.pool(server)
    with pytest.raises(LimitReached) as caught:
        await send(pool, PhaseLimits(9, 9, 0.2, 9), b"POST", b"x" * 50_000_000)
    assert (caught.value.phase, caught.value.may_have_run) == (Phase.SEND, False)
    gate.set()


async def test_a_big_body_in_memory_arrives_whole(bench):
    async def script(peer):
        while True:
            _, body = await peer.request()
            sizes.append(len(body))
            await peer.send(OK)

    sizes = []
    pool = await bench.serve(script)
    for _ in range(2):
        async with await send(pool, bench.limits, b"POST", b"x" * 20_000_000) as exchange:
            assert await exchange.read_all(10) == b"ok"
    assert sizes == [20_000_000] * 2
    assert pool.stats().opened_total == 1


# Cancellation


@pytest.mark.parametrize("data", [b"", b"HTTP/1.1 200 OK\r\n", CHUNKED, CHUNKED + b"2\r\nok\r\n"])
async def test_a_cancelled_task_closes_its_socket(bench, data):
    async def run():
        exchange = await send(pool, bench.limits)  # on purpose without `async with`
        while await exchange.read():
            pass

    server = await bench.server(answering(data))
    pool = bench.pool(server)
    task = asyncio.create_task(run())
    await bench.until(lambda: len(server.peers) == 1 and server.peers[0].requests == 1)
    await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert pool.stats().open == 0
    await bench.until(lambda: not server.tasks)
