"""One look at a backend: what each answer is taken for. The backend is scripted with respx."""

import asyncio
import gzip
import json
import ssl
import tracemalloc
import zlib

import httpx
import pytest
import respx

from gateway.fleet.health.evidence import (
    Activity,
    Canary,
    CanaryFailed,
    CanaryOk,
    CanaryUnsure,
    ModelCard,
    ProbeFailed,
    ProbeOk,
    ProbeTrouble,
)
from gateway.upstream.probe import HealthProbe, cards_in
from tests.support.captures import FOLDER

BASE = "http://backend.test:12320/pre"
CARD = {
    "id": "m",
    "object": "model",
    "created": 1,
    "owned_by": "vllm",
    "root": "/models/M",
    "parent": None,
    "max_model_len": 4096,
}


async def look(key: bytes | None = None) -> ProbeOk | ProbeFailed:
    probe = HealthProbe(BASE, key, True, None, 5.0)
    try:
        return await probe.look()
    finally:
        await probe.close()


@respx.mock
async def test_a_healthy_backend_tells_what_it_serves() -> None:
    respx.get(f"{BASE}/health").respond(200)
    models = respx.get(f"{BASE}/v1/models").respond(200, json={"data": [CARD]})
    assert await look(b"bk") == ProbeOk((ModelCard("m", "/models/M", None, 4096, "vllm"),))
    assert models.calls.last.request.headers["authorization"] == "Bearer bk"


@respx.mock
async def test_without_a_key_none_is_sent() -> None:
    health = respx.get(f"{BASE}/health").respond(200)
    respx.get(f"{BASE}/v1/models").respond(200, json={"data": []})
    assert await look() == ProbeOk(())
    assert "authorization" not in health.calls.last.request.headers


@pytest.mark.parametrize(
    "models",
    [
        httpx.Response(404),
        httpx.Response(500, text="no"),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[1]),
        httpx.Response(200, json={"data": {}}),
        httpx.ReadTimeout("slow"),
    ],
)
@respx.mock
async def test_an_unreadable_list_says_nothing_about_health(models: object) -> None:
    respx.get(f"{BASE}/health").respond(200)
    respx.get(f"{BASE}/v1/models").mock(side_effect=[models])
    assert await look() == ProbeOk(None)


@pytest.mark.parametrize(
    ("health", "trouble"),
    [
        (httpx.Response(503), ProbeTrouble.STATUS),
        (httpx.Response(307, headers={"location": "/"}), ProbeTrouble.STATUS),
        (httpx.ConnectTimeout("slow"), ProbeTrouble.TIMEOUT),
        (httpx.ReadTimeout("slow"), ProbeTrouble.TIMEOUT),
        (httpx.ReadError("reset"), ProbeTrouble.UNREACHABLE),
        (httpx.RemoteProtocolError("not HTTP"), ProbeTrouble.UNREACHABLE),
        (httpx.ConnectError("no route"), ProbeTrouble.UNREACHABLE),
    ],
)
@respx.mock
async def test_trouble(health: object, trouble: ProbeTrouble) -> None:
    respx.get(f"{BASE}/health").mock(side_effect=[health])
    found = await look()
    assert isinstance(found, ProbeFailed)
    assert found.trouble is trouble
    assert found.detail
    assert "backend.test" not in found.detail


async def test_a_real_refusal_is_certain() -> None:
    probe = HealthProbe("http://127.0.0.1:9", None, True, None, 5.0)
    found = await probe.look()
    await probe.close()
    assert isinstance(found, ProbeFailed)
    assert found.trouble is ProbeTrouble.REFUSED


def test_odd_entries_of_a_list_are_left_out() -> None:
    listed = {"data": [1, {}, {"id": 5}, {"id": "m", "max_model_len": "x", "root": 3}]}
    assert cards_in(listed) == (ModelCard("m"),)


CHAT, COMPLETIONS = f"{BASE}/v1/chat/completions", f"{BASE}/v1/completions"
WHOLE = {"choices": [{"index": 0, "finish_reason": "length", "message": {"content": "4 5"}}]}


async def canary() -> Canary:
    probe = HealthProbe(BASE, None, True, None, 5.0)
    try:
        return await probe.canary("m", 5.0)
    finally:
        await probe.close()


@respx.mock
@pytest.mark.parametrize(
    ("chat", "completion", "kind"),
    [
        ((200, WHOLE), None, CanaryOk),
        ((400, {"error": {"message": "no chat template"}}), (200, WHOLE), CanaryOk),
        ((404, {}), (404, {}), CanaryOk),  # it embeds, and is alive
        ((501, {}), (501, {}), CanaryOk),
        ((200, {"error": {"message": "no generation", "code": 400}}), None, CanaryOk),
        ((500, {"error": {"message": "EngineCore"}}), None, CanaryFailed),
        ((404, {}), (500, {}), CanaryFailed),
        ((401, {"error": "Unauthorized"}), None, CanaryFailed),
        ((200, {"error": {"message": "boom", "code": 500}}), None, CanaryFailed),
        ((200, "text"), None, CanaryFailed),
        ((503, {}), None, CanaryUnsure),
        ((429, {}), None, CanaryUnsure),
    ],
)
async def test_what_a_canary_shows(
    chat: tuple[int, object], completion: tuple[int, object] | None, kind: type
) -> None:
    asked = respx.post(CHAT).respond(chat[0], json=chat[1])
    if completion is not None:
        respx.post(COMPLETIONS).respond(completion[0], json=completion[1])
    assert type(await canary()) is kind
    sent = json.loads(asked.calls.last.request.content)
    assert (sent["model"], sent["max_tokens"]) == ("m", 2)


@respx.mock
async def test_a_canary_that_breaks_has_failed() -> None:
    respx.post(CHAT).mock(side_effect=httpx.ReadError("reset"))
    assert isinstance(await canary(), CanaryFailed)
    respx.post(CHAT).mock(side_effect=httpx.ReadTimeout("late"))
    assert isinstance(await canary(), CanaryFailed)


METRICS = f"{BASE}/metrics"
PAGE = (FOLDER / "30_metrics_under_load.txt").read_bytes()
PACKED = gzip.compress(PAGE)


async def activity(limit_s: float = 5.0) -> Activity | None:
    probe = HealthProbe(BASE, None, True, None, limit_s)
    try:
        return await probe.activity()
    finally:
        await probe.close()


@respx.mock
async def test_counters_are_asked_for_unpacked() -> None:
    asked = respx.get(METRICS).respond(200, content=PAGE)
    seen = await activity()
    assert seen is not None
    assert (seen.running, seen.waiting, seen.kv_capacity_tokens) == (10.0, 2.0, 32768)
    assert asked.calls.last.request.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("coding", "body"),
    [("gzip", PACKED), ("GZIP ", PACKED), ("deflate", zlib.compress(PAGE)), ("identity", PAGE)],
)
@respx.mock
async def test_a_proxy_may_pack_them_all_the_same(coding: str, body: bytes) -> None:
    head = {"content-encoding": coding}
    answer = httpx.Response(200, headers=head, stream=httpx.ByteStream(body))
    respx.get(METRICS).mock(side_effect=[answer])
    seen = await activity()
    assert seen is not None
    assert seen.running == 10.0


BOMB = gzip.compress(bytes(50_000_000), 9)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(404),
        httpx.Response(401, content=PAGE),
        httpx.Response(307, headers={"location": "/"}),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, content=b"\xff\xfe\x00" * 100),
        httpx.Response(200, content=PAGE + b"# filler\n" * 500_000),
        httpx.ReadTimeout("slow"),
        httpx.ConnectError("refused"),
        httpx.RemoteProtocolError("cut"),
        ssl.SSLError("bad record"),
    ],
)
@respx.mock
async def test_counters_that_cannot_be_read_are_none(answer: object) -> None:
    respx.get(METRICS).mock(side_effect=[answer])
    assert await activity() is None


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", PAGE),  # a lie
        ("gzip", PACKED[:-20]),  # cut
        ("br", PAGE),
        ("gzip, gzip", gzip.compress(PACKED)),
        ("gzip", BOMB),
        ("gzip, gzip", gzip.compress(BOMB)),
    ],
)
async def test_counters_packed_otherwise_are_none_and_cost_little(coding: str, body: bytes) -> None:
    """The server is a real one, since a scripted answer is unpacked on its way."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    probe = HealthProbe(f"http://127.0.0.1:{port}", None, True, None, 5.0)
    tracemalloc.start()
    try:
        assert await probe.activity() is None
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
        await probe.close()
        server.close()
        await server.wait_closed()


@respx.mock
async def test_counters_that_come_too_late_are_none() -> None:
    async def never(request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    respx.get(METRICS).mock(side_effect=never)
    assert await activity(0.01) is None
