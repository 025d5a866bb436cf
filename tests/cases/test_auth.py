"""Reports about keys and browsers."""

import pytest

from tests.support.gateway import CHAT, chat_request, running_gateway
from tests.support.routing import one_model
from tests.support.upstream import ScriptedUpstream

ORIGIN = "https://app.example"
PREFLIGHT = [
    ("Origin", ORIGIN),
    ("Access-Control-Request-Method", "POST"),
    ("Access-Control-Request-Headers", "authorization,content-type,x-stainless-os"),
]


@pytest.mark.case("hdr-method-1")
async def test_hdr_method_1() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1), client_keys=["gw-key"], cors_origins=[ORIGIN]) as gateway,
    ):
        preflight = await gateway.raw("OPTIONS", CHAT, PREFLIGHT)
        assert preflight.status in (200, 204)
        assert preflight.header("access-control-allow-origin") in (ORIGIN, "*")
        allowed = (preflight.header("access-control-allow-headers") or "").lower()
        for name in ("authorization", "content-type", "x-stainless-os"):
            assert name in allowed
        assert "POST" in (preflight.header("access-control-allow-methods") or "")
        unauthorized = await gateway.chat("m1", [("Origin", ORIGIN)])
        assert (unauthorized.status, unauthorized.error["type"]) == (401, "authentication_error")
        assert unauthorized.header("access-control-allow-origin") in (ORIGIN, "*")
        assert u1.requests == []

        key = [("Authorization", "Bearer gw-key"), ("Origin", ORIGIN)]
        shown = [
            await gateway.chat("m1", key),
            await gateway.chat("m1", key, stream=True),
            await gateway.chat("nobody", key),
            await gateway.post(CHAT, b"{", key),
            await gateway.get("/v1/models", key),
            await gateway.get("/v1/nope", key),
            await gateway.raw("GET", CHAT, key),
        ]
        assert [answer.status for answer in shown] == [200, 200, 404, 400, 200, 404, 405]
        for answer in shown:
            assert answer.header("access-control-allow-origin") in (ORIGIN, "*")


async def test_another_origin_gets_no_permission() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1), cors_origins=[ORIGIN]) as gateway,
    ):
        other = [("Origin", "https://evil.example"), *PREFLIGHT[1:]]
        preflight = await gateway.raw("OPTIONS", CHAT, other)
        assert preflight.all("access-control-allow-origin") == []
        answer = await gateway.chat("m1", other[:1])
        assert answer.all("access-control-allow-origin") == []


async def test_without_cors_no_cors_header_is_sent() -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        answer = await gateway.chat("m1", [("Origin", ORIGIN)])
        assert answer.status == 200
        assert [name for name, _ in answer.headers if "access-control" in name.lower()] == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([("Authorization", "Bearer gw-key")], 200),
        ([("authorization", "bearer gw-key")], 200),
        ([("x-api-key", "gw-key")], 200),
        ([("Authorization", "Bearer gw-kez")], 401),
        ([("Authorization", "Bearer gw-key2")], 401),
        ([("Authorization", "Basic Z3cta2V5")], 401),
        ([("x-api-key", "wrong")], 401),
        ([("Authorization", "Bearer ")], 401),
        ([], 401),
    ],
)
async def test_a_key_is_taken_in_both_headers(headers: list[tuple[str, str]], status: int) -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1), client_keys=["gw-key"]) as gateway,
    ):
        for path in (CHAT, "/v1/messages", "/tokenize"):
            answer = await gateway.post(path, chat_request("m1"), headers)
            assert answer.status == status, path
        assert (await gateway.get("/v1/models", headers)).status == status
        if status == 401:
            assert u1.requests == []
            assert "gw-key" not in answer.body.decode()
        for request in u1.requests:
            assert not request.all("authorization")
            assert not request.all("x-api-key")
