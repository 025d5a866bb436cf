"""Reports about the way of a request: where it may go, on which connection, under which id."""

import asyncio

import pytest

from tests.support import answers
from tests.support.gateway import CHAT, running_gateway
from tests.support.routing import backend, model, one_model, routes
from tests.support.upstream import Exchange, ScriptedUpstream


@pytest.mark.case("names-leak-1")
async def test_names_leak_1() -> None:
    async with (
        ScriptedUpstream("actor", any_model=True) as u1,
        ScriptedUpstream("reward", any_model=True) as u2,
    ):
        config = routes(
            [backend("u1", u1), backend("u2", u2)], [model("actor", "u1"), model("reward", "u2")]
        )
        async with running_gateway(config) as gateway:
            for stream in (False, True):
                answer = await gateway.chat("judge", stream=stream)
                assert (answer.status, answer.error["code"]) == (404, "model_not_found")
        assert (u1.requests, u2.requests) == ([], [])


async def test_a_default_model_serves_no_wrong_name() -> None:
    """The default is for requests without a model, not for names that nobody knows."""
    async with ScriptedUpstream("actor", any_model=True) as u1:
        config = {**one_model(u1), "default_model": "actor"}
        async with running_gateway(config) as gateway:
            assert (await gateway.chat("judge")).status == 404
            assert u1.requests == []
            for body in (b'{"messages":[]}', b'{"model":null}', b'{ "model" : "" }'):
                answer = await gateway.post(CHAT, body)
                assert (answer.status, answer.json()["model"]) == (200, "actor")
                assert u1.requests[-1].json()["model"] == "actor"


@pytest.mark.case("keepalive-1")
@pytest.mark.parametrize("how", ["close", "reset"])
async def test_keepalive_1(how: str) -> None:
    served: list[int] = []

    async def once_a_connection(exchange: Exchange) -> None:
        connection = exchange.request.connection_id
        if connection in served:
            getattr(exchange, how)()
            return
        served.append(connection)
        await exchange.answer(200, answers.chat_body("m1"))

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers[CHAT] = once_a_connection
        for _ in range(20):
            for _ in range(2):
                answer = await gateway.chat("m1")
                assert answer.status == 200
            await asyncio.sleep(0)
        assert len(served) == 40
        assert len(u1.requests) > 40, "no connection was ever reused, so nothing was shown"


async def test_a_fresh_connection_that_dies_is_no_stale_one() -> None:
    """Without a byte of answer on a fresh connection the engine may have done the work."""

    async def dies(exchange: Exchange) -> None:
        exchange.close()

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers[CHAT] = dies
        answer = await gateway.chat("m1")
        assert answer.status in (502, 503)
        assert answer.error["code"]
        assert len(u1.requests) == 1


@pytest.mark.case("reqid-1")
async def test_reqid_1() -> None:
    gate = asyncio.Event()

    async def crash_on_repeat(exchange: Exchange) -> None:
        ids = [request.header("x-request-id") for request in u1.requests]
        if len(ids) != len(set(ids)):
            for connection in u1.connections:
                connection.reset()
            return
        await gate.wait()
        await exchange.answer(
            200, answers.chat_body("m1"), headers=[("x-request-id", "the-engines")]
        )

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers[CHAT] = crash_on_repeat
        same = [("X-Request-Id", "same")]
        sent = [asyncio.create_task(gateway.chat("m1", same)) for _ in range(10)]
        await u1.until(lambda: u1.live == 10)
        gate.set()
        for answer in await asyncio.gather(*sent):
            assert answer.status == 200
            assert answer.header("x-request-id") == "same"
        ids = [request.header("x-request-id") for request in u1.requests]
        assert len(set(ids)) == 10
        assert None not in ids
        assert "same" not in ids


@pytest.mark.parametrize("target", [CHAT, "/v1/nope", "/v1/models/nope", "/health"])
async def test_every_answer_carries_an_id(target: str) -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        method = "POST" if target == CHAT else "GET"
        body = b"broken" if target == CHAT else None
        ours = await gateway.raw(method, target, [("X-Request-Id", "my-id-1")], body)
        assert ours.header("x-request-id") == "my-id-1"
        made = await gateway.raw(method, target, [], body)
        assert made.header("x-request-id")


@pytest.mark.parametrize("value", ["a" * 5000, "with blank\tand tab", "ü-umlaut"])
async def test_an_odd_request_id_breaks_nothing(value: str) -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        answer = await gateway.chat("m1", [("X-Request-Id", value)])
        assert answer.status == 200
        assert len(answer.all("x-request-id")) == 1
        assert len(u1.requests[0].header("x-request-id") or "") < 200


@pytest.mark.case("paths-1")
async def test_paths_1() -> None:
    async with ScriptedUpstream("m1") as u1:
        async with running_gateway(one_model(u1)) as gateway:
            answer = await gateway.post("/tokenize", {"model": "m1", "prompt": "hi"})
            assert (answer.status, answer.json()["tokens"]) == (200, [1, 2])
        seen = len(u1.requests)
        config = {**one_model(u1), "endpoints": {"tokenize": False}}
        async with running_gateway(config) as gateway:
            answer = await gateway.post("/tokenize", {"model": "m1", "prompt": "hi"})
            assert (answer.status, answer.error["code"]) == (404, "route_disabled")
            assert "/tokenize" in answer.error["message"]
            assert (await gateway.chat("m1")).status == 200
        assert len(u1.requests) == seen + 1


SWITCHES = {
    "chat": "/v1/chat/completions",
    "completions": "/v1/completions",
    "embeddings": "/v1/embeddings",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "count_tokens": "/v1/messages/count_tokens",
    "rerank": "/v2/rerank",
    "score": "/score",
    "classify": "/classify",
    "pooling": "/pooling",
    "detokenize": "/detokenize",
    "translations": "/v1/audio/translations",
}


@pytest.mark.parametrize("name", sorted(SWITCHES))
async def test_every_endpoint_can_be_switched_off(name: str) -> None:
    async with ScriptedUpstream("m1") as u1:
        config = {**one_model(u1), "endpoints": {name: False}}
        async with running_gateway(config) as gateway:
            answer = await gateway.post(SWITCHES[name], {"model": "m1"})
            assert answer.status == 404
            assert "switched off" in answer.json()["error"]["message"] or (
                "not enabled" in answer.json()["error"]["message"]
            )
        assert u1.requests == []
