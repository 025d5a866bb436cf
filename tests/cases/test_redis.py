"""Reports about the store that gateways share: it may go at any moment, and no request notices."""

import asyncio
import contextlib
import statistics
import time

import pytest

from tests.support.gateway import GatewayClient, running_gateway
from tests.support.redis_server import RedisServer, running_redis
from tests.support.routing import backend, model, routes
from tests.support.upstream import ScriptedUpstream
from tests.support.waiting import eventually

REQUESTS = 50


async def ask(gateway: GatewayClient) -> float:
    """Requests one after the other, then at once; the median of the former in seconds."""
    spent_s: list[float] = []
    for _ in range(REQUESTS):
        began_s = time.monotonic()
        assert (await gateway.chat("m1")).status == 200
        spent_s.append(time.monotonic() - began_s)
    answers = await asyncio.gather(*(gateway.chat("m1") for _ in range(REQUESTS)))
    assert [answer.status for answer in answers] == [200] * REQUESTS
    return statistics.median(spent_s)


async def status(gateway: GatewayClient, wanted: str) -> bool:
    told = await gateway.health()
    return bool(told["status"] == wanted and told["store"]["status"] == wanted)


@pytest.mark.case("redis-1")
async def test_redis_1() -> None:
    """A closed port, one that accepts and says nothing, a server, and the same again from there."""
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_redis() as redis,
    ):
        config = routes([backend("u1", u1), backend("u2", u2)], [model("m1", "u1", "u2")])
        async with running_gateway(config) as alone:
            usual_s = await ask(alone)
        await redis.kill()
        async with running_gateway(config, store_url=redis.url) as gateway:
            await _phases(gateway, redis, usual_s)


async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(1 << 16):
        pass
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def _phases(gateway: GatewayClient, redis: RedisServer, usual_s: float) -> None:
    assert await ask(gateway) - usual_s < 0.05
    told = await gateway.health()
    assert (told["status"], told["store"]["status"]) == ("degraded", "degraded")
    assert told["store"]["reason"]
    assert (await gateway.metrics()).total("gateway_store_up") == 0

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", redis.port)
    try:
        assert await ask(gateway) - usual_s < 0.05
        assert await status(gateway, "degraded")
    finally:
        silent.close()

    await redis.start()
    await eventually(lambda: status(gateway, "ok"))
    assert await ask(gateway) - usual_s < 0.05
    trips = (await gateway.metrics()).total("gateway_store_round_trips_total")
    assert trips > 0

    redis.hang()
    assert await ask(gateway) - usual_s < 0.05
    await eventually(lambda: status(gateway, "degraded"))
    redis.go_on()
    await eventually(lambda: status(gateway, "ok"))
    await redis.kill()
    assert await ask(gateway) - usual_s < 0.05
    await redis.start()
    await eventually(lambda: status(gateway, "ok"))


@pytest.mark.parametrize(
    "option",
    [("--maxmemory", "1", "--maxmemory-policy", "noeviction"), ("--replicaof", "127.0.0.1 1")],
    ids=["full", "readonly"],
)
async def test_a_store_that_takes_nothing_is_no_store(option: tuple[str, ...]) -> None:
    """Its memory is full, or it is a replica whose master is gone."""
    async with ScriptedUpstream("m1") as u1, running_redis(*option) as redis:
        config = routes([backend("u1", u1)], [model("m1", "u1")])
        async with running_gateway(config, store_url=redis.url) as gateway:
            await ask(gateway)
            told = await gateway.health()
            assert told["store"]["status"] == "degraded"
            assert told["store"]["reason"]
