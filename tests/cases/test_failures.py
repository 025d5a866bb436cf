"""Reports about failing, slow and hanging backends."""

import asyncio
import time

import pytest

from tests.support import answers, names, wire
from tests.support.clients import openai_client
from tests.support.gateway import CHAT, GatewayClient, chat_request, running_gateway
from tests.support.routing import Tree, backend, model, one_model, routes
from tests.support.upstream import Exchange, Handler, ScriptedUpstream
from tests.support.waiting import LIMIT_S, eventually


def pool(*upstreams: ScriptedUpstream, **fields: object) -> Tree:
    """One model m1 on all of them."""
    entries = [backend(f"u{n}", u) for n, u in enumerate(upstreams, 1)]
    return routes(entries, [model("m1", *(e["name"] for e in entries), **fields)])


async def silence(exchange: Exchange) -> None:
    await exchange.peer_closed()


async def dies(exchange: Exchange) -> None:
    exchange.close()


async def empty(exchange: Exchange) -> None:
    await exchange.answer(200, b"")


def refuses(status: int, message: str) -> Handler:
    async def answer(exchange: Exchange) -> None:
        error = {"message": message, "type": "T", "param": None, "code": status}
        await exchange.answer(status, wire.compact({"error": error}))

    return answer


@pytest.mark.case("stream-status-1")
@pytest.mark.parametrize(
    "handler", [dies, empty, refuses(500, "boom")], ids=["dies", "empty", "500"]
)
async def test_stream_status_1(handler: Handler) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers[CHAT] = handler
        config = pool(u1, u2)
        async with running_gateway(config) as gateway:
            for stream in (True, False) * 3:
                answer = await gateway.chat("m1", stream=stream)
                assert (answer.status, answer.is_complete) == (200, True)
                assert b"Hello" in answer.body or answer.body
            assert len(u2.requests) == 6
            await u2.stop()
            for stream in (True, False):
                answer = await gateway.chat("m1", stream=stream)
                assert answer.status in (500, 502, 503)
                assert answer.error["message"]


@pytest.mark.case("stream-stall-1")
async def test_stream_stall_1() -> None:
    async def stalls(exchange: Exchange) -> None:
        await exchange.start_stream()
        for _ in range(3):
            await exchange.event(answers.chat_event("m1", {"reasoning": "hm "}))
        await exchange.peer_closed()

    timeouts = {"between_events_s": 1.0, "first_byte_s": 30.0}
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1, timeouts=timeouts)) as gateway,
    ):
        u1.handlers[CHAT] = stalls
        began_s = time.monotonic()
        answer = await gateway.chat("m1", stream=True)
        assert time.monotonic() - began_s >= 1.0
        assert (answer.status, answer.is_complete) == (200, True)
        last = wire.event_json(answer.events[-1])
        assert last["error"]["code"] == "backend_timeout"
        assert wire.DONE not in answer.events
        await gateway.until_idle()
        await u1.until(lambda: u1.live == 0)
        assert len(u1.requests) == 1


@pytest.mark.case("stream-idle-1")
@pytest.mark.parametrize("ending", ["stream", "400"])
async def test_stream_idle_1(ending: str) -> None:
    release = asyncio.Event()

    async def late(exchange: Exchange) -> None:
        await release.wait()
        if ending == "400":
            await refuses(400, "no such sampling")(exchange)
        else:
            await answers.usual(exchange)

    timeouts = {"first_byte_s": 30.0}
    config = {"heartbeat_s": 0.5, "timeouts": timeouts}
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1, **config)) as gateway,
        gateway.connect() as connection,
        openai_client(gateway) as client,
    ):
        u1.handlers[CHAT] = late
        request = client.chat.completions.create(
            model="m1", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        sdk = asyncio.create_task(texts_of(request))
        body = wire.compact(chat_request("m1", stream=True))
        await connection.request("POST", CHAT, [("Content-Type", "application/json")], body)
        answer = await connection.read_head()
        assert answer.status == 200
        while answer.body.count(b"\n\n") < 4:
            assert await connection.read_piece(answer)
        assert all(event.startswith(b":") for event in answer.events)
        release.set()
        while await connection.read_piece(answer):
            pass
        said = [event for event in answer.events if not event.startswith(b":")]
        if ending == "stream":
            assert said == answers.chat_events("m1")
            assert await sdk == "".join(answers.TEXT)
        else:
            assert [wire.event_json(one)["error"]["message"] for one in said] == [
                "no such sampling"
            ]
            with pytest.raises(Exception, match="no such sampling"):
                await sdk


async def texts_of(request: object) -> str:
    stream = await request  # type: ignore[misc]
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])


@pytest.mark.case("retry-dup-1")
@pytest.mark.parametrize("policy", ["give_up", "move"])
async def test_retry_dup_1(policy: str) -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        ScriptedUpstream("m1") as u3,
    ):
        upstreams = (u1, u2, u3)
        closed_before_next: list[bool] = []

        async def silent(exchange: Exchange) -> None:
            others = [u for u in upstreams if u is not exchange.upstream]
            closed_before_next.append(all(u.live == 0 for u in others))
            await exchange.peer_closed()

        for upstream in upstreams:
            upstream.handlers[CHAT] = silent
        config = pool(*upstreams, timeouts={"first_byte_s": 1.0}, on_first_byte_limit=policy)
        async with running_gateway(config) as gateway:
            answer = await gateway.chat("m1")
        assert answer.status == 504
        assert answer.error["code"] == "backend_timeout"
        asked = sum(len(upstream.requests) for upstream in upstreams)
        assert asked == (1 if policy == "give_up" else 2)
        assert all(closed_before_next)


@pytest.mark.case("retry-4xx-1")
async def test_retry_4xx_1() -> None:
    async def picky(exchange: Exchange) -> None:
        if b"bad" in exchange.request.body:
            await refuses(400, "bad content")(exchange)
        else:
            await answers.usual(exchange)

    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers[CHAT] = u2.handlers[CHAT] = picky
        config = {**pool(u1, u2), "health": {"breaker_failures": 3}}
        async with running_gateway(config) as gateway:
            for count in range(1, 11):
                answer = await gateway.chat("m1", user="bad")
                assert (answer.status, answer.error["message"]) == (400, "bad content")
                assert len(u1.requests) + len(u2.requests) == count
            for _ in range(10):
                assert (await gateway.chat("m1")).status == 200
            backends = (await gateway.health())["backends"].values()
            assert [(b["breaker"], b["state"]) for b in backends] == [("closed", "up")] * 2


@pytest.mark.case("engine-graph-1")
async def test_engine_graph_1() -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.treats_canary_alike = True
        dead = "EngineCore encountered an issue. See stack trace (above) for the root cause."
        u1.handlers[CHAT] = refuses(500, dead)
        config = pool(u1, u2)
        config["backends"][1]["tier"] = "eager"
        async with running_gateway(config) as gateway:
            for _ in range(20):
                answer = await gateway.chat("m1")
                assert answer.status == 200
                await gateway.get("/health")
            # The canary found it before any client did; no comeback tried it on clients again.
            assert len(u1.requests) <= 3
            assert len(u2.requests) == 20
            assert (await gateway.health())["backends"]["u1"]["state"] == "down"
            del u1.handlers[CHAT]
            await eventually(lambda: is_in(gateway, "u1", "up"))
            before = len(u1.requests)
            await eventually(lambda: has_more(gateway, u1, before))


async def is_in(gateway: GatewayClient, name: str, *states: str) -> bool:
    return (await gateway.health())["backends"][name]["state"] in states


async def has_more(gateway: GatewayClient, upstream: ScriptedUpstream, before: int) -> bool:
    assert (await gateway.chat("m1")).status == 200
    return len(upstream.requests) > before


@pytest.mark.case("engine-hang-1")
async def test_engine_hang_1() -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers[CHAT] = silence
        u1.treats_canary_alike = True
        rules = {"breaker_failures": 3, "breaker_open_s": 0.5, "longest_step_s": 1.0}
        config = {**pool(u1, u2, timeouts={"first_byte_s": 0.5}), "health": rules}
        for entry in config["backends"]:
            entry["longest_step_s"] = 1.0
        async with running_gateway(config, wait=False) as gateway:
            await eventually(lambda: is_in(gateway, "u2", "up"))
            await eventually(lambda: is_in(gateway, "u1", "starting", "degraded", "down"))
            slow = 0
            for _ in range(12):
                slow += (await gateway.chat("m1")).status == 504
            assert slow <= 3
            assert len(u2.requests) >= 9
            assert not await is_in(gateway, "u1", "up")
            del u1.handlers[CHAT]
            before = len(u1.requests)
            await eventually(lambda: is_in(gateway, "u1", "up"), 2 * LIMIT_S)
            await eventually(lambda: has_more(gateway, u1, before), 2 * LIMIT_S)


@pytest.mark.case("engine-hang-3")
async def test_engine_hang_3() -> None:
    async def begins(exchange: Exchange) -> None:
        await exchange.write(
            wire.head(200, [("content-type", "application/json"), ("content-length", "100")])
        )
        await exchange.write(b'{"object":')
        await exchange.peer_closed()

    timeouts = {"between_events_s": 1.0}
    async with (
        ScriptedUpstream("emb") as u1,
        running_gateway(one_model(u1, timeouts=timeouts)) as gateway,
    ):
        u1.handlers["/v1/embeddings"] = begins
        answer = await gateway.post("/v1/embeddings", {"model": "emb", "input": "a"})
        assert (answer.status, answer.error["code"]) == (504, "backend_timeout")
        await gateway.until_idle()
        await u1.until(lambda: u1.live == 0)


@pytest.mark.case("engine-busy-2")
async def test_engine_busy_2() -> None:
    release = asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        await release.wait()
        await answers.usual(exchange)

    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = slow
        config = {**one_model(u1), "health": {"breaker_failures": 3}}
        async with running_gateway(config) as gateway:
            body = wire.compact(chat_request("m1"))
            for count in range(1, 21):
                async with gateway.connect() as connection:
                    await connection.request(
                        "POST", CHAT, [("Content-Type", "application/json")], body
                    )
                    await u1.until(lambda count=count: len(u1.requests) == count)
            await gateway.until_idle()
            release.set()
            for _ in range(5):
                assert (await gateway.chat("m1")).status == 200
            assert await is_in(gateway, "u1", "up")
            assert (await gateway.metrics()).total(names.CLIENT_CANCELLED) == 20


@pytest.mark.case("overload-1")
async def test_overload_1() -> None:
    release = asyncio.Event()

    async def held(exchange: Exchange) -> None:
        await release.wait()
        await answers.usual(exchange)

    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers[CHAT] = u2.handlers[CHAT] = held
        config = {**pool(u1, u2), "queue": {"max_requests": 0}}
        for entry in config["backends"]:
            entry["max_num_seqs"] = 1
        async with running_gateway(config) as gateway:
            running = [asyncio.create_task(gateway.chat("m1")) for _ in range(2)]
            await u1.until(lambda: len(u1.requests) == 1)
            await u2.until(lambda: len(u2.requests) == 1)
            third = await gateway.chat("m1")
            assert (third.status, third.error["code"]) == (429, "overloaded")
            assert "m1" in third.error["message"]
            assert int(third.header("retry-after") or 0) >= 1
            release.set()
            assert [(await task).status for task in running] == [200, 200]
            await u1.stop()
            await u2.stop()
            last = await gateway.chat("m1")
            assert last.status == 503
            assert last.error["code"] != "overloaded"
            assert "m1" in last.error["message"]
            assert int(last.header("retry-after") or 0) >= 1
