"""Several gateways that share a store: places, drains, verdicts, figures and routing files."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import yaml

from tests.cases.exposition import Exposed, Figures
from tests.support import answers
from tests.support.gateway import GatewayClient, running_gateway
from tests.support.redis_server import RedisServer, running_redis
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import Changes, eventually

CAP = 3
ADMIN = [("Authorization", "Bearer boss")]


class Engine:
    """Holds each request until it is let go, and knows the most that it ever had at once."""

    def __init__(self) -> None:
        self.most = self.now = self.served = 0
        self.open = asyncio.Event()
        self.changes = Changes()

    async def __call__(self, exchange: Exchange) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        self.changes.notify()
        try:
            await self.open.wait()
            await asyncio.sleep(0.02)
        finally:
            self.now -= 1
            self.served += 1
        await answers.usual(exchange)


def two(u1: ScriptedUpstream, u2: ScriptedUpstream) -> Tree:
    entries = [
        backend(name, u, capture_sizes=[1, CAP], max_num_seqs=CAP)
        for name, u in (("u1", u1), ("u2", u2))
    ]
    return routes(entries, [model("m1", "u1", "u2")], health={"canary": False})


@asynccontextmanager
async def gateways(
    count: int, config: Tree, redis: RedisServer, **settings: Any
) -> AsyncIterator[list[GatewayClient]]:
    """So many gateways of one fleet that know of each other."""
    async with AsyncExitStack() as stack:
        found = [
            await stack.enter_async_context(
                running_gateway(config, store_url=redis.url, admin_keys="boss", **settings)
            )
            for _ in range(count)
        ]
        for gateway in found:
            await eventually(lambda g=gateway: knows(g, count - 1))
        yield found


async def knows(gateway: GatewayClient, others: int) -> bool:
    store = (await gateway.health())["store"]
    return store["status"] == "ok" and len(store["replicas"]) == others


async def test_the_cap_is_that_of_all_gateways() -> None:
    engines = Engine(), Engine()
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_redis() as redis,
    ):
        u1.handlers["*"], u2.handlers["*"] = engines
        async with gateways(3, two(u1, u2), redis) as three:
            asked = [asyncio.create_task(three[number % 3].chat("m1")) for number in range(30)]
            for engine in engines:
                await engine.changes.until(lambda e=engine: e.now == CAP)
            for engine in engines:
                engine.open.set()
            told = await asyncio.gather(*asked)
            assert [answer.status for answer in told] == [200] * 30
            assert [engine.most for engine in engines] == [CAP, CAP]
            async with redis.client() as client:
                for key in [key async for key in client.scan_iter("*:leases")]:
                    assert await client.zcard(key) == 0


async def test_a_free_place_goes_to_whoever_waits_at_another_gateway() -> None:
    """Only the first gateway has places; when it gives them back, the second takes them."""
    engines = Engine(), Engine()
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_redis() as redis,
    ):
        u1.handlers["*"], u2.handlers["*"] = engines
        async with gateways(2, two(u1, u2), redis) as (one, other):
            first = [asyncio.create_task(one.chat("m1")) for _ in range(2 * CAP)]
            for engine in engines:
                await engine.changes.until(lambda e=engine: e.now == CAP)
            later = [asyncio.create_task(other.chat("m1")) for _ in range(4)]
            await eventually(lambda: waits(other, 4))
            for engine in engines:
                engine.open.set()
            told = await asyncio.gather(*first, *later)
            assert {answer.status for answer in told} == {200}
            assert [engine.most for engine in engines] == [CAP, CAP]


async def test_the_line_is_that_of_all_gateways() -> None:
    """Two may wait: one waits at each gateway, and the next one is refused at either."""
    engines = Engine(), Engine()
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_redis() as redis,
    ):
        u1.handlers["*"], u2.handlers["*"] = engines
        config = {**two(u1, u2), "queue": {"max_requests": 2}}
        async with gateways(2, config, redis) as (one, other):
            running = [asyncio.create_task(one.chat("m1")) for _ in range(2 * CAP)]
            for engine in engines:
                await engine.changes.until(lambda e=engine: e.now == CAP)
            waiting = [asyncio.create_task(gateway.chat("m1")) for gateway in (one, other)]
            await eventually(lambda: waits(one, 1))
            await eventually(lambda: waits(other, 1))
            for gateway in (one, other):
                await eventually(lambda g=gateway: knows_of_waiting(g, 1))
                assert (await gateway.chat("m1")).status == 429
            for engine in engines:
                engine.open.set()
            told = await asyncio.gather(*running, *waiting)
            assert {answer.status for answer in told} == {200}


async def knows_of_waiting(gateway: GatewayClient, count: int) -> bool:
    replicas = (await gateway.health())["store"]["replicas"]
    return bool(sum(one["waiting"] for one in replicas) == count)


async def waits(gateway: GatewayClient, count: int) -> bool:
    return bool((await gateway.health())["models"]["m1"]["waiting"] == count)


async def test_drains_hold_at_all_gateways_and_survive_the_store() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_redis() as redis,
        gateways(2, two(u1, u2), redis) as (one, other),
    ):
        answer = await one.raw("POST", "/admin/backends/u1/drain?reason=bent", ADMIN)
        assert answer.status == 200, answer.body
        await eventually(lambda: state(other, "u1", "draining"))
        # A store that has forgotten everything learns it again from the gateways.
        await redis.kill()
        await redis.start()
        await eventually(lambda: knows(one, 1))
        async with running_gateway(two(u1, u2), store_url=redis.url) as third:
            await eventually(lambda: state(third, "u1", "draining"))
        await other.raw("POST", "/admin/backends/u1/undrain", ADMIN)
        await eventually(lambda: state(one, "u1", "up"))


async def state(gateway: GatewayClient, name: str, wanted: str) -> bool:
    return bool((await gateway.health())["backends"][name]["state"] == wanted)


async def test_one_gateway_reads_the_metrics_for_all() -> None:
    exposed = Exposed(Figures(running=2)), Exposed(Figures())
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_redis() as redis,
    ):
        u1.handlers["/metrics"], u2.handlers["/metrics"] = exposed
        async with gateways(
            3, two(u1, u2), redis, scrape_interval_s=0.2, probe_interval_s=60.0
        ) as three:
            before = [one.looks for one in exposed]
            await eventually(lambda: looked(exposed, before, 10))
            grown = [one.looks - b for one, b in zip(exposed, before, strict=True)]
            for gateway in three:
                told = (await gateway.health())["backends"]["u1"]["engine"]
                assert told["running"] == 2
            metrics = [await gateway.metrics() for gateway in three]
            # Each alone would have looked as often as all of them together have.
            assert max(grown) <= 20, grown
            assert all(one.total("gateway_replicas") == 3 for one in metrics)


async def looked(exposed: tuple[Exposed, ...], before: list[int], times: int) -> bool:
    return all(one.looks - b >= times for one, b in zip(exposed, before, strict=True))


async def test_what_one_gateway_finds_out_warns_the_others() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_redis() as redis,
    ):

        async def broken(exchange: Exchange) -> None:
            exchange.reset()

        config = two(u1, u2)
        config["health"] |= {"breaker_failures": 1, "breaker_open_s": 60.0}
        async with gateways(2, config, redis, probe_interval_s=60.0) as (one, other):
            for gateway in (one, other):
                assert (await gateway.chat("m1")).status == 200
            u1.handlers["/v1/chat/completions"] = broken
            told = await asyncio.gather(*(one.chat("m1") for _ in range(2 * CAP)))
            assert {answer.status for answer in told} == {200}
            assert (await one.health())["backends"]["u1"]["breaker"] == "open"
            await eventually(lambda: warned(other, "u1"))
            u1.requests.clear()
            for _ in range(10):
                assert (await other.chat("m1")).status == 200
            assert not [r for r in u1.requests if r.path.endswith("/chat/completions")]


async def warned(gateway: GatewayClient, name: str) -> bool:
    return bool((await gateway.health())["backends"][name]["warned"])


async def test_a_routing_file_is_published_once_for_all(tmp_path: Any) -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_redis() as redis,
    ):
        config = two(u1, u2)
        async with gateways(2, config, redis) as (one, other):
            config["models"][0]["aliases"] = ["mm"]
            text = yaml.safe_dump(config)
            told = await one.raw("POST", "/admin/config/publish", ADMIN, text.encode())
            assert told.status == 200, told.body
            version = told.json()["version"]
            await eventually(lambda: has_version(other, version))
            assert (await other.chat("mm")).status == 200
            refused = await one.raw("POST", "/admin/config/publish", ADMIN, b"models: [")
            assert refused.status == 422
            assert await has_version(one, version)


async def has_version(gateway: GatewayClient, version: str) -> bool:
    return bool((await gateway.health())["config_version"] == version)


@pytest.mark.parametrize("url", ["redis+sentinel://h:1", "http://h", "redis+cluster://:1"])
async def test_a_url_that_is_none_is_told(url: str) -> None:
    with pytest.raises(ValueError, match="URL"):
        async with running_gateway(routes([], []), store_url=url):
            pass
