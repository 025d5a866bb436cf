"""Reports about clients that leave: the backend must stop working for them."""

import asyncio
from pathlib import Path

import pytest

from tests.support import answers, names, wire
from tests.support.gateway import CHAT, JSON, GatewayClient, chat_request, running_gateway
from tests.support.routing import one_model
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import eventually

PAGE_BYTES = 4096


async def assert_only_cancelled(gateway: GatewayClient, count: int) -> None:
    """The requests are counted as cancelled, hold no slot and blame no backend."""
    await gateway.until_idle()

    async def is_counted() -> bool:
        return (await gateway.metrics()).total(names.CLIENT_CANCELLED) == count

    await eventually(is_counted)
    samples = await gateway.metrics()
    assert samples.total(names.BACKEND_FAILURES) == 0
    assert samples.total(names.REQUESTS, status="499") == count
    backends = (await gateway.health())["backends"]
    assert all(one["in_flight"] == 0 for one in backends.values())


@pytest.mark.case("cancel-1")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("how", ["close", "reset"])
async def test_cancel_1(stream: bool, how: str) -> None:
    async def hold(exchange: Exchange) -> None:
        await exchange.peer_closed()

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers[CHAT] = hold
        async with gateway.connect() as connection:
            body = wire.compact(chat_request("m1", stream=stream))
            await connection.request("POST", CHAT, [JSON], body)
            await u1.until(lambda: u1.live == 1)
            await getattr(connection, how)()
        await u1.until(lambda: u1.live == 0, limit_s=5.0)
        await assert_only_cancelled(gateway, 1)


async def test_a_client_that_leaves_after_its_head_is_noticed() -> None:
    """The head of a stream is out and the engine is silent."""

    async def silent(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.event(answers.chat_events("m1")[0])
        await exchange.peer_closed()

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers[CHAT] = silent
        async with gateway.connect() as connection:
            body = wire.compact(chat_request("m1", stream=True))
            await connection.request("POST", CHAT, [JSON], body)
            answer = await connection.read_head()
            await connection.read_events(answer, 1)
        await u1.until(lambda: u1.live == 0, limit_s=5.0)
        await assert_only_cancelled(gateway, 1)


async def test_a_client_that_leaves_in_mid_upload_reaches_no_backend() -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        async with gateway.connect() as connection:
            await connection.request("POST", CHAT, [JSON, ("Content-Length", "1000")])
            await connection.send(b'{"model":"m1",')
        await gateway.until_idle()
        assert u1.requests == []
        assert (await gateway.chat("m1")).status == 200


@pytest.mark.case("cancel-3")
@pytest.mark.parametrize("public", ["m1", "alias"])
async def test_cancel_3(public: str) -> None:
    async def slow(exchange: Exchange) -> None:
        await exchange.start_stream()
        for _ in range(100):
            await exchange.event(answers.chat_event("m1", {"content": "x"}))
            await asyncio.sleep(0.2)

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, public)) as gateway:
        u1.handlers[CHAT] = slow
        async with gateway.connect() as connection:
            body = wire.compact(chat_request(public, stream=True))
            await connection.request("POST", CHAT, [JSON], body)
            answer = await connection.read_head()
            await connection.read_events(answer, 5)
        await u1.until(lambda: u1.live == 0, limit_s=5.0)
        await assert_only_cancelled(gateway, 1)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


@pytest.mark.case("cancel-3")
@pytest.mark.parametrize("public", ["m1", "alias"])
async def test_cancel_3_slow_reader(public: str) -> None:
    one = answers.chat_event("m1", {"content": "x" * 60_000})

    async def flood(exchange: Exchange) -> None:
        await exchange.start_stream()
        while exchange.upstream.bytes_written < 200 << 20:
            await exchange.event(one)

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, public)) as gateway:
        u1.handlers[CHAT] = flood
        before = resident_bytes()
        async with gateway.connect() as connection:
            body = wire.compact(chat_request(public, stream=True))
            await connection.request("POST", CHAT, [JSON], body)
            await connection.read_head()
            for _ in range(3):
                assert await connection.read_once(1024)
                await asyncio.sleep(1.0)  # the pace of the reader is what the report is about
            # What was taken from the engine lies in socket buffers and bounded queues only.
            assert u1.bytes_written < 32 << 20
            assert resident_bytes() - before < 32 << 20
        await u1.until(lambda: u1.live == 0, limit_s=5.0)
        await assert_only_cancelled(gateway, 1)
