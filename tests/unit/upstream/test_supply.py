"""Waiting for a connection, room for one, and closing a pool, over real sockets."""

import asyncio

import pytest

from gateway.errors import ConnectFailed, ConnectionLost, LimitReached, Phase, PoolExhausted
from gateway.upstream.slots import Slots
from gateway.upstream.timer import PhaseLimits

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


async def always_ok(peer):
    while True:
        await peer.request()
        await peer.send(OK)


async def get(pool, limits, target=b"/"):
    async with await pool.send(b"GET", target, [], b"", limits) as exchange:
        return exchange.status, await exchange.read_all(1000), exchange.reused


def slow_script(order, gate):
    async def script(peer):
        while True:
            head, _ = await peer.request()
            order.append(head.split(b" ")[1])
            await gate.wait()
            await peer.send(OK)

    return script


async def test_waiters_are_served_in_order_on_the_one_connection(bench):
    order, gate = [], asyncio.Event()
    pool = await bench.serve(slow_script(order, gate), max_connections=1)
    targets = [b"/%d" % number for number in range(8)]
    tasks = []
    for number, target in enumerate(targets):
        tasks.append(asyncio.create_task(get(pool, bench.limits, target)))
        await bench.until(lambda n=number: pool.stats().waiting == n)
    gate.set()
    answers = await asyncio.gather(*tasks)
    assert [answer[1] for answer in answers] == [b"ok"] * 8
    assert order == targets
    assert pool.stats().opened_total == 1


async def test_waiters_get_the_slot_of_a_connection_that_ended(bench):
    order = []

    async def script(peer):
        head, _ = await peer.request()
        order.append(head.split(b" ")[1])
        await peer.send(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok")

    pool = await bench.serve(script, max_connections=2)
    answers = await asyncio.gather(*(get(pool, bench.limits, b"/%d" % n) for n in range(10)))
    assert answers == [(200, b"ok", False)] * 10
    assert len(order) == 10
    assert pool.stats().open == 0


async def test_a_cancelled_waiter_takes_nothing_along(bench):
    order, gate = [], asyncio.Event()
    pool = await bench.serve(slow_script(order, gate), max_connections=1)
    tasks = [asyncio.create_task(get(pool, bench.limits, b"/%d" % n)) for n in range(4)]
    await bench.until(lambda: pool.stats().waiting == 3 and len(order) == 1)
    tasks[1].cancel()
    await asyncio.wait([tasks[1]])
    assert pool.stats().waiting == 2
    gate.set()
    await asyncio.gather(tasks[0], *tasks[2:])
    assert order == [b"/0", b"/2", b"/3"]
    assert pool.stats().open == 1


@pytest.mark.parametrize("is_kept", [True, False])
async def test_a_waiter_cancelled_in_the_moment_of_the_hand_over_passes_it_on(
    bench, monkeypatch, is_kept
):
    name = "put" if is_kept else "free_slot"
    original = getattr(Slots, name)
    order, gate = [], asyncio.Event()
    pool = await bench.serve(slow_script(order, gate), max_connections=1)
    holder = asyncio.create_task(get(pool, bench.limits, b"/0"))
    await bench.until(lambda: len(order) == 1)
    first, second = [asyncio.create_task(get(pool, bench.limits, b"/%d" % n)) for n in (1, 2)]
    await bench.until(lambda: pool.stats().waiting == 2)

    def hand_over_and_cancel(self, *args):
        original(self, *args)
        first.cancel()

    monkeypatch.setattr(Slots, name, hand_over_and_cancel)
    gate.set()
    if not is_kept:
        holder.cancel()
    await asyncio.wait([holder, first, second])
    assert first.cancelled()
    assert (await second)[1] == b"ok"
    assert b"/1" not in order
    assert pool.stats().open == 1


async def test_waiting_is_limited_by_the_pool_and_by_the_total(bench):
    order, gate = [], asyncio.Event()
    pool = await bench.serve(slow_script(order, gate), max_connections=1, pool_wait_s=0.1)
    task = asyncio.create_task(get(pool, bench.limits))
    await bench.until(lambda: len(order) == 1)
    with pytest.raises(PoolExhausted, match=r"all 1 connections .* stayed busy for 0\.1 s"):
        await get(pool, bench.limits)
    short = PhaseLimits(connect_s=9, first_byte_s=9, between_s=9, total_s=0.05)
    with pytest.raises(LimitReached) as caught:
        await get(pool, short)
    assert (caught.value.phase, caught.value.limit_s) == (Phase.TOTAL, 0.05)
    assert caught.value.may_have_run is False
    assert pool.stats().waiting == 0
    gate.set()
    assert (await task)[1] == b"ok"


async def test_the_retry_makes_room_for_a_fresh_connection_in_a_full_pool(bench):
    gate = asyncio.Event()

    async def script(peer):
        await peer.request()
        await gate.wait()
        await peer.send(OK)
        await peer.request()
        if peer.number >= 2:
            await peer.send(OK)

    pool = await bench.serve(script, max_connections=2)
    both = [asyncio.create_task(get(pool, bench.limits)) for _ in range(2)]
    await bench.until(lambda: pool.stats().busy == 2)
    gate.set()
    await asyncio.gather(*both)
    assert pool.stats().idle == 2
    assert await get(pool, bench.limits) == (200, b"ok", False)
    assert pool.stats().open <= 2


async def test_unbounded_pool_never_waits(bench):
    order, gate = [], asyncio.Event()
    pool = await bench.serve(slow_script(order, gate), max_connections=None)
    tasks = [asyncio.create_task(get(pool, bench.limits)) for _ in range(40)]
    await bench.until(lambda: len(order) == 40)
    assert pool.stats().busy == 40
    gate.set()
    await asyncio.gather(*tasks)


async def test_close_lets_the_busy_finish_and_refuses_the_rest(bench):
    order, gate = [], asyncio.Event()
    pool = await bench.serve(slow_script(order, gate), max_connections=1)
    busy = asyncio.create_task(get(pool, bench.limits))
    await bench.until(lambda: len(order) == 1)
    waiting = asyncio.create_task(get(pool, bench.limits))
    await bench.until(lambda: pool.stats().waiting == 1)
    closing = asyncio.create_task(pool.close(20))
    with pytest.raises(ConnectFailed, match="is closed"):
        await waiting
    with pytest.raises(ConnectFailed, match="is closed"):
        await get(pool, bench.limits)
    assert not closing.done()
    gate.set()
    assert (await busy)[1] == b"ok"
    await closing
    assert pool.stats().open == 0


async def test_close_aborts_what_does_not_finish_in_time(bench):
    order, gate = [], asyncio.Event()
    server = await bench.server(slow_script(order, gate))
    pool = bench.pool(server)
    busy = asyncio.create_task(get(pool, bench.limits))
    await bench.until(lambda: len(order) == 1)
    await pool.close(0.05)
    assert pool.stats().open == 0
    with pytest.raises(ConnectionLost):
        await busy
    gate.set()


async def test_close_idle_closes_only_the_idle(bench):
    server = await bench.server(always_ok)
    pool = bench.pool(server)
    await get(pool, bench.limits)
    pool.close_idle()
    await bench.until(lambda: not server.tasks)
    assert pool.stats().open == 0
    assert (await get(pool, bench.limits))[2] is False
