"""Reports about what clients expect: lists, errors, modes and fields as the engine gave them."""

import asyncio
import json
from typing import Any

import openai
import pytest

from gateway.errors import Outcome
from tests.support import answers, wire
from tests.support.clients import openai_client
from tests.support.gateway import CHAT, chat_request, running_gateway
from tests.support.routing import backend, model, one_model, routes
from tests.support.upstream import Exchange, ScriptedUpstream

MESSAGES: Any = [{"role": "user", "content": "hi"}]


@pytest.mark.case("models-fields-1")
async def test_models_fields_1() -> None:
    async with (
        ScriptedUpstream("m1", max_model_len=8192) as u1,
        ScriptedUpstream("m1", max_model_len=4096) as u2,
    ):
        config = routes([backend("u1", u1), backend("u2", u2)], [model("m1", "u1", "u2")])
        async with running_gateway(config) as gateway:
            listed = (await gateway.get("/v1/models")).json()
            assert listed["object"] == "list"
            assert len(listed["data"]) == 1
            one = (await gateway.get("/v1/models/m1")).json()
            for entry in (listed["data"][0], one):
                assert (entry["id"], entry["object"]) == ("m1", "model")
                assert entry["max_model_len"] == 4096
                assert type(entry["created"]) is int
                assert entry["created"] > 0
                assert "parent" in entry
                assert isinstance(entry["owned_by"], str)
            assert "/models/test" not in json.dumps(listed), "a model path is nobody's business"


@pytest.mark.case("stream-errshape-1")
async def test_stream_errshape_1() -> None:
    async def cut(exchange: Exchange) -> None:
        await exchange.start_stream()
        for one in answers.chat_events("m1")[:2]:
            await exchange.event(one)
        exchange.reset()

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers[CHAT] = cut
        async with openai_client(gateway) as client:
            stream = await client.chat.completions.create(
                model="m1", messages=MESSAGES, stream=True
            )
            texts = []
            with pytest.raises(openai.APIError) as caught:
                async for part in stream:
                    texts.append(part.choices[0].delta.content)  # noqa: PERF401 - it raises
            await stream.close()
        assert texts == ["", "Hello"]
        error: Any = caught.value.body
        assert error["code"] == Outcome.UPSTREAM_CUT.value
        assert isinstance(error["type"], str)
        assert error["message"] in str(caught.value)
        assert "backend" in str(caught.value)
        raw = await gateway.chat("m1", stream=True)
        assert set(wire.event_json(raw.events[-1])["error"]) == {"message", "type", "param", "code"}
        assert raw.events[-1].startswith(b"data: ")


TEXT_HEADERS = {
    "gbk": "application/json; charset=GBK",
    "plain": "application/json",
}


@pytest.mark.case("stream-text-3")
async def test_stream_text_3() -> None:
    text = json.dumps(chat_request("m1"), ensure_ascii=False).replace("hi", "你好")
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        named = await gateway.post(CHAT, text.encode("gbk"), content_type=TEXT_HEADERS["gbk"])
        assert named.status in (200, 400)
        if named.status == 400:
            assert "UTF-8" in named.error["message"]
        unnamed = await gateway.post(CHAT, text.encode("gbk"), content_type=TEXT_HEADERS["plain"])
        assert unnamed.status == 400
        assert "UTF-8" in unnamed.error["message"]
        marked = await gateway.post(CHAT, text.encode("utf-8-sig"))
        assert marked.status in (200, 400)
        plain = await gateway.post(CHAT, text.encode())
        assert plain.status == 200
        assert u1.requests
        for request in u1.requests:
            content = json.loads(request.body.decode("utf-8-sig"))["messages"][0]["content"]
            assert content == "你好"


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-32", "big5", "shift_jis", "euc_jp"])
async def test_no_other_encoding_is_taken_for_utf_8(encoding: str) -> None:
    text = json.dumps({"model": "m1", "note": "日本語"}, ensure_ascii=False)
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        answer = await gateway.post(CHAT, text.encode(encoding))
        assert answer.status == 400
        assert answer.error["type"] == "invalid_request_error"
        assert u1.requests == []


@pytest.mark.case("stream-mode-1")
async def test_stream_mode_1() -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        for fields in ({}, {"stream": False}, {"stream": None}):
            answer = await gateway.chat("m1", **fields)
            assert answer.status == 200
            assert answer.header("content-type") == "application/json"
            assert answer.body == answers.chat_body("m1")
            assert answer.body[:1] == b"{"
            assert "stream" not in u1.requests[-1].json() or "stream" in fields


async def test_the_mode_follows_the_answer_and_not_the_request() -> None:
    """vLLM streams for `"stream":"true"` and `"stream":1` too."""

    async def streams(exchange: Exchange) -> None:
        await exchange.stream(answers.chat_events("m1"))

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, "alias")) as gateway:
        u1.handlers[CHAT] = streams
        for value in ("true", 1):
            answer = await gateway.chat("alias", stream=value)
            assert answer.events == answers.chat_events("alias")
            assert u1.requests[-1].json()["stream"] == value


FLAT = {
    "object": "error",
    "message": "the flat text",
    "type": "BadRequestError",
    "param": None,
    "code": 400,
}
NESTED = {
    "error": {
        "message": "the nested text",
        "type": "BadRequestError",
        "param": "input_tokens",
        "code": 400,
    }
}


@pytest.mark.case("err-shape-1")
@pytest.mark.parametrize(
    ("status", "body", "content_type", "text"),
    [
        (400, wire.compact(FLAT), "application/json", "the flat text"),
        (400, wire.compact(NESTED), "application/json", "the nested text"),
        (500, b"Internal Server Error", "text/plain; charset=utf-8", "Internal Server Error"),
        (502, b"<html><body><h1>502 Bad Gateway</h1></body></html>", "text/html", "502"),
        (404, b"", None, ""),
        (422, b'{"detail":[{"msg":"field required"}]}', "application/json", "field required"),
        (400, b"x" * 300_000, "text/plain", "xxx"),
    ],
)
async def test_err_shape_1(status: int, body: bytes, content_type: str | None, text: str) -> None:
    async def refuse(exchange: Exchange) -> None:
        await exchange.answer(status, body, content_type=content_type)

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers[CHAT] = refuse
        async with openai_client(gateway) as client:
            for stream in (False, True):
                with pytest.raises(openai.APIStatusError) as caught:
                    await client.chat.completions.create(
                        model="m1", messages=MESSAGES, stream=stream
                    )
                error: Any = caught.value.body
                assert caught.value.status_code == status
                assert text in error["message"]
                assert error["message"]
                assert len(error["message"]) < 10_000
                assert {"type", "param", "code"} <= set(error)
        if body == wire.compact(NESTED):
            raw = await gateway.chat("m1")
            assert raw.body == body


async def test_a_backend_that_refuses_the_gateways_key_is_not_the_clients_fault() -> None:
    async def refuse(exchange: Exchange) -> None:
        await exchange.answer(401, b'{"error":"Unauthorized"}')

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers[CHAT] = refuse
        answer = await gateway.chat("m1")
        assert answer.status in (502, 503)
        assert answer.error["code"] not in ("api_key_required", "invalid_api_key")


REQUEST_EXTRAS: dict[str, Any] = {
    "chat_template_kwargs": {"enable_thinking": False, "deep": {"x": [None, {"y": 1.0}]}},
    "extra_body": {"a": None},
    "vllm_xargs": {"k": "v"},
    "guided_json": {"type": "object", "properties": {"model": {"const": "m1"}}},
    "x": None,
    "max_tokens": None,
    "seed": 12345678901234567890123,
    "temperature": 1e-7,
}


@pytest.mark.case("fields-1")
@pytest.mark.parametrize("public", ["m1", "alias/of:m1"])
@pytest.mark.parametrize("indent", [None, 2])
async def test_fields_1(public: str, indent: int | None) -> None:
    sent = json.dumps(chat_request(public, **REQUEST_EXTRAS), indent=indent)
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, public)) as gateway:
        assert (await gateway.post(CHAT, sent.encode())).status == 200
        expected = sent.replace(f'"model": "{public}"', '"model": "m1"', 1)
        assert u1.requests[0].body.decode() == expected


ODD_MESSAGE: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "refusal": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"model":"m1"}'}}
    ],
    "annotations": [],
    "x_unknown": {},
}


def odd_answer(model: str, key: str, kind: str) -> dict[str, Any]:
    choice = {
        "index": 0,
        key: ODD_MESSAGE,
        "logprobs": {"content": [{"token": "a", "top_logprobs": []}]},
        "finish_reason": "tool_calls",
        "stop_reason": None,
    }
    return {
        "id": "1",
        "object": kind,
        "created": 1,
        "model": model,
        "choices": [choice],
        "usage": None,
        "prompt_logprobs": None,
        "kv_transfer_params": {"model": "m1", "remote": [1.0, 1e22]},
    }


@pytest.mark.case("fields-3")
async def test_fields_3() -> None:
    def whole(model: str) -> bytes:
        return wire.compact(odd_answer(model, "message", "chat.completion"))

    def events(model: str) -> list[bytes]:
        one = wire.event(odd_answer(model, "delta", "chat.completion.chunk"))
        return [one, wire.DONE]

    async def odd(exchange: Exchange) -> None:
        if exchange.request.json().get("stream"):
            await exchange.stream(events("m1"))
        else:
            await exchange.answer(200, whole("m1"))

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, "alias")) as gateway:
        u1.handlers[CHAT] = odd
        assert (await gateway.chat("alias")).body == whole("alias")
        assert (await gateway.chat("alias", stream=True)).events == events("alias")


async def test_answers_side_by_side_keep_their_own_names() -> None:
    """Many requests at once under two names of one backend never mix names."""
    async with ScriptedUpstream("m1") as u1:
        config = one_model(u1, aliases=["first", "second"])
        async with running_gateway(config) as gateway:
            names = ["m1", "first", "second"] * 10
            sent = (gateway.chat(name, stream=True) for name in names)
            for name, answer in zip(names, await asyncio.gather(*sent), strict=True):
                assert answer.events == answers.chat_events(name)
