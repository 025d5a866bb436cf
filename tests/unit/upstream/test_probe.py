"""One look at a backend: what each answer is taken for. The backend is scripted with respx."""

import httpx
import pytest
import respx

from gateway.fleet.health.evidence import ModelCard, ProbeFailed, ProbeOk, ProbeTrouble
from gateway.upstream.probe import HealthProbe, cards_in

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
