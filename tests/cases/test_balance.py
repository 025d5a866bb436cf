"""Reports about spreading: bursts between two looks, and places that were never given back."""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.cases.exposition import Exposed, Figures
from tests.support import answers, wire
from tests.support.gateway import CHAT, JSON, GatewayClient, chat_request, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import Exchange, ScriptedUpstream

BODIES: dict[str, dict[str, Any]] = {
    CHAT: chat_request("m1"),
    "/v1/completions": {"model": "m1", "prompt": "hi"},
    "/v1/responses": {"model": "m1", "input": "hi"},
    "/v1/messages": {**chat_request("m1"), "max_tokens": 16},
    "/v1/embeddings": {"model": "m1", "input": "hi"},
}


def pair(u1: ScriptedUpstream, u2: ScriptedUpstream, **fields: Any) -> Tree:
    """The model m1 on two backends."""
    entries = [backend("u1", u1), backend("u2", u2)]
    return routes(entries, [model("m1", "u1", "u2")], health={"canary": False}, **fields)


def after(delay_s: float) -> Callable[[Exchange], Awaitable[None]]:
    """Answers as usual after a while."""

    async def answer(exchange: Exchange) -> None:
        await asyncio.sleep(delay_s)
        await answers.usual(exchange)

    return answer


async def burst(
    gateway: GatewayClient, count: int, path: str = CHAT, **fields: Any
) -> list[RawAnswer]:
    """So many requests at once."""
    body = {**BODIES[path], **fields}
    told = await asyncio.gather(*(gateway.post(path, body) for _ in range(count)))
    assert [answer.status for answer in told] == [200] * count
    return told


def split(*upstreams: ScriptedUpstream) -> list[int]:
    """How many requests each had since it was asked last."""
    counts = [len(upstream.requests) for upstream in upstreams]
    for upstream in upstreams:
        upstream.requests.clear()
    return counts


@pytest.mark.case("balance-herd-1")
@pytest.mark.parametrize("path", BODIES)
async def test_balance_herd_1(path: str) -> None:
    """Both before the first look and between two of them."""
    seen = [Exposed(Figures()), Exposed(Figures(running=1))]
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        for upstream, exposed in zip((u1, u2), seen, strict=True):
            upstream.handlers.update({"/metrics": exposed, "*": after(0.5)})
        async with running_gateway(pair(u1, u2), scrape_interval_s=5.0) as gateway:
            for _ in range(3):
                await burst(gateway, 8, path)
                assert split(u1, u2) in ([3, 5], [4, 4], [5, 3])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_burst_is_spread_however_well_the_figures_are_known(stream: bool) -> None:
    """Constant figures, looked at often; answers are short, so that costs are nearly equal."""
    seen = [Exposed(Figures()), Exposed(Figures(running=1))]
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        for upstream, exposed in zip((u1, u2), seen, strict=True):
            upstream.handlers.update({"/metrics": exposed, CHAT: after(0.3)})
        async with running_gateway(pair(u1, u2), scrape_interval_s=0.1) as gateway:
            await u1.until(lambda: min(one.looks for one in seen) >= 3)
            for _ in range(6):
                await burst(gateway, 8, stream=stream)
                assert split(u1, u2) in ([3, 5], [4, 4], [5, 3])


async def test_a_burst_is_spread_over_the_backends_that_are_left() -> None:
    """One of three fails every request of the burst: all move, and not to one alone."""

    async def broken(exchange: Exchange) -> None:
        await asyncio.sleep(0.1)
        exchange.reset()

    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        ScriptedUpstream("m1") as u3,
    ):
        u1.handlers[CHAT] = u2.handlers[CHAT] = after(0.5)
        u3.handlers[CHAT] = broken
        config = pair(u1, u2)
        config["backends"].append(backend("u3", u3))
        config["models"] = [model("m1", "u1", "u2", "u3")]
        async with running_gateway(config, scrape_interval_s=5.0) as gateway:
            await burst(gateway, 12)
            counts = split(u1, u2, u3)
            assert counts[0] + counts[1] == 12
            assert abs(counts[0] - counts[1]) <= 3, counts


async def leave(gateway: GatewayClient, path: str, wait_s: float, *, reset: bool) -> None:
    """Ask, and be gone after a while, whatever has come by then."""
    async with gateway.connect() as connection:
        fields = {"stream": True} if path != "/v1/embeddings" and reset else {}
        await connection.request("POST", path, [JSON], wire.compact({**BODIES[path], **fields}))
        await asyncio.sleep(wait_s)
        if reset:
            await connection.reset()


@pytest.mark.case("balance-leak-1")
@pytest.mark.parametrize("path", BODIES)
async def test_balance_leak_1(path: str) -> None:
    draw = random.Random(215)
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers["*"] = u2.handlers["*"] = after(0.4)
        async with running_gateway(pair(u1, u2)) as gateway:
            await asyncio.gather(
                *(
                    leave(gateway, path, draw.uniform(0.0, 0.6), reset=number % 2 == 0)
                    for number in range(200)
                )
            )
            await gateway.until_idle()
            await until_empty(gateway)
            await u1.until(lambda: not u1.live)
            await u2.until(lambda: not u2.live)
            split(u1, u2)
            await burst(gateway, 20, path)
            counts = split(u1, u2)
            assert max(counts) <= 12, counts


async def test_no_ending_keeps_a_place() -> None:
    """Time-outs, errors, cuts, refusals of the engine and clients that wait in the line."""
    kinds = ("cut", "reset", "error", "garbage", "refusal", "silence")
    order = itertools.cycle(kinds)

    async def odd(exchange: Exchange) -> None:
        kind = next(order)
        if kind == "cut":
            await exchange.start_stream()
            exchange.close()
        elif kind == "reset":
            exchange.reset()
        elif kind == "error":
            await exchange.answer(500, b'{"error":{"message":"boom","type":"x","code":500}}')
        elif kind == "garbage":
            await exchange.answer(200, b"<html>")
        elif kind == "refusal":
            await exchange.answer(400, b'{"error":{"message":"no","type":"BadRequestError"}}')
        else:
            await exchange.peer_closed()

    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers[CHAT] = u2.handlers[CHAT] = odd
        config = pair(u1, u2)
        config["models"][0]["timeouts"] = {"first_byte_s": 0.3, "total_s": 2.0}
        for entry in config["backends"]:
            entry["max_num_seqs"] = 4
        async with running_gateway(config) as gateway:
            asked = [gateway.chat("m1", stream=number % 2 == 0) for number in range(40)]
            gone = [leave(gateway, CHAT, 0.01 * n, reset=n % 2 == 0) for n in range(40)]
            await asyncio.gather(*asked, *gone)
            await gateway.until_idle()
            await until_empty(gateway)


async def test_a_restarted_backend_does_not_get_everything() -> None:
    """Its figures are an honest 0, the other's are not; what we have there counts."""
    seen = [Exposed(Figures()), Exposed(Figures(running=3))]
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        for upstream, exposed in zip((u1, u2), seen, strict=True):
            upstream.handlers.update({"/metrics": exposed, CHAT: after(0.4)})
        async with running_gateway(pair(u1, u2), scrape_interval_s=0.1) as gateway:
            await u1.until(lambda: min(one.looks for one in seen) >= 3)
            await burst(gateway, 8)
            seen[0].change(generation_tokens=0.0, prompt_tokens=0.0)
            looks = seen[0].looks
            await u1.until(lambda: seen[0].looks >= looks + 3)
            split(u1, u2)
            await burst(gateway, 20)
            first, second = split(u1, u2)
            assert second >= 5, (first, second)


async def until_empty(gateway: GatewayClient) -> None:
    """The health page agrees: nobody is at a backend or waits."""
    told = await gateway.health()
    assert [one["in_flight"] for one in told["backends"].values()] == [0] * len(told["backends"])
    assert [one["waiting"] for one in told["models"].values()] == [0] * len(told["models"])
