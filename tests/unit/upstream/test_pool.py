"""Reuse, order and retry of the pool, over real sockets."""

import asyncio

import pytest

from gateway.errors import ConnectFailed, ConnectionLost, Phase

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


async def always_ok(peer):
    while True:
        await peer.request()
        await peer.send(OK)


async def get(pool, limits, target=b"/"):
    async with await pool.send(b"GET", target, [], b"", limits) as exchange:
        return exchange.status, await exchange.read_all(1000), exchange.reused


async def test_sequential_requests_share_one_connection(bench):
    pool = await bench.serve(always_ok)
    answers = [await get(pool, bench.limits) for _ in range(5)]
    assert answers == [(200, b"ok", False)] + [(200, b"ok", True)] * 4
    stats = pool.stats()
    assert (stats.open, stats.idle, stats.busy) == (1, 1, 0)
    assert (stats.opened_total, stats.reused_total, stats.stale_retries_total) == (1, 4, 0)
    assert repr(pool) == f"<BackendPool {pool.origin.authority} 1 idle 0 busy 0 waiting>"


async def test_the_request_on_the_wire_is_exact(bench):
    seen = []

    async def script(peer):
        while True:
            seen.append(await peer.request())
            await peer.send(OK)

    pool = await bench.serve(script)
    host = pool.origin.authority.encode()
    headers = [(b"content-type", b"application/json"), (b"x-a", b"1"), (b"x-a", b"\xe4\xb8\xad")]
    for method, body in ((b"POST", b"{}"), (b"GET", b""), (b"POST", b"")):
        async with await pool.send(method, b"/v1/x?a=b", headers, body, bench.limits) as exchange:
            await exchange.read_all(10)
    lines = b"content-type: application/json\r\nx-a: 1\r\nx-a: \xe4\xb8\xad\r\n"
    assert seen == [
        (
            b"POST /v1/x?a=b HTTP/1.1\r\nhost: " + host + b"\r\n" + lines
            + b"content-length: 2\r\n\r\n",
            b"{}",
        ),
        (b"GET /v1/x?a=b HTTP/1.1\r\nhost: " + host + b"\r\n" + lines + b"\r\n", b""),
        (
            b"POST /v1/x?a=b HTTP/1.1\r\nhost: " + host + b"\r\n" + lines
            + b"content-length: 0\r\n\r\n",
            b"",
        ),
    ]  # fmt: skip


async def test_the_connection_that_came_free_last_is_used_first(bench):
    gates = [asyncio.Event() for _ in range(3)]

    async def script(peer):
        while True:
            await peer.request()
            await gates[peer.number].wait()
            await peer.send(OK)

    server = await bench.server(script)
    pool = bench.pool(server)
    tasks = [asyncio.create_task(get(pool, bench.limits)) for _ in range(3)]
    await bench.until(lambda: sum(peer.requests for peer in server.peers) == 3)
    for count, number in enumerate((1, 0, 2), start=1):
        gates[number].set()
        await bench.until(lambda n=count: pool.stats().idle == n)
    await asyncio.gather(*tasks)
    for _ in range(4):
        await get(pool, bench.limits)
    assert [peer.requests for peer in server.peers] == [1, 1, 5]


async def test_idle_connections_close_in_time_and_are_not_used_after(bench):
    server = await bench.server(always_ok)
    pool = bench.pool(server, idle_limit_s=0.15)
    loop = asyncio.get_running_loop()
    started = loop.time()
    await get(pool, bench.limits)
    await bench.until(lambda: not server.tasks)
    assert loop.time() - started >= 0.1
    assert pool.stats().open == 0
    assert (await get(pool, bench.limits))[2] is False
    # Also after the sweeper has fired once.
    await bench.until(lambda: not server.tasks)
    assert pool.stats().opened_total == 2


@pytest.mark.parametrize("data", [b"", b"\r\n", b"HTTP/1.1 408 Request Timeout\r\n\r\n"])
async def test_a_byte_or_an_end_while_idle_removes_the_connection(bench, data):
    go = asyncio.Event()

    async def script(peer):
        await peer.request()
        await peer.send(OK)
        await go.wait()
        if peer.number == 0 and data:
            await peer.send(data)
            await peer.closed()

    pool = await bench.serve(script)
    await get(pool, bench.limits)
    assert pool.stats().idle == 1
    go.set()
    await bench.until(lambda: pool.stats().open == 0)
    assert await get(pool, bench.limits) == (200, b"ok", False)
    assert pool.stats().stale_retries_total == 0


@pytest.mark.parametrize("how", ["fin", "reset"])
async def test_a_stale_connection_is_replaced_once_without_a_trace(bench, how):
    served = []

    async def script(peer):
        await peer.request()
        served.append(peer.number)
        await peer.send(OK)
        await peer.request()
        if how == "reset":
            peer.reset()

    pool = await bench.serve(script)
    for _ in range(4):
        async with await pool.send(b"POST", b"/", [], b"{}", bench.limits) as exchange:
            assert await exchange.read_all(10) == b"ok"
        # The retry left its fresh connection idle, so the next request is stale again.
    assert served == [0, 1, 2, 3]
    assert pool.stats().stale_retries_total == 3


async def test_a_second_loss_is_reported_and_not_tried_again(bench):
    server = await bench.server(always_ok)

    async def once(peer):
        if peer.number == 0:
            await peer.request()
            await peer.send(OK)
        await peer.request()

    server.script = once
    pool = bench.pool(server)
    await get(pool, bench.limits)
    with pytest.raises(ConnectionLost) as caught:
        await get(pool, bench.limits)
    assert (caught.value.stale, caught.value.may_have_run) == (False, True)
    assert caught.value.phase is Phase.FIRST_BYTE
    assert len(server.peers) == 2


async def test_a_retry_that_cannot_connect_still_says_that_the_request_may_have_run(bench):
    async def script(peer):
        await peer.request()
        await peer.send(OK)
        await peer.request()
        server._server.close()

    server = await bench.server(script)
    pool = bench.pool(server)
    await get(pool, bench.limits)
    with pytest.raises(ConnectFailed) as caught:
        await get(pool, bench.limits)
    assert caught.value.may_have_run is True


@pytest.mark.parametrize("how", ["fin", "reset"])
async def test_a_fresh_connection_that_ends_is_not_retried(bench, how):
    async def script(peer):
        await peer.request()
        if how == "reset":
            peer.reset()

    server = await bench.server(script)
    pool = bench.pool(server)
    with pytest.raises(ConnectionLost, match=str(server.port)) as caught:
        await get(pool, bench.limits)
    assert (caught.value.stale, caught.value.may_have_run) == (False, True)
    assert len(server.peers) == 1


async def test_a_connection_that_answered_a_byte_is_not_retried(bench):
    async def script(peer):
        await peer.request()
        await peer.send(OK)
        await peer.request()
        await peer.send(b"HTTP/1.1 2")

    server = await bench.server(script)
    pool = bench.pool(server)
    await get(pool, bench.limits)
    with pytest.raises(ConnectionLost) as caught:
        await get(pool, bench.limits)
    assert caught.value.stale is False
    assert len(server.peers) == 1


async def test_a_late_loss_on_a_reused_connection_is_not_called_stale(bench, monkeypatch):
    monkeypatch.setattr("gateway.upstream.faults.STALE_WINDOW_S", -1.0)

    async def script(peer):
        await peer.request()
        await peer.send(OK)
        await peer.request()

    server = await bench.server(script)
    pool = bench.pool(server)
    await get(pool, bench.limits)
    with pytest.raises(ConnectionLost) as caught:
        await get(pool, bench.limits)
    assert (caught.value.stale, caught.value.may_have_run) == (False, True)
    assert len(server.peers) == 1


def slow_script(order, gate):
    async def script(peer):
        while True:
            head, _ = await peer.request()
            order.append(head.split(b" ")[1])
            await gate.wait()
            await peer.send(OK)

    return script


async def test_proxy_variables_are_not_read(bench, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    pool = await bench.serve(always_ok)
    assert (await get(pool, bench.limits))[0] == 200
