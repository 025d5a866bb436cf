"""One exchange over a real socket: framing, flow control, early ends, cancellation."""

import asyncio

import pytest

from gateway.errors import (
    ClientGone,
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
        b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\ntransfer-encoding: chunked\r\n\r\n"
        b"2\r\nok\r\n0\r\n\r\n",
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
    with pytest.raises((ResponseCut, RuntimeError)):
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


# Bodies that are not in memory


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
    await bench.until(lambda: pool.stats().idle <= 1)


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
