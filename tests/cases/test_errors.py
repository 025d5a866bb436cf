"""Reports about bodies that are wrong: they are refused here and kill nothing."""

import json
from typing import Any

import pytest

from tests.support import wire
from tests.support.gateway import CHAT, chat_request, running_gateway
from tests.support.routing import one_model
from tests.support.upstream import ScriptedUpstream

WRONG_MODELS: tuple[Any, ...] = (None, "", 123, 1.5, ["m1"], {"a": 1}, True, [])


@pytest.mark.case("names-type-1")
async def test_names_type_1() -> None:
    bodies: list[dict[str, Any]] = [{}, {"messages": []}]
    bodies += [{"model": value, "messages": []} for value in WRONG_MODELS]
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        for body in bodies:
            answer = await gateway.post(CHAT, body)
            assert answer.status == 400, body
            assert answer.error["type"] == "invalid_request_error"
            assert answer.error["param"] == "model"
        assert (await gateway.chat("m1")).status == 200
        assert len(u1.requests) == 1


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/responses", "/v1/rerank", "/tokenize"])
async def test_a_body_without_model_is_refused_on_other_endpoints(path: str) -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        answer = await gateway.post(path, {"x": {"model": "m1"}})
        assert (answer.status, answer.error["param"]) == (400, "model")
        assert u1.requests == []


async def test_anthropic_clients_get_their_own_envelope() -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        for body in (b"{}", b"[]", b"{", b'{"model":1}'):
            answer = await gateway.post("/v1/messages", body)
            assert answer.status == 400
            assert answer.json()["type"] == "error"
            assert answer.json()["error"]["type"] == "invalid_request_error"
        assert u1.requests == []


BROKEN = {
    "trailing garbage": b'{"model":"m1","messages":[],x}',
    "empty": b"",
    "array": b"[]",
    "number": b"3",
    "string": b'"m1"',
    "null": b"null",
    "deep array": b"[" * 100_000,
    "deep object": b'{"model":"m1","messages":' + b'{"a":' * 100_000,
    "deep and closed": b'{"model":"m1","a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "cut": b'{"model":"m1","messages":[{"role":"us',
    "two documents": b'{"model":"m1"}{"model":"m1"}',
    "single quotes": b"{'model':'m1'}",
    "blank": b" \n\t ",
    "nul": b"\x00",
}


@pytest.mark.case("err-json-1")
async def test_err_json_1() -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        for name, body in BROKEN.items():
            answer = await gateway.post(CHAT, body)
            assert answer.status == 400, name
            assert answer.error["type"] == "invalid_request_error", name
        garbage = await gateway.post(CHAT, BROKEN["trailing garbage"])
        assert any(character.isdigit() for character in garbage.error["message"])
        valid = wire.compact(chat_request("m1"))
        form = "application/x-www-form-urlencoded"
        assert (await gateway.post(CHAT, valid, content_type=form)).status == 200
        assert len(u1.requests) == 1
        # vLLM refuses any other content type, so the right one goes out.
        assert u1.requests[0].header("content-type") == "application/json"


@pytest.mark.parametrize("kind", [None, "text/plain", "application/json; charset=utf-8"])
async def test_valid_json_is_taken_under_any_usual_content_type(kind: str | None) -> None:
    body = wire.compact(chat_request("m1"))
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        answer = await gateway.post(CHAT, body, content_type=kind)
        assert answer.status == 200
        sent = u1.requests[0].header("content-type") or ""
        assert sent.startswith("application/json")
        assert u1.requests[0].body == body


@pytest.mark.parametrize(
    ("body", "model"),
    [
        (b'\xef\xbb\xbf{"model":"m1","messages":[]}', "m1"),
        (b'{"model":"nobody","model":"m1"}', "m1"),
        (b'{"\\u006dodel":"m1"}', "m1"),
        (b'{"model":"m\\u0031"}', "m1"),
        (b'{"model":"m1","note":"\\ud800"}', "m1"),
        (b'{"model":"m1","big":123456789012345678901234567890,"f":1e999}', "m1"),
        (b'{"model":"m1","t":NaN}', "m1"),
    ],
)
async def test_what_the_engine_takes_is_taken(body: bytes, model: str) -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        answer = await gateway.post(CHAT, body)
        assert answer.status == 200, answer.body
        assert json.loads(u1.requests[0].body.decode("utf-8-sig"))["model"] == model


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
async def test_a_wrong_method_says_which_is_right(method: str) -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        answer = await gateway.raw(method, CHAT)
        assert (answer.status, answer.error["code"]) == (405, "method_not_allowed")
        assert "POST" in (answer.header("allow") or "")
        assert u1.requests == []


async def test_a_head_request_gets_no_body() -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        for target in ("/health", "/livez", "/readyz", "/v1/models"):
            async with gateway.connect() as connection:
                await connection.request("HEAD", target, [("Connection", "close")])
                answer = await connection.read_answer(has_body=False)
                assert answer.status == 200, target
                assert await connection.is_closed_by_peer(10.0)
        assert u1.requests == []
