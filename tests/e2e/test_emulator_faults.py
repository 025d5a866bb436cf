"""Each fault of the emulator, as a client on a real socket sees it."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from gateway.emulator.faults import FaultKind
from gateway.emulator.fleet import EmulatedFleet
from gateway.emulator.server import EmulatedBackend
from tests.support.fleet import spec
from tests.support.waiting import LIMIT_S, eventually

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 30}
CHAT = "/v1/chat/completions"


class Stage:
    def __init__(self, backend: EmulatedBackend, http: httpx.AsyncClient) -> None:
        self.backend = backend
        self.http = http

    async def ask(self, **fields: Any) -> httpx.Response:
        return await self.http.post(CHAT, json={**BODY, **fields})

    async def refuses(self) -> bool:
        try:
            await self.http.get("/health")
        except httpx.TransportError:
            return True
        return False

    async def answers(self) -> bool:
        return not await self.refuses()


@pytest.fixture
async def stage() -> Any:
    async with (
        EmulatedFleet([spec("b", "m")]) as fleet,
        httpx.AsyncClient(
            base_url=fleet["b"].url,
            trust_env=False,
            timeout=LIMIT_S,
            limits=httpx.Limits(max_keepalive_connections=0),
        ) as http,
    ):
        yield Stage(fleet["b"], http)


@pytest.mark.parametrize(
    ("kind", "status"),
    [(FaultKind.STATUS_429, 429), (FaultKind.STATUS_500, 500), (FaultKind.STATUS_503, 503)],
)
@pytest.mark.parametrize("retry_after_s", [None, 3.0])
async def test_statuses(
    stage: Stage, kind: FaultKind, status: int, retry_after_s: float | None
) -> None:
    stage.backend.set_fault(kind, retry_after_s=retry_after_s, count=1)
    answer = await stage.ask()
    assert answer.status_code == answer.json()["error"]["code"] == status
    assert answer.headers.get("retry-after") == ("3" if retry_after_s else None)
    assert (await stage.ask()).status_code == 200


async def test_reset_and_silence(stage: Stage) -> None:
    stage.backend.set_fault(FaultKind.RESET, count=1)
    with pytest.raises(httpx.TransportError):
        await stage.ask()
    stage.backend.set_fault(FaultKind.SILENCE, count=1)
    asking = asyncio.create_task(stage.ask())

    async def is_taken() -> bool:
        return stage.backend.live.requests_seen == 2

    await eventually(is_taken)
    assert not asking.done()
    asking.cancel()
    await asyncio.wait([asking])
    assert (await stage.ask()).status_code == 200


@pytest.mark.parametrize("kind", [FaultKind.CUT_RST, FaultKind.CUT_FIN])
async def test_cuts(stage: Stage, kind: FaultKind) -> None:
    stage.backend.set_fault(kind, after_events=4)
    seen = b""
    with pytest.raises(httpx.TransportError):
        async with stage.http.stream("POST", CHAT, json={**BODY, "stream": True}) as answer:
            async for piece in answer.aiter_raw():
                seen += piece
    assert b"[DONE]" not in seen
    stage.backend.set_fault(kind)
    with pytest.raises(httpx.TransportError):
        await stage.ask()


async def test_a_clean_cut_and_a_malformed_event(stage: Stage) -> None:
    stage.backend.set_fault(FaultKind.CUT_CLEAN, after_events=4, count=1)
    cut = await stage.ask(stream=True)
    assert (cut.text.count("data: "), "[DONE]" in cut.text) == (4, False)
    stage.backend.clear_faults()
    stage.backend.set_fault(FaultKind.MALFORMED_EVENT, after_events=4, count=1)
    odd = await stage.ask(stream=True)
    events = [e.removeprefix("data: ") for e in odd.text.split("\n\n") if e and "[DONE]" not in e]
    broken = [event for event in events if not _is_json(event)]
    assert len(broken) == 1
    assert "[DONE]" in odd.text


async def test_a_crash_at_first_inference(stage: Stage) -> None:
    stage.backend.set_fault(FaultKind.CRASH_AT_FIRST_INFERENCE, restart_after_s=0.05, count=1)
    assert (await stage.http.get("/health")).status_code == 200
    answer = await stage.ask()
    assert answer.status_code == 500
    assert "EngineCore" in answer.json()["error"]["message"]
    assert (await stage.http.get("/health")).status_code == 503
    await eventually(stage.refuses)
    await eventually(stage.answers)
    assert (await stage.ask()).status_code == 200


async def test_a_dead_engine_ends_streams_with_an_error_and_done(stage: Stage) -> None:
    async with stage.http.stream(
        "POST", CHAT, json={**BODY, "stream": True, "max_tokens": 2000, "ignore_eos": True}
    ) as answer:
        text = ""
        async for piece in answer.aiter_text():
            if not text:
                stage.backend.set_fault(FaultKind.ENGINE_DEAD)
            text += piece
    assert 'data: {"error": {' in text
    assert text.endswith("data: [DONE]\n\n")
    assert '"finish_reason":"' not in text
    await eventually(stage.refuses)


async def test_a_hang_keeps_health_green_and_gauges_still(stage: Stage) -> None:
    asking = asyncio.create_task(stage.ask(max_tokens=200, ignore_eos=True))

    async def is_running() -> bool:
        return stage.backend.live.metrics.gauges.running == 1

    await eventually(is_running)
    stage.backend.set_fault(FaultKind.HANG)
    before = stage.backend.live.snapshot()["generated_tokens"]
    assert (await stage.http.get("/health")).status_code == 200
    assert stage.backend.live.snapshot()["generated_tokens"] == before
    assert "vllm:num_requests_running" in (await stage.http.get("/metrics")).text
    stage.backend.clear_faults()
    assert (await asking).status_code == 200


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        (FaultKind.SIGTERM_ERROR, 'data: {"error": {'),
        (FaultKind.SIGTERM_ABORT, '"finish_reason":"abort"'),
    ],
)
async def test_sigterm_ends_streams(stage: Stage, kind: FaultKind, ending: str) -> None:
    body = {**BODY, "stream": True, "max_tokens": 2000, "ignore_eos": True}
    async with stage.http.stream("POST", CHAT, json=body) as answer:
        text = ""
        async for piece in answer.aiter_text():
            if not text:
                stage.backend.set_fault(kind)
            text += piece
    assert ending in text
    assert text.endswith("data: [DONE]\n\n")
    assert await stage.refuses()


async def test_sigterm_that_hangs_gives_no_byte_and_no_end(stage: Stage) -> None:
    body = {**BODY, "stream": True, "max_tokens": 2000, "ignore_eos": True}
    async with stage.http.stream("POST", CHAT, json=body, timeout=1.0) as answer:
        with pytest.raises(httpx.ReadTimeout):
            async for _ in answer.aiter_raw():
                stage.backend.set_fault(FaultKind.SIGTERM_HANG)
    assert await stage.refuses()


async def test_slow_start_and_capture_failure(stage: Stage) -> None:
    stage.backend.set_fault(FaultKind.SLOW_START, delay_s=0.1)
    assert await stage.refuses()
    await eventually(stage.answers)
    stage.backend.set_fault(FaultKind.CAPTURE_FAILURE)
    assert await stage.refuses()
    stage.backend.clear_faults()
    await eventually(stage.answers)


async def test_a_wrong_name(stage: Stage) -> None:
    stage.backend.set_fault(FaultKind.WRONG_NAME, name="other")
    listed = (await stage.http.get("/v1/models")).json()["data"]
    assert [entry["id"] for entry in listed] == ["other"]
    assert (await stage.ask()).status_code == 404


async def test_a_refused_prefill(stage: Stage) -> None:
    stage.backend.set_fault(FaultKind.REFUSE_PREFILL)
    open_end = [*BODY["messages"], {"role": "assistant", "content": "a"}]  # type: ignore[misc]
    answer = await stage.ask(
        messages=open_end, continue_final_message=True, add_generation_prompt=False
    )
    assert answer.status_code == 400
    assert (await stage.ask()).status_code == 200


async def test_a_stall_keeps_the_connection_open(stage: Stage) -> None:
    stage.backend.set_fault(FaultKind.STALL, after_events=3)
    async with stage.http.stream(
        "POST", CHAT, json={**BODY, "stream": True}, timeout=1.0
    ) as answer:
        seen = b""
        with pytest.raises(httpx.ReadTimeout):
            async for piece in answer.aiter_raw():
                seen += piece
    assert seen.count(b"data: ") == 3


async def test_faults_over_http(stage: Stage) -> None:
    told = await stage.http.post("/emulator/faults", json={"kind": "status_503", "count": 1})
    assert told.status_code == 200
    assert (await stage.http.get("/emulator/faults")).json()["faults"][0]["kind"] == "status_503"
    assert (await stage.ask()).status_code == 503
    unknown = await stage.http.post("/emulator/faults", json={"kind": "nonsense"})
    assert unknown.status_code == 400
    assert "status_503" in unknown.json()["error"]
    assert (await stage.http.delete("/emulator/faults")).status_code == 200
    state = (await stage.http.get("/emulator/state")).json()
    assert state["requests"][-1]["status"] == 503
    assert state["running"] == 0


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
