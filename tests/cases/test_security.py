"""Reports about what must never cross the gateway: credentials one way, control paths the other."""

import pytest

from tests.support.gateway import CHAT, chat_request, running_gateway
from tests.support.routing import backend, model, routes
from tests.support.upstream import ScriptedUpstream

CREDENTIALS = [
    ("Authorization", "Bearer gw"),
    ("x-api-key", "gw"),
    ("api-key", "gw"),
    ("Cookie", "a=b"),
    ("Proxy-Authorization", "Basic Z3c="),
]


@pytest.mark.case("hdr-req-1")
@pytest.mark.parametrize("keys", [["gw"], []], ids=["with-keys", "open"])
async def test_hdr_req_1(monkeypatch: pytest.MonkeyPatch, keys: list[str]) -> None:
    monkeypatch.setenv("TEST_BACKEND_KEY", "bk")
    monkeypatch.delenv("TEST_UNSET_KEY", raising=False)
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m2") as u2:
        config = routes(
            [
                backend("u1", u1, api_key_env="TEST_UNSET_KEY"),
                backend("u2", u2, api_key_env="TEST_BACKEND_KEY"),
            ],
            [model("m1", "u1"), model("m2", "u2")],
        )
        async with running_gateway(config, client_keys=keys) as gateway:
            for path in (CHAT, "/v1/messages", "/v1/embeddings"):
                for name in ("m1", "m2"):
                    answer = await gateway.post(path, chat_request(name), CREDENTIALS)
                    assert answer.status == 200, answer.body
        for upstream, own in ((u1, []), (u2, ["Bearer bk"])):
            assert len(upstream.requests) == 3
            for request in [*upstream.requests, *upstream.probes]:
                assert request.all("authorization") == own
                for name in ("x-api-key", "api-key", "cookie", "proxy-authorization"):
                    assert request.all(name) == [], name
                assert not any("gw" in value for _, value in request.headers)


CONTROL_PATHS = (
    "/sleep",
    "/wake_up",
    "/load_lora_adapter",
    "/v1/load_lora_adapter",
    "/v1/unload_lora_adapter",
    "/reset_prefix_cache",
    "/reset_mm_cache",
    "/collective_rpc",
    "/invocations",
    "/server_info",
    "/is_sleeping",
    "/is_paused",
    "/pause",
    "/resume",
    "/load",
    "/ping",
    "/abort_requests",
    "/scale_elastic_ep",
    "/start_profile",
    "/stop_profile",
    "/update_weights",
    "/inference/v1/generate",
    "/inference/v1/abort_requests",
    "/v1/chat/completions/render",
    "/v1/chat/completions/batch",
    "/v1/responses/resp_1/cancel",
)
TRICKS = (
    "/v1/../sleep",
    "/v1/%2e%2e/sleep",
    "//sleep",
    "/v1/chat/completions/../../sleep",
    "/v1/chat/completions/..%2f..%2fsleep",
    "/v1/chat/completions%2f..%2f..%2f..%2fsleep",
    "/v1\\..\\sleep",
    "/v1/chat/completions;/../../../sleep",
    "/./sleep",
    "/sleep/",
    "/sleep?x=/v1/chat/completions",
    "/%73leep",
    "/v1/chat/completions/%2e%2e/%2e%2e/%2e%2e/sleep",
)


@pytest.mark.case("sec-admin-1")
async def test_sec_admin_1() -> None:
    async with ScriptedUpstream("m1", any_model=True) as u1:
        config = routes([backend("u1", u1)], [model("m1", "u1")])
        async with running_gateway(config, client_keys=["gw"]) as gateway:
            for target in (*CONTROL_PATHS, *TRICKS):
                for headers in ([("Authorization", "Bearer gw")], []):
                    answer = await gateway.post(target, chat_request("m1"), headers)
                    allowed = (400, 404, 405) if headers else (400, 401, 404, 405)
                    assert answer.status in allowed, target
                    assert "error" in answer.json(), target
            assert u1.requests == []
            probed = {request.path for request in u1.probes}
            own = {"/health", "/v1/models", "/metrics", "/version", "/load"}
            # Beside its probes, the gateway asks for tokens of its own.
            assert probed <= own | {"/v1/chat/completions"}


@pytest.mark.parametrize("target", ["/docs", "/redoc", "/openapi.json", "/metrics"])
async def test_the_gateways_own_pages_are_not_the_engines(target: str) -> None:
    async with ScriptedUpstream("m1") as u1:
        config = routes([backend("u1", u1)], [model("m1", "u1")])
        async with running_gateway(config) as gateway:
            answer = await gateway.get(target)
            assert b"vllm:" not in answer.body
            assert all(request.path != "/docs" for request in u1.requests)
            assert u1.requests == []


@pytest.mark.parametrize(
    "path",
    [
        CHAT,
        "/v1/completions",
        "/v1/embeddings",
        "/v1/responses",
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/v1/rerank",
        "/v2/rerank",
        "/rerank",
        "/v1/score",
        "/score",
        "/classify",
        "/pooling",
        "/tokenize",
        "/detokenize",
        "/v1/audio/transcriptions",
        "/v1/audio/translations",
    ],
)
async def test_every_proxied_path_needs_the_key(path: str) -> None:
    async with ScriptedUpstream("m1", any_model=True) as u1:
        config = routes([backend("u1", u1)], [model("m1", "u1")])
        async with running_gateway(config, client_keys=["gw"]) as gateway:
            for target in (path, path + "/", "/" + path, path + "?key=gw"):
                answer = await gateway.post(target, chat_request("m1"))
                assert answer.status == 401, target
                assert answer.json()["error"]["type"] == "authentication_error"
        assert u1.requests == []
