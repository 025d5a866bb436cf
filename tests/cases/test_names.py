"""Reports about names: what a client asks for, what the engine is asked for, what comes back."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.support import answers, wire
from tests.support.gateway import CHAT, GatewayClient, chat_request, running_gateway
from tests.support.routing import backend, model, one_model, routes
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import eventually

ODD_IDS = ("acme/qwen3-8b", "org:model:7b", "100%", "a%2Fb", "with blank", "通义千问-7B", "a+b?c")


@pytest.mark.case("names-id-1")
async def test_names_id_1() -> None:
    async with (
        ScriptedUpstream("acme/qwen3-8b") as u1,
        running_gateway(one_model(u1)) as gateway,
    ):
        for target in ("/v1/models/acme/qwen3-8b", "/v1/models/acme%2Fqwen3-8b"):
            answer = await gateway.get(target)
            assert (answer.status, answer.json()["id"]) == (200, "acme/qwen3-8b")
        unknown = await gateway.get("/v1/models/acme/nope")
        assert (unknown.status, unknown.error["code"]) == (404, "model_not_found")
        assert unknown.error["param"] == "model"
        no_route = await gateway.get("/v1/nope")
        assert (no_route.status, no_route.error["code"]) == (404, "unknown_route")


@pytest.mark.parametrize("name", ODD_IDS)
async def test_every_listed_id_can_be_retrieved(name: str) -> None:
    async with ScriptedUpstream(name) as u1, running_gateway(one_model(u1)) as gateway:
        listed = (await gateway.get("/v1/models")).json()["data"]
        assert [entry["id"] for entry in listed] == [name]
        answer = await gateway.get("/v1/models/" + quote(name, safe=""))
        assert (answer.status, answer.json()["id"]) == (200, name)
        if name.isascii() and not set(name) & set(" ?"):
            raw = await gateway.get("/v1/models/" + name)
            assert (raw.status, raw.json()["id"]) == (200, name)


@pytest.mark.case("names-path-1")
async def test_names_path_1() -> None:
    path = "/data/models/Qwen-14B-Int8"
    async with (
        ScriptedUpstream(path, root=path) as u1,
        running_gateway(one_model(u1, "qwen-14b")) as gateway,
    ):
        right = await gateway.chat("qwen-14b")
        assert (right.status, right.json()["model"]) == (200, "qwen-14b")
        assert u1.requests[0].json()["model"] == path
        for wrong in ("qwen-14B-int8", "qwen-14B", path, "Qwen-14B-Int8", " qwen-14b"):
            answer = await gateway.chat(wrong)
            assert answer.status == 404, wrong
            assert answer.error["code"] == "model_not_found"
            assert "qwen-14b" in answer.error["message"]
        assert len(u1.requests) == 1


async def test_a_container_name_is_told_apart_from_a_typing_error() -> None:
    async with ScriptedUpstream("qwen3.5-9b") as u1:
        one = backend("u1", u1, container="vllm-ascend-qwen3.5")
        config = routes([one], [model("qwen3.5-9b", "u1")])
        async with running_gateway(config) as gateway:
            answer = await gateway.chat("vllm-ascend-qwen3.5")
            assert answer.status == 404
            assert "container" in answer.error["message"]
            assert "qwen3.5-9b" in answer.error["message"]
        assert u1.requests == []


@pytest.mark.case("names-unknown-1")
async def test_names_unknown_1() -> None:
    async with (
        ScriptedUpstream("qwen3-8b", any_model=True) as u1,
        running_gateway(one_model(u1)) as gateway,
    ):
        answer = await gateway.chat("qwen3-8bb")
        assert answer.status == 404
        assert answer.error["code"] == "model_not_found"
        assert answer.error["param"] == "model"
        assert "qwen3-8b" in answer.error["message"].replace("qwen3-8bb", "")
        assert u1.requests == []


@pytest.mark.parametrize("path", sorted(answers.plain_bodies("m1")))
async def test_an_unknown_name_reaches_no_backend_on_any_endpoint(path: str) -> None:
    async with (
        ScriptedUpstream("m1", any_model=True) as u1,
        running_gateway(one_model(u1)) as gateway,
    ):
        if "audio" in path:
            form = b'--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nnobody\r\n--b--\r\n'
            answer = await gateway.post(path, form, content_type="multipart/form-data; boundary=b")
        else:
            answer = await gateway.post(path, {"model": "nobody", "stream": True})
        assert answer.status == 404
        error = answer.json()["error"]
        if path.startswith("/v1/messages"):
            assert answer.json()["type"] == "error"
            assert error["type"] == "not_found_error"
        else:
            assert (error["code"], error["param"]) == ("model_not_found", "model")
        assert "m1" in error["message"]
        assert u1.requests == []


async def test_the_list_of_names_in_a_refusal_is_bounded() -> None:
    names = [f"model-number-{number:04d}" for number in range(600)]
    async with ScriptedUpstream("m1") as u1:
        config = routes(
            [backend("u1", u1)],
            [model(name, {"backend": "u1", "served_name": "m1"}) for name in names],
        )
        async with running_gateway(config) as gateway:
            answer = await gateway.chat("x" * 5000)
            assert answer.status == 404
            assert len(answer.body) < 4000


@pytest.mark.case("names-down-1")
async def test_names_down_1() -> None:
    u1 = ScriptedUpstream("m1")
    try:
        for _ in range(2):
            async with running_gateway(one_model(u1)) as gateway:
                for stream in (False, True):
                    answer = await gateway.chat("m1", stream=stream)
                    assert answer.status == 503
                    assert int(answer.header("retry-after") or "") >= 1
                    assert answer.error["code"] != "model_not_found"
                listed = (await gateway.get("/v1/models")).json()["data"]
                assert [entry["id"] for entry in listed] == ["m1"]
                assert (await gateway.get("/v1/models/m1")).status == 200
                assert (await gateway.chat("m2")).status == 404
    finally:
        await u1.stop()


@pytest.mark.case("names-exact-1")
async def test_names_exact_1() -> None:
    async with ScriptedUpstream("DeepSeek-V3") as u1, ScriptedUpstream("deepseek-v3") as u2:
        config = routes(
            [backend("u1", u1), backend("u2", u2)],
            [model("DeepSeek-V3", "u1"), model("deepseek-v3", "u2")],
        )
        async with running_gateway(config) as gateway:
            for name, upstream in (("DeepSeek-V3", u1), ("deepseek-v3", u2)):
                answer = await gateway.chat(name)
                assert (answer.status, answer.json()["model"]) == (200, name)
                assert [request.json()["model"] for request in upstream.requests] == [name]
            wrong = await gateway.chat("DEEPSEEK-V3")
            assert wrong.status == 404
            message = wrong.error["message"].replace("DEEPSEEK-V3", "")
            assert "DeepSeek-V3" in message or "deepseek-v3" in message
        assert (len(u1.requests), len(u2.requests)) == (1, 1)


ALIAS_BODIES = {
    CHAT: b'{ "z":1, "model" : "gpt-4",\n "messages":[{"role":"user","content":"gpt-4"}],"x_new":'
    b'{"model":"gpt-4","a":[1e400,12345678901234567890]},"u":"\\u4f60\\/"}',
    "/v1/completions": b'{"prompt":"a","extra":null,"model":"gpt-4"}',
    "/v1/embeddings": b'{"model":"gpt-4","input":["a"],"dimensions":null,"model":"gpt-4"}',
    "/v1/responses": b'{"input":"\\ud83d","model":"gpt-4","metadata":{"model":"x"}}',
}


@pytest.mark.case("names-alias-1")
async def test_names_alias_1() -> None:
    async with ScriptedUpstream("qwen3-8b") as u1:
        config = one_model(u1, aliases=["gpt-4"])
        async with running_gateway(config) as gateway:
            for path, body in ALIAS_BODIES.items():
                answer = await gateway.post(path, body)
                assert answer.status == 200, (path, answer.body)
                assert answer.json()["model"] == "gpt-4"
                request = u1.requests[-1]
                assert request.path == path
                assert request.body == expected_body(path, body)
                assert request.header("content-length") == str(len(request.body))


def expected_body(path: str, body: bytes) -> bytes:
    """The body with the top-level names replaced and every other byte kept."""
    if path == CHAT:
        return body.replace(b'"model" : "gpt-4"', b'"model" : "qwen3-8b"', 1)
    return body.replace(b'"model":"gpt-4"', b'"model":"qwen3-8b"')


def lora_server(missing: str) -> Any:
    async def answer(exchange: Exchange) -> None:
        name = exchange.request.json()["model"]
        if name == missing:
            await exchange.answer(404, answers.unknown_model(name, ("base",)))
        else:
            await exchange.answer(200, answers.chat_body(name))

    return answer


def lora_config(u1: ScriptedUpstream, u2: ScriptedUpstream) -> dict[str, Any]:
    served = [{"backend": name, "served_name": "lora-v11"} for name in ("u1", "u2")]
    return routes(
        [backend("u1", u1), backend("u2", u2)],
        [model("lora-v11", *served), model("base", "u1")],
    )


@pytest.mark.case("names-lora-1")
@pytest.mark.parametrize("listed", [True, False])
async def test_names_lora_1(listed: bool) -> None:
    lists = ("base", "lora-v11") if listed else ("base",)
    async with ScriptedUpstream(*lists) as u1, ScriptedUpstream("base", "lora-v11") as u2:
        u1.handlers[CHAT] = lora_server("lora-v11")
        async with running_gateway(lora_config(u1, u2), probe_interval_s=60.0) as gateway:
            for number in range(10):
                answer = await gateway.chat("lora-v11", stream=False)
                assert answer.status == 200, number
                assert answer.json()["model"] == "lora-v11"
            assert len(u2.requests) == 10
            assert len(u1.requests) <= 1
            for _ in range(10):
                assert (await gateway.chat("base")).status == 200
            base = [request for request in u1.requests if request.json()["model"] == "base"]
            assert len(base) == 10
            drift = (await gateway.health())["backends"]["u1"]["drift"]
            assert "lora-v11" in json.dumps(drift)


async def test_a_name_that_every_backend_lost_is_said_so() -> None:
    async with (
        ScriptedUpstream("base", "lora-v11") as u1,
        ScriptedUpstream("base", "lora-v11") as u2,
    ):
        for upstream in (u1, u2):
            upstream.handlers[CHAT] = lora_server("lora-v11")
        async with running_gateway(lora_config(u1, u2), probe_interval_s=60.0) as gateway:
            for _ in range(3):
                answer = await gateway.chat("lora-v11")
                assert answer.status == 503
                assert answer.error["code"] == "no_backend_available"
                assert answer.error["type"] != "NotFoundError"
            assert (await gateway.chat("base")).status == 200


@pytest.mark.case("names-nonascii-1")
async def test_names_nonascii_1() -> None:
    name = "通义千问-7B"
    async with ScriptedUpstream(name) as u1, running_gateway(one_model(u1)) as gateway:
        request = chat_request(name)
        escaped = json.dumps(request, ensure_ascii=True).encode()
        assert b"\\u" in escaped
        for body in (wire.compact(request), escaped):
            answer = await gateway.post(CHAT, body)
            assert (answer.status, answer.json()["model"]) == (200, name)
        stream = await gateway.chat(name, stream=True)
        assert stream.events == answers.chat_events(name)
        one = await gateway.get("/v1/models/" + quote(name))
        assert (one.status, one.json()["id"]) == (200, name)
        listed = (await gateway.get("/v1/models")).json()["data"]
        assert [entry["id"] for entry in listed] == [name]
        assert u1.requests[0].json() == u1.requests[1].json()
        await assert_metrics_name(gateway, name)


async def assert_metrics_name(gateway: GatewayClient, name: str) -> None:
    async def is_counted() -> bool:
        samples = (await gateway.metrics()).samples
        return any(labels.get("model") == name for _, labels, _ in samples)

    await eventually(is_counted)


async def test_a_chinese_alias_of_a_chinese_name() -> None:
    async with (
        ScriptedUpstream("模型甲") as u1,
        running_gateway(one_model(u1, "模型乙")) as gateway,
    ):
        stream = await gateway.chat("模型乙", stream=True)
        assert stream.events == answers.chat_events("模型乙")
        assert u1.requests[0].json()["model"] == "模型甲"
        unknown = await gateway.chat("模型丙")
        assert unknown.status == 404
        assert "模型乙" in unknown.error["message"]
