"""Engines that hang behind a green /health, die, or run eager in silence; all are emulated."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from gateway.emulator.faults import Fault, FaultKind
from gateway.emulator.fleet import EmulatedFleet
from gateway.emulator.presets import preset
from gateway.emulator.spec import BackendSpec
from tests.support import wire
from tests.support.fleet import spec
from tests.support.gateway import CHAT, GatewayClient, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import backend, model, routes
from tests.support.waiting import eventually

LONGEST_STEP_S = 1.5
TIERS = {"g": "graph", "e": "eager"}


@asynccontextmanager
async def stage(
    engine: str = "310p-9b-graph", **health: Any
) -> AsyncIterator[tuple[GatewayClient, EmulatedFleet]]:
    """A graph backend g and its eager twin e, which serve `pub` alone."""
    specs = [spec("g", "m", engine), spec("e", "m", "310p-9b-eager")]
    async with EmulatedFleet(specs) as fleet:
        entries = [
            backend(
                b.spec.name,
                b.url,
                served_name="m",
                tier=TIERS[b.spec.name],
                longest_step_s=LONGEST_STEP_S,
            )
            for b in fleet.backends
        ]
        config = routes(
            entries,
            [model("pub", "g", "e")],
            health={"ramp_s": 0, "breaker_open_s": 0.5, **health},
        )
        async with running_gateway(config, probe_interval_s=0.25) as gateway:
            yield gateway, fleet


def request(stream: bool, max_tokens: int = 40) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Tell me more"}]
    asked: dict[str, Any] = {"model": "pub", "messages": messages, "max_tokens": max_tokens}
    return {**asked, "stream": True} if stream else asked


def text_of(answer: RawAnswer, stream: bool) -> str:
    assert answer.status == 200
    if not stream:
        content: str = answer.json()["choices"][0]["message"]["content"]
        return content
    chunks = [wire.event_json(e) for e in answer.events if e.startswith(b"data: {")]
    assert answer.events[-1] == wire.DONE
    return "".join(c["delta"].get("content") or "" for one in chunks for c in one["choices"])


async def state(gateway: GatewayClient, name: str) -> str:
    return str((await gateway.health())["backends"][name]["state"])


async def until_state(gateway: GatewayClient, name: str, wanted: str) -> None:
    async def is_there() -> bool:
        return await state(gateway, name) == wanted

    await eventually(is_there)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_hang_behind_a_green_health_is_found_and_its_requests_move(stream: bool) -> None:
    async with stage() as (gateway, fleet):
        whole = text_of(await gateway.post(CHAT, request(stream)), stream)
        fleet["g"].set_fault(Fault(FaultKind.HANG))
        began_s = time.monotonic()
        answer = await gateway.post(CHAT, request(stream))
        took_s = time.monotonic() - began_s
        assert text_of(answer, stream) == whole
        told = (await gateway.health())["backends"]["g"]
        assert told["state"] == "down"
        assert "hangs" in told["reason"]
        # Found after the longest legal step; twice as long is the promise, the rest is margin.
        assert took_s > LONGEST_STEP_S
        assert took_s < 2 * LONGEST_STEP_S + 5.0
        fleet["g"].clear_faults()
        await until_state(gateway, "g", "up")
        await gateway.until_idle()


async def test_a_hang_in_mid_stream_is_resumed() -> None:
    async with stage() as (gateway, fleet):
        whole = text_of(await gateway.post(CHAT, request(True, 90)), True)
        asking = asyncio.create_task(gateway.post(CHAT, request(True, 90)))
        await eventually(lambda: generates(fleet, "g"))
        fleet["g"].set_fault(Fault(FaultKind.HANG))
        assert text_of(await asking, True) == whole


async def generates(fleet: EmulatedFleet, name: str) -> bool:
    return fleet[name].live.driver.engine.running > 0


async def test_a_busy_engine_is_not_called_hung() -> None:
    """It moves tokens for longer than the longest step, and is never down."""
    async with stage() as (gateway, fleet):
        asking = asyncio.create_task(gateway.post(CHAT, request(False, 1200)))
        await eventually(lambda: generates(fleet, "g"))
        while not asking.done():
            assert await state(gateway, "g") == "up"
            await asyncio.wait([asking], timeout=0.1)
        assert (await asking).status == 200


async def test_a_graph_that_dies_at_its_first_inference_meets_no_client() -> None:
    async with stage() as (gateway, fleet):
        fault = Fault(FaultKind.CRASH_AT_FIRST_INFERENCE, restart_after_s=0.3)
        fleet["g"].set_fault(fault)
        for stream in (True, False, True, False):
            answer = await gateway.post(CHAT, request(stream))
            assert text_of(answer, stream)
        await until_state(gateway, "g", "down")
        fleet["g"].clear_faults()
        await until_state(gateway, "g", "up")
        events = (await gateway.get("/admin/events?backend=g")).json()["events"]
        kinds = [(e["kind"], e.get("after")) for e in events]
        assert ("backend_state", "down") in kinds
        assert kinds[-1] == ("backend_state", "up")


async def test_traffic_moves_to_eager_at_once_and_comes_back() -> None:
    async with stage() as (gateway, fleet):
        whole = text_of(await gateway.post(CHAT, request(False)), False)
        fleet["g"].set_fault(Fault(FaultKind.ENGINE_DEAD, restart_after_s=1.0))
        for _ in range(5):
            answer = await gateway.post(CHAT, request(False))
            assert text_of(answer, False) == whole
        fleet["g"].clear_faults()
        await until_state(gateway, "g", "up")

        async def is_back() -> bool:
            before = (await gateway.metrics()).total("gateway_backend_attempts_total", backend="g")
            assert text_of(await gateway.post(CHAT, request(False)), False) == whole
            after = (await gateway.metrics()).total("gateway_backend_attempts_total", backend="g")
            return after > before

        await eventually(is_back)


async def test_a_graph_backend_that_runs_eager_is_reported_and_loses_its_preference() -> None:
    """The server was started with --enforce-eager, and its tier still says graph."""
    specs = [spec("g", "m", "310p-9b-eager", time_scale=1.0), spec("e", "m", "310p-9b-eager")]
    async with EmulatedFleet(specs) as fleet:
        entries = [
            backend(b.spec.name, b.url, served_name="m", tier=TIERS[b.spec.name], chip="310P")
            for b in fleet.backends
        ]
        config = routes(entries, [model("slow", "g"), model("pub", "g", "e")])
        async with running_gateway(config) as gateway:
            asked = {**request(True, 48), "model": "slow", "ignore_eos": True}
            await asyncio.gather(*(gateway.post(CHAT, asked) for _ in range(8)))
            told = (await gateway.health())["backends"]["g"]
            assert told["state"] == "degraded"
            assert "eager" in told["reason"]
            assert "enforce-eager" in told["reason"]
            # With its preference lost, load and chance decide as between equals.
            for _ in range(40):
                await gateway.post(CHAT, request(False, 4))
                metrics = await gateway.metrics()
                if metrics.total("gateway_backend_attempts_total", backend="e"):
                    break
            else:
                pytest.fail("the eager backend was never asked")


async def test_a_long_prompt_is_no_hang() -> None:
    """While it is read in chunks no token is counted; it takes several longest steps."""
    chunky = replace(preset("310p-27b-graph"), max_num_batched_tokens=512)
    specs = [BackendSpec(n, chunky, served_names=("m",), time_scale=4.0) for n in ("g", "e")]
    async with EmulatedFleet(specs) as fleet:
        entries = [
            backend(b.spec.name, b.url, served_name="m", longest_step_s=1.0) for b in fleet.backends
        ]
        config = routes(entries, [model("pub", "g", "e")])
        async with running_gateway(config, probe_interval_s=0.25) as gateway:
            messages = [{"role": "user", "content": "long words " * 6000}]
            asked = {"model": "pub", "messages": messages, "max_tokens": 4}
            began_s = time.monotonic()
            answer = await gateway.post(CHAT, asked)
            assert answer.status == 200
            assert time.monotonic() - began_s > 2.0, "too short to show anything"
            metrics = await gateway.metrics()
            assert metrics.total("gateway_backend_attempts_total") == 1
            backends = (await gateway.health())["backends"]
            assert {told["state"] for told in backends.values()} == {"up"}
            assert all(told["engine"]["kv_capacity_tokens"] > 0 for told in backends.values())
