"""More than the backends can take: who is told what, when, and how places come free."""

import asyncio
from typing import Any

import pytest

from gateway.emulator.faults import Fault, FaultKind
from tests.e2e.emulated import graph, leave, placing, until_running, until_state
from tests.support import answers, wire
from tests.support.gateway import CHAT, JSON, GatewayClient, chat_request, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import eventually

PATHS: dict[str, dict[str, Any]] = {
    CHAT: chat_request("pub"),
    "/v1/completions": {"model": "pub", "prompt": "hi"},
    "/v1/responses": {"model": "pub", "input": "hi"},
    "/v1/messages": {**chat_request("pub"), "max_tokens": 5},
}


def narrow(*upstreams: ScriptedUpstream, queue: Tree, slots: int = 1) -> Tree:
    """The model pub on backends with few slots each."""
    names = [f"u{number}" for number in range(1, len(upstreams) + 1)]
    entries = [
        backend(name, one, max_num_seqs=slots) for name, one in zip(names, upstreams, strict=True)
    ]
    return routes(entries, [model("pub", *names)], queue=queue, health={"canary": False})


async def waits(gateway: GatewayClient, count: int) -> bool:
    return bool((await gateway.health())["models"]["pub"]["waiting"] == count)


def is_overloaded(answer: RawAnswer) -> str:
    """Checks a refusal for want of room; returns its message."""
    assert answer.status == 429
    told = answer.json()["error"]
    assert int(answer.header("retry-after") or 0) >= 1
    assert "'pub'" in told["message"]
    return str(told["message"])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("path", PATHS)
async def test_a_full_line(path: str, stream: bool) -> None:
    """In each dialect: the status, the code, when to come again, which model and why."""
    release = asyncio.Event()

    async def held(exchange: Exchange) -> None:
        await release.wait()
        await answers.usual(exchange)

    async with ScriptedUpstream("pub") as u1:
        u1.handlers["*"] = held
        async with running_gateway(narrow(u1, queue={"max_requests": 2})) as gateway:
            tasks = [asyncio.create_task(gateway.chat("pub")) for _ in range(3)]
            await eventually(lambda: waits(gateway, 2))
            refused = await gateway.post(path, {**PATHS[path], "stream": stream})
            assert "2 requests wait" in is_overloaded(refused)
            told = refused.json()
            if path == "/v1/messages":
                assert told["type"] == "error"
                assert told["error"]["type"] == "rate_limit_error"
            else:
                assert told["error"]["code"] == "overloaded"
            assert await waits(gateway, 2), "the refused one has kept a place"
            release.set()
            assert [(await task).status for task in tasks] == [200] * 3


async def test_what_would_wait_in_vain_is_refused_at_once() -> None:
    """Once the pace is known: with so many ahead, it would not be served in time."""

    async def slow(exchange: Exchange) -> None:
        await asyncio.sleep(0.25)
        await answers.usual(exchange)

    async with ScriptedUpstream("pub") as u1:
        u1.handlers[CHAT] = slow
        config = narrow(u1, queue={"max_requests": 200, "max_wait_s": 3.0})
        async with running_gateway(config) as gateway:
            # About four a second: twelve within the limit.
            told = await asyncio.gather(*(gateway.chat("pub") for _ in range(8)))
            assert [answer.status for answer in told] == [200] * 8
            tasks = [asyncio.create_task(gateway.chat("pub")) for _ in range(60)]
            done, running = await asyncio.wait(tasks, timeout=1.0)
            assert len(done) > 20, "they wait although it is in vain"
            refused = [task.result() for task in done if task.result().status != 200]
            assert len(refused) >= 20
            for answer in refused:
                assert answer.error["code"] == "overloaded"
                assert "which takes about" in is_overloaded(answer)
                # Not before there is a chance, and not never.
                assert 1 <= int(answer.header("retry-after") or 0) <= 60
            late = [await task for task in running]
            assert sum(answer.status == 200 for answer in late) >= 5
            await gateway.until_idle()
            assert (await gateway.chat("pub")).status == 200


async def test_nobody_alive_is_another_answer() -> None:
    """Overloaded: come again soon. None alive: something is broken."""
    async with placing(
        graph("a"), graph("b"), fields={"health": {"canary": False}}, probe_interval_s=0.2
    ) as (gateway, fleet):
        for one in fleet.backends:
            one.set_fault(Fault(FaultKind.ENGINE_DEAD, delay_s=0.0))
        for name in ("a", "b"):
            await until_state(gateway, name, "down")
        for stream in (False, True):
            answer = await gateway.chat("pub", stream=stream)
            assert (answer.status, answer.error["code"]) == (503, "no_backend_available")
            assert "'pub'" in answer.error["message"]
            assert int(answer.header("retry-after") or 0) >= 1
        for one in fleet.backends:
            one.clear_faults()
        await until_state(gateway, "a", "up", "degraded")
        assert (await gateway.chat("pub", max_tokens=3)).status == 200


async def test_those_who_wait_are_told_when_the_last_one_dies() -> None:
    """They do not wait until their time is over."""
    async with placing(
        graph("a"), fields={"queue": {"max_wait_s": 100.0}}, probe_interval_s=0.2
    ) as (gateway, fleet):
        tasks = [
            asyncio.create_task(gateway.chat("pub", max_tokens=4000, ignore_eos=True))
            for _ in range(10)
        ]
        await eventually(lambda: waits(gateway, 6))
        fleet["a"].set_fault(Fault(FaultKind.ENGINE_DEAD, delay_s=0.0))
        for task in tasks:
            answer = await asyncio.wait_for(task, 20.0)
            assert answer.status in (500, 502, 503)
            assert answer.error["message"]
        assert await waits(gateway, 0)


async def test_a_client_that_leaves_frees_its_place_in_the_line_and_at_the_backend() -> None:
    async with placing(graph("a"), fields={"queue": {"max_requests": 2}}) as (gateway, fleet):
        long = chat_request("pub", max_tokens=4000, ignore_eos=True, stream=True)
        running = [asyncio.create_task(gateway.post(CHAT, long)) for _ in range(4)]
        await until_running(fleet, "a", 4)
        async with gateway.connect() as first, gateway.connect() as second:
            for connection in (first, second):
                await connection.request("POST", CHAT, [JSON], wire.compact(long))
            await eventually(lambda: waits(gateway, 2))
            assert "2 requests wait" in is_overloaded(await gateway.chat("pub"))
            await first.reset()
            await eventually(lambda: waits(gateway, 1))
            third = asyncio.create_task(gateway.chat("pub", max_tokens=3))
            await eventually(lambda: waits(gateway, 2))
        # Both who waited are gone; those who ran leave one by one.
        await eventually(lambda: waits(gateway, 1))
        await leave([running.pop()])
        assert (await third).status == 200
        await leave(running)
        await gateway.until_idle()


@pytest.mark.parametrize("seats", [0, 3])
async def test_fallback_models_serve_before_anybody_is_refused_for_their_lack(seats: int) -> None:
    """The fallback is for backends that cannot serve, so a dead model is answered by the other."""
    async with ScriptedUpstream("other") as u2:
        entries = [backend("u1", "http://127.0.0.1:9", served_name="pub"), backend("u2", u2)]
        models = [model("pub", "u1", fallback_models=["other"]), model("other", "u2")]
        queue = {"max_requests": seats}
        config = routes(entries, models, queue=queue, health={"canary": False})
        async with running_gateway(config) as gateway:
            for stream in (False, True):
                answer = await gateway.chat("pub", stream=stream)
                assert answer.status == 200
            assert len(u2.requests) == 2
