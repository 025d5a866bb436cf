"""Streams that break over emulated engines, whose text is known: the client sees one stream."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.emulator.faults import Fault, FaultKind
from gateway.emulator.fleet import EmulatedFleet
from tests.support import wire
from tests.support.fleet import TIME_SCALE, spec
from tests.support.gateway import CHAT, GatewayClient, running_gateway
from tests.support.routing import backend, model, routes

COMPLETIONS = "/v1/completions"
USAGE = {"stream_options": {"include_usage": True}}


@asynccontextmanager
async def stage(
    resume: str, *, engine: dict[str, Any] | None = None
) -> AsyncIterator[tuple[GatewayClient, EmulatedFleet]]:
    """Graph backend a goes first, then b, which is on another node, then c."""
    fields = {"time_scale": TIME_SCALE, **(engine or {})}
    specs = [spec(n, "m", **fields) for n in ("a", "b", "c")]
    async with EmulatedFleet(specs) as fleet:
        tiers = {"a": "graph", "b": "eager", "c": "eager"}
        nodes = {"a": "n1", "b": "n2", "c": "n1"}
        entries = [
            backend(
                b.spec.name,
                b.url,
                served_name="m",
                tier=tiers[b.spec.name],
                node=nodes[b.spec.name],
            )
            for b in fleet.backends
        ]
        config = routes(entries, [model("pub", "a", "b", "c", resume=resume)])
        async with running_gateway(config) as gateway:
            yield gateway, fleet


def request(path: str, stream: bool = True, **fields: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {"model": "pub", "temperature": 0, "max_tokens": 48, **fields}
    if stream:
        asked["stream"] = True
    if path == CHAT:
        asked["messages"] = [{"role": "user", "content": "Tell me of the graph tier. 请用中文"}]
    else:
        asked["prompt"] = "Tell me of the graph tier. 请用中文"
    return asked


class Told:
    """What a client takes out of a stream, with everything that may come only once."""

    def __init__(self, events: list[bytes]) -> None:
        data = [e for e in events if not e.startswith(b":")]
        assert data[-1] == wire.DONE
        chunks = [wire.event_json(e) for e in data[:-1]]
        assert all("error" not in c for c in chunks), chunks[-1]
        self.ids = {c["id"] for c in chunks}
        self.models = {c["model"] for c in chunks}
        choices = [choice for c in chunks for choice in c["choices"]]
        deltas = [c.get("delta") or {} for c in choices]
        self.roles = [d["role"] for d in deltas if "role" in d]
        self.text = "".join(
            d.get("content") or c.get("text") or "" for c, d in zip(choices, deltas, strict=True)
        )
        self.reasoning = "".join(d.get("reasoning") or "" for d in deltas)
        self.finishes = [c["finish_reason"] for c in choices if c["finish_reason"]]
        self.usages = [c["usage"] for c in chunks if c.get("usage")]
        self.raw = json.dumps(chunks)


async def told(gateway: GatewayClient, path: str, **fields: Any) -> Told:
    answer = await gateway.post(path, request(path, **fields))
    assert (answer.status, answer.is_complete) == (200, True)
    return Told(answer.events)


def resume_way(resume: str) -> str:
    return "exact" if resume == "exact" else "continue"


async def ways(gateway: GatewayClient) -> list[str]:
    """The ways by which streams went on, in order."""
    found = (await gateway.get("/admin/events?kind=resume")).json()["events"]
    return [event["reason"].rpartition(" by ")[2].strip("'") for event in found]


BREAKS = [
    FaultKind.CUT_RST,
    FaultKind.CUT_FIN,
    FaultKind.CUT_CLEAN,
    FaultKind.MALFORMED_EVENT,
    FaultKind.ENGINE_DEAD,
]


@pytest.mark.parametrize("after", [1, 2, 9])
@pytest.mark.parametrize("resume", ["text", "exact"])
@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
async def test_a_broken_stream_is_one_whole_stream(path: str, resume: str, after: int) -> None:
    async with stage(resume) as (gateway, fleet):
        whole = await told(gateway, path, **USAGE)
        fleet["a"].set_fault(Fault(FaultKind.CUT_RST, after_events=after, count=1))
        mended = await told(gateway, path, **USAGE)
        assert (mended.text, mended.finishes) == (whole.text, whole.finishes)
        assert mended.roles == whole.roles
        assert len(mended.ids) == 1
        assert mended.models == {"pub"}
        assert mended.usages == whole.usages
        assert "token_ids" not in mended.raw.replace('"token_ids": null', "").replace(
            '"prompt_token_ids": null', ""
        )
        metrics = await gateway.metrics()
        assert metrics.total("gateway_recoveries_total", kind="resume") == 1
        is_role_only = path == CHAT and after == 1
        assert await ways(gateway) == ["replay" if is_role_only else resume_way(resume)]
        await gateway.until_idle()


@pytest.mark.parametrize("kind", BREAKS)
async def test_however_it_breaks(kind: FaultKind) -> None:
    async with stage("text") as (gateway, fleet):
        whole = await told(gateway, CHAT)
        fleet["a"].set_fault(Fault(kind, after_events=6, count=1))
        mended = await told(gateway, CHAT)
        assert (mended.text, mended.finishes) == (whole.text, whole.finishes)


@pytest.mark.parametrize("resume", ["text", "exact"])
async def test_a_stream_that_breaks_twice(resume: str) -> None:
    async with stage(resume) as (gateway, fleet):
        whole = await told(gateway, CHAT)
        for name in ("a", "b"):
            fleet[name].set_fault(Fault(FaultKind.CUT_RST, after_events=5, count=1))
        mended = await told(gateway, CHAT)
        assert (mended.text, mended.finishes) == (whole.text, whole.finishes)
        assert await ways(gateway) == [resume_way(resume)] * 2


async def test_refused_prefill_is_replayed() -> None:
    async with stage("text") as (gateway, fleet):
        whole = await told(gateway, CHAT)
        fleet["a"].set_fault(Fault(FaultKind.CUT_RST, after_events=6, count=1))
        for name in ("b", "c"):
            fleet[name].set_fault(Fault(FaultKind.REFUSE_PREFILL))
        mended = await told(gateway, CHAT)
        assert (mended.text, mended.finishes) == (whole.text, whole.finishes)


@pytest.mark.parametrize("resume", ["text", "exact"])
@pytest.mark.parametrize("after", [3, 40])
async def test_a_stream_with_reasoning(resume: str, after: int) -> None:
    async with stage(resume, engine={"reasoning_parser": True}) as (gateway, fleet):
        whole = await told(gateway, CHAT, max_tokens=80)
        assert whole.reasoning
        fleet["a"].set_fault(Fault(FaultKind.CUT_RST, after_events=after, count=1))
        mended = await told(gateway, CHAT, max_tokens=80)
        assert (mended.reasoning, mended.text) == (whole.reasoning, whole.text)
        assert mended.finishes == whole.finishes


@pytest.mark.parametrize("resume", ["text", "exact"])
@pytest.mark.parametrize("after", [3, 7])
async def test_a_stream_with_a_stop_string(resume: str, after: int) -> None:
    """Engines hold text back by the letter then, so a stream may break inside a token."""
    async with stage(resume) as (gateway, fleet):
        stop = (await told(gateway, CHAT)).text[60:72]
        whole = await told(gateway, CHAT, stop=[stop])
        assert whole.finishes == ["stop"]
        fleet["a"].set_fault(Fault(FaultKind.CUT_RST, after_events=after, count=1))
        mended = await told(gateway, CHAT, stop=[stop])
        assert (mended.text, mended.finishes) == (whole.text, whole.finishes)


REFUSING: list[dict[str, Any]] = [
    {"n": 2},
    {"logprobs": True},
    {"response_format": {"type": "json_object"}},
]


@pytest.mark.parametrize("fields", REFUSING, ids=["n", "logprobs", "structured"])
async def test_what_cannot_be_continued_ends_with_an_error_event(fields: dict[str, Any]) -> None:
    async with stage("text") as (gateway, fleet):
        fleet["a"].set_fault(Fault(FaultKind.CUT_RST, after_events=4, count=1))
        answer = await gateway.post(CHAT, request(CHAT, **fields))
        assert answer.status == 200
        last = wire.event_json(answer.events[-1])
        assert last["error"]["code"] == "backend_stream_cut"
        assert "'a'" in last["error"]["message"]


async def test_resume_off_ends_with_an_error_event() -> None:
    async with stage("off") as (gateway, fleet):
        fleet["a"].set_fault(Fault(FaultKind.CUT_RST, after_events=4, count=1))
        answer = await gateway.post(CHAT, request(CHAT))
        assert wire.event_json(answer.events[-1])["error"]["code"] == "backend_stream_cut"


@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
async def test_a_cut_answer_that_is_not_streamed_is_made_anew(path: str) -> None:
    async with stage("text") as (gateway, fleet):
        whole = (await gateway.post(path, request(path, stream=False))).json()
        fleet["a"].set_fault(Fault(FaultKind.CUT_RST, count=1))
        mended = (await gateway.post(path, request(path, stream=False))).json()
        assert mended["choices"] == whole["choices"]
        assert mended["usage"] == whole["usage"]
