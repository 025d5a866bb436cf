"""Reports about load: backends don't slow each other, and every path gives back what it took."""

import asyncio
from collections import Counter

import pytest

from tests.support import answers, wire
from tests.support.gateway import CHAT, JSON, GatewayClient, chat_request, running_gateway
from tests.support.routing import backend, model, one_model, routes
from tests.support.upstream import Exchange, ScriptedUpstream

POOL = 5
TOTAL = 2000
LANES = 32


@pytest.mark.case("gw-block-1")
async def test_gw_block_1() -> None:
    async def hold(exchange: Exchange) -> None:
        await exchange.peer_closed()

    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m2") as u2:
        u1.handlers[CHAT] = hold
        config = routes(
            [backend("u1", u1, max_num_seqs=512), backend("u2", u2)],
            # 300 connect at once, and client, gateway and backends share one loop.
            [model("m1", "u1", timeouts={"connect_s": 60.0}), model("m2", "u2")],
        )
        async with running_gateway(config) as gateway:
            held = [asyncio.create_task(gateway.chat("m1")) for _ in range(300)]
            try:
                await u1.until(lambda: u1.live == 300)
                answered = await asyncio.gather(*(gateway.chat("m2") for _ in range(50)))
                assert [answer.status for answer in answered] == [200] * 50
                # While those were served, not one of the held ones has ended.
                assert not any(task.done() for task in held)
                assert u1.live == 300
            finally:
                for task in held:
                    task.cancel()
                await asyncio.gather(*held, return_exceptions=True)
            await gateway.until_idle()


class Cycle:
    """OK, 500, RST in mid-body, hang, cut stream, and again."""

    def __init__(self) -> None:
        self.turn = 0
        self.is_calm = False

    async def __call__(self, exchange: Exchange) -> None:
        self.turn += 1
        kind = 0 if self.is_calm else self.turn % 5
        if kind == 0:
            await answers.usual(exchange)
        elif kind == 1:
            await exchange.answer(500, b'{"error":{"message":"x","type":"T","code":500}}')
        elif kind == 2:
            await exchange.write(
                wire.head(200, [("content-type", "application/json"), ("content-length", "500")])
                + b'{"id":'
            )
            exchange.reset()
        elif kind == 3:
            await exchange.peer_closed()
        else:
            await exchange.start_stream()
            await exchange.event(answers.chat_events("m1")[0])
            exchange.close()


@pytest.mark.case("load-1")
async def test_load_1() -> None:
    cycle = Cycle()
    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = cycle
        limits = {"first_byte_s": 0.3, "between_events_s": 0.3, "total_s": 1.0}
        config = one_model(u1, timeouts=limits)
        settings = {"max_connections_per_backend": POOL, "pool_wait_s": 0.05}
        async with running_gateway(config, **settings) as gateway:
            statuses: Counter[int] = Counter()
            await asyncio.gather(*(lane(gateway, number, statuses) for number in range(LANES)))
            assert sum(statuses.values()) == TOTAL
            assert set(statuses) <= {0, 200, 429, 500, 502, 503, 504}, statuses
            assert statuses[200] > 0
            assert cycle.turn > 100, "too few requests reached the backend to show anything"
            await gateway.until_idle()
            cycle.is_calm = True
            for number in range(20):
                answer = await gateway.chat("m1", stream=number % 2 == 0)
                assert answer.status == 200, (number, answer.body)
        assert 1 <= u1.most_carrying <= POOL


async def lane(gateway: GatewayClient, number: int, statuses: Counter[int]) -> None:
    """This lane's share of the requests; every tenth client leaves (status 0)."""
    for turn in range(number, TOTAL, LANES):
        stream = turn % 3 == 0
        async with gateway.connect() as connection:
            body = wire.compact(chat_request("m1", stream=stream))
            await connection.request("POST", CHAT, [JSON], body)
            if turn % 10 == 0:
                statuses[0] += 1
                continue
            answer = await connection.read_answer()
            statuses[answer.status] += 1
            if answer.status in (429, 503):
                assert answer.header("retry-after")
