"""Every endpoint once, whole and streamed, under a public name of its own; and its refusals."""

import asyncio
import json
from typing import Any

import anthropic
import openai
import pytest

from tests.support import answers, shapes, wire
from tests.support.clients import anthropic_client, openai_client
from tests.support.gateway import CHAT, running_gateway
from tests.support.routing import backend, model, one_model, routes
from tests.support.upstream import Exchange, Handler, ScriptedUpstream

SERVED = "/models/Qwen3.5-9B"
PUBLIC = "公共/name:1"
WHOLE_PATHS = sorted(set(shapes.plain_bodies(SERVED)) | {CHAT})
MESSAGES: Any = [{"role": "user", "content": "hi"}]


def form(name: str) -> bytes:
    fields = b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF\r\n'
    fields += b'--B\r\nContent-Disposition: form-data; name="model"\r\n\r\n'
    return fields + name.encode() + b"\r\n--B--\r\n"


def whole_answer(path: str, name: str) -> bytes:
    return (
        answers.chat_body(name) if path == CHAT else wire.compact(shapes.plain_bodies(name)[path])
    )


@pytest.mark.parametrize("path", WHOLE_PATHS)
@pytest.mark.parametrize("public", [SERVED, PUBLIC], ids=["same-name", "alias"])
async def test_whole(path: str, public: str) -> None:
    async with ScriptedUpstream(SERVED) as u1, running_gateway(one_model(u1, public)) as gateway:
        if "audio" in path:
            kind = "multipart/form-data; boundary=B"
            answer = await gateway.post(path, form(public), content_type=kind)
        else:
            answer = await gateway.post(path, {"x": [None], "model": public})
        assert (answer.status, answer.is_complete) == (200, True)
        assert answer.header("content-type") == "application/json"
        assert answer.body == whole_answer(path, public)
        assert u1.paths == [path]
        sent = form(SERVED) if "audio" in path else wire.compact({"x": [None], "model": SERVED})
        assert u1.requests[0].body == sent


@pytest.mark.parametrize("path", sorted(answers.STREAMS))
@pytest.mark.parametrize("public", [SERVED, PUBLIC], ids=["same-name", "alias"])
async def test_streamed(path: str, public: str) -> None:
    async with ScriptedUpstream(SERVED) as u1, running_gateway(one_model(u1, public)) as gateway:
        answer = await gateway.post(path, {"model": public, "stream": True})
        assert (answer.status, answer.is_complete) == (200, True)
        assert (answer.header("content-type") or "").startswith("text/event-stream")
        assert answer.events == answers.STREAMS[path](public)
        if public == PUBLIC:
            assert SERVED.encode() not in answer.body


@pytest.mark.parametrize("path", ["/v1/classify", "/v1/pooling", "/v1/tokenize", "/v1/detokenize"])
async def test_a_second_spelling_asks_the_engine_by_its_own(path: str) -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        answer = await gateway.post(path, {"model": "m1"})
        assert answer.status == 200
        assert u1.paths == [path.removeprefix("/v1")]


def says(status: int, message: str, headers: wire.HeaderList = ()) -> Handler:
    error = {"message": message, "type": "T", "param": None, "code": status}

    async def answer(exchange: Exchange) -> None:
        await exchange.answer(status, wire.compact({"error": error}), headers=headers)

    return answer


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, openai.BadRequestError),
        (404, openai.NotFoundError),
        (409, openai.ConflictError),
        (422, openai.UnprocessableEntityError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (503, openai.InternalServerError),
    ],
)
async def test_a_backends_refusal_is_the_clients_own_exception(
    status: int, kind: type[openai.APIStatusError]
) -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers["*"] = says(status, "the engine's words", [("retry-after", "7")])
        async with openai_client(gateway) as client:
            with pytest.raises(kind) as caught:
                await client.chat.completions.create(model="m1", messages=MESSAGES)
        assert caught.value.status_code == status
        assert "the engine's words" in caught.value.message
        assert caught.value.response.headers["retry-after"] == "7"


async def test_the_gateways_refusals_are_the_clients_own_exceptions() -> None:
    down = ScriptedUpstream("m2")
    async with ScriptedUpstream("m1") as u1:
        config = routes(
            [backend("u1", u1), backend("u2", down)],
            [model("m1", "u1", endpoints=["chat"]), model("m2", "u2")],
        )
        async with (
            running_gateway(config, client_keys=["k"], max_body_bytes=100_000) as gateway,
            openai_client(gateway, "k") as client,
            openai_client(gateway, "wrong") as stranger,
        ):
            with pytest.raises(openai.AuthenticationError) as unknown_key:
                await stranger.chat.completions.create(model="m1", messages=MESSAGES)
            assert unknown_key.value.code == "invalid_api_key"
            with pytest.raises(openai.PermissionDeniedError) as not_offered:
                await client.embeddings.create(model="m1", input="a")
            assert not_offered.value.code == "model_not_permitted"
            with pytest.raises(openai.InternalServerError) as unavailable:
                await client.chat.completions.create(model="m2", messages=MESSAGES)
            assert unavailable.value.status_code == 503
            assert unavailable.value.code == "no_backend_available"
            assert int(unavailable.value.response.headers["retry-after"]) >= 1
            with pytest.raises(openai.APIStatusError) as too_large:
                await client.chat.completions.create(
                    model="m1", messages=[{"role": "user", "content": "x" * 200_000}]
                )
            assert (too_large.value.status_code, too_large.value.code) == (413, "request_too_large")
        assert u1.requests == []
    await down.stop()


async def test_anthropics_client_gets_its_own_exceptions() -> None:
    down = ScriptedUpstream("m2")
    async with ScriptedUpstream("m1") as u1:
        config = routes(
            [backend("u1", u1), backend("u2", down)], [model("m1", "u1"), model("m2", "u2")]
        )
        async with (
            running_gateway(config, client_keys=["k"]) as gateway,
            anthropic_client(gateway, "k") as claude,
            anthropic_client(gateway, "wrong") as stranger,
        ):
            ask: dict[str, Any] = {"max_tokens": 4, "messages": MESSAGES}
            # Anthropic's client sends x-api-key; the gateway takes it as its own.
            assert (await claude.messages.create(model="m1", **ask)).model == "m1"
            with pytest.raises(anthropic.AuthenticationError):
                await stranger.messages.create(model="m1", **ask)
            with pytest.raises(anthropic.NotFoundError):
                await claude.messages.create(model="nobody", **ask)
            with pytest.raises(anthropic.APIStatusError) as unavailable:
                await claude.messages.create(model="m2", **ask)
            assert unavailable.value.status_code == 503
            error: Any = unavailable.value.body
            assert error["type"] == "error"
            assert error["error"]["type"] == "overloaded_error"
            u1.handlers["/v1/messages"] = says(400, "the engine's words")
            with pytest.raises(anthropic.BadRequestError, match="the engine's words"):
                await claude.messages.create(model="m1", **ask)
    await down.stop()


async def test_a_busy_engine_that_names_no_time_gets_one() -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers["*"] = says(503, "not now")
        answer = await gateway.post(CHAT, {"model": "m1", "messages": MESSAGES})
        assert answer.status == 503
        assert int(answer.header("retry-after") or 0) >= 1


async def test_vectors_in_raw_bytes_name_the_public_model() -> None:
    async def vectors(exchange: Exchange) -> None:
        told = json.dumps({"id": "embd-1", "model": SERVED, "data": []})
        await exchange.answer(
            200, b"\x00\x01", headers=[("metadata", told)], content_type="application/octet-stream"
        )

    async with ScriptedUpstream(SERVED) as u1, running_gateway(one_model(u1, PUBLIC)) as gateway:
        u1.handlers["/v1/embeddings"] = vectors
        answer = await gateway.post("/v1/embeddings", {"model": PUBLIC, "input": "a"})
        assert answer.body == b"\x00\x01"
        assert json.loads(answer.header("metadata") or "")["model"] == PUBLIC


LATE_HEARTBEAT_S = 0.5


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/rerank", "/tokenize"])
async def test_what_never_streams_gets_no_heartbeat(path: str) -> None:
    """`stream` means nothing there: the answer is the engine's JSON, however late."""

    async def late(exchange: Exchange) -> None:
        await asyncio.sleep(3 * LATE_HEARTBEAT_S)
        await answers.usual(exchange)

    config = one_model(u1 := ScriptedUpstream("m1"), heartbeat_s=LATE_HEARTBEAT_S)
    async with u1, running_gateway(config) as gateway:
        u1.handlers[path] = late
        answer = await gateway.post(path, {"model": "m1", "input": "a", "stream": True})
        assert (answer.status, answer.header("content-type")) == (200, "application/json")
        assert answer.body == whole_answer(path, "m1")


async def test_a_whole_answer_after_a_heartbeat_is_an_event() -> None:
    """The engine ignored `stream`; the client was already promised one."""

    async def late(exchange: Exchange) -> None:
        await asyncio.sleep(3 * LATE_HEARTBEAT_S)
        await exchange.answer(200, answers.chat_body("m1"))

    config = one_model(u1 := ScriptedUpstream("m1"), heartbeat_s=LATE_HEARTBEAT_S)
    async with u1, running_gateway(config) as gateway:
        u1.handlers[CHAT] = late
        answer = await gateway.chat("m1", stream=True)
        said = [event for event in answer.events if not event.startswith(b":")]
        assert len(said) < len(answer.events)
        assert said == [b"data: " + answers.chat_body("m1") + b"\n\n", wire.DONE]
