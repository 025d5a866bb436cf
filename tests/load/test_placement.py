"""Where requests go: never more than the captured sizes at one, whatever they ask and whoever dies.

All of it over sockets, with emulated engines that count the largest batch they have had.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from gateway.emulator.faults import Fault, FaultKind
from tests.e2e.emulated import (
    CAP,
    eager,
    graph,
    leave,
    most_running,
    placing,
    served,
    until_running,
    until_state,
)
from tests.support import wire
from tests.support.gateway import CHAT, GatewayClient
from tests.support.rawclient import RawAnswer
from tests.support.waiting import eventually

PATHS = ("/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages")


def body(path: str, number: int, **fields: Any) -> dict[str, Any]:
    """A request with a prompt of its own."""
    text = f"Story {number}: tell me more"
    if path == "/v1/responses":
        limit = fields.pop("max_tokens", 30)
        return {"model": "pub", "input": text, "max_output_tokens": limit, **fields}
    if path == "/v1/completions":
        return {"model": "pub", "prompt": text, "max_tokens": 30, **fields}
    return {
        "model": "pub",
        "messages": [{"role": "user", "content": text}],
        "max_tokens": 30,
        **fields,
    }


async def all_answered(
    gateway: GatewayClient, bodies: Sequence[tuple[str, dict[str, Any]]]
) -> list[RawAnswer]:
    """All at once; each must be answered to its end."""
    told = await asyncio.gather(*(gateway.post(path, one) for path, one in bodies))
    for answer, (path, one) in zip(told, bodies, strict=True):
        assert answer.status == 200, answer.body
        assert answer.is_complete
        assert b'"error"' not in answer.body.replace(b'"error":null', b"")
        if one.get("stream") and path in PATHS[:2]:
            assert answer.events[-1] == wire.DONE
    return list(told)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_no_more_than_the_largest_captured_size(path: str, stream: bool) -> None:
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        await all_answered(gateway, [(path, body(path, n, stream=stream)) for n in range(12)])
        most = most_running(fleet)
        assert max(most.values()) <= CAP, most
        assert min(most.values()) == CAP, f"one was not used: {most}"


async def test_all_dialects_together_share_one_cap() -> None:
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        asked = [(PATHS[n % 4], body(PATHS[n % 4], n, stream=n % 3 > 0)) for n in range(24)]
        await all_answered(gateway, asked)
        most = most_running(fleet)
        assert most == {"a": CAP, "b": CAP}


async def test_an_eager_backend_takes_what_is_left() -> None:
    async with placing(graph("a"), graph("b"), eager("c")) as (gateway, fleet):
        asked = [(CHAT, body(CHAT, n, stream=n % 2 == 0, max_tokens=60)) for n in range(40)]
        await all_answered(gateway, asked)
        most = most_running(fleet)
        assert most["a"] == most["b"] == CAP, most
        assert 0 < most["c"] <= 8, most
        # Three graph tokens for each eager one: whoever is faster has served more.
        counts = served(fleet)
        assert counts["c"] < min(counts["a"], counts["b"]), counts


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_each_choice_is_a_sequence(stream: bool) -> None:
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        asked = [(CHAT, body(CHAT, n, stream=stream, n=1 + n % 3)) for n in range(16)]
        for number, answer in enumerate(await all_answered(gateway, asked)):
            if not stream:
                assert len(answer.json()["choices"]) == 1 + number % 3
        most = most_running(fleet)
        assert max(most.values()) <= CAP, most
        assert min(most.values()) >= CAP - 1, most


async def test_each_prompt_of_a_batch_is_a_sequence() -> None:
    path = "/v1/completions"
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        prompts = [[f"Story {n} {i}: once" for i in range(1 + n % 4)] for n in range(12)]
        asked = [(path, body(path, n, prompt=one)) for n, one in enumerate(prompts)]
        for one, answer in zip(prompts, await all_answered(gateway, asked), strict=True):
            assert len(answer.json()["choices"]) == len(one)
        assert max(most_running(fleet).values()) <= CAP


async def test_more_choices_than_the_cap_run_alone() -> None:
    """Nobody else could serve it better, so it is served, when nothing else is there."""
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        small = [(CHAT, body(CHAT, n)) for n in range(8)]
        large = [(CHAT, body(CHAT, 100, n=6))]
        await all_answered(gateway, [*small, *large, *small])
        most = most_running(fleet)
        assert sorted(most.values()) in ([4, 6], [6, 6]), most


@pytest.mark.parametrize("kind", [FaultKind.ENGINE_DEAD, FaultKind.SIGTERM_HANG])
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_one_fails_in_the_middle(kind: FaultKind, stream: bool) -> None:
    """Its requests go on elsewhere, and wait there like all others."""
    async with placing(graph("a"), graph("b"), probe_interval_s=0.2) as (gateway, fleet):
        asked = [(CHAT, body(CHAT, n, stream=stream, max_tokens=60)) for n in range(12)]
        asking = asyncio.create_task(all_answered(gateway, asked))
        await until_running(fleet, "a", CAP)
        await until_running(fleet, "b", CAP)
        fleet["a"].set_fault(Fault(kind))
        await asking
        most = most_running(fleet)
        assert most == {"a": CAP, "b": CAP}


async def test_streams_that_are_cut_again_and_again() -> None:
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        fleet["a"].set_fault(Fault(FaultKind.CUT_RST, after_events=5, count=6))
        asked = [(CHAT, body(CHAT, n, stream=True, max_tokens=40)) for n in range(16)]
        await all_answered(gateway, asked)
        most = most_running(fleet)
        assert max(most.values()) <= CAP, most


async def test_clients_that_leave_make_room_for_others() -> None:
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        long = body(CHAT, 0, stream=True, max_tokens=2000, ignore_eos=True)
        gone = [asyncio.create_task(gateway.post(CHAT, long)) for _ in range(8)]
        await until_running(fleet, "a", CAP)
        await until_running(fleet, "b", CAP)
        waiting = [(CHAT, body(CHAT, n)) for n in range(1, 5)]
        asking = asyncio.create_task(all_answered(gateway, waiting))
        await eventually(lambda: has_waiting(gateway, 4))
        await leave(gone)
        await asking
        await gateway.until_idle()


async def has_waiting(gateway: GatewayClient, count: int) -> bool:
    return bool((await gateway.health())["models"]["pub"]["waiting"] == count)


@pytest.mark.parametrize("kind", [FaultKind.ENGINE_DEAD, FaultKind.CAPTURE_FAILURE])
async def test_one_that_comes_back_gets_its_share_bit_by_bit(kind: FaultKind) -> None:
    """Forty wait when it recovers: a tenth of its cap at first, and the other works on."""
    fields = {"health": {"canary": False, "ramp_s": 4.0}}
    async with placing(graph("a"), graph("b"), fields=fields, probe_interval_s=0.2) as (
        gateway,
        fleet,
    ):
        fleet["a"].set_fault(Fault(kind))
        await until_state(gateway, "a", "down")
        asked = [(CHAT, body(CHAT, n, stream=n % 2 == 0, max_tokens=60)) for n in range(44)]
        asking = asyncio.create_task(all_answered(gateway, asked))
        await eventually(lambda: has_waiting(gateway, 40))
        before = served(fleet)["b"]
        fleet["a"].clear_faults()
        await until_state(gateway, "a", "up", "degraded")
        loop = asyncio.get_running_loop()
        came_back_s = loop.time()
        early: list[int] = []
        while not asking.done():
            if loop.time() - came_back_s < 1.0:
                early.append(fleet["a"].live.driver.engine.running)
            await asyncio.wait([asking], timeout=0.02)
        await asking
        assert max(early, default=0) <= 2, early
        most = most_running(fleet)
        assert most["a"] <= CAP, most
        assert most["b"] == CAP
        counts = served(fleet)
        assert counts["a"] > 0, "it is never used again"
        assert counts["b"] > before + 10, "the other one stopped working"


async def test_one_that_comes_back_with_a_canary_is_no_magnet() -> None:
    """The same where a generation has to prove it well first."""
    fields = {"health": {"canary": True, "ramp_s": 3.0}}
    async with placing(graph("a"), graph("b"), fields=fields, probe_interval_s=0.2) as (
        gateway,
        fleet,
    ):
        fleet["a"].set_fault(Fault(FaultKind.ENGINE_DEAD))
        await until_state(gateway, "a", "down")
        asked = [(CHAT, body(CHAT, n, max_tokens=60)) for n in range(44)]
        asking = asyncio.create_task(all_answered(gateway, asked))
        await eventually(lambda: has_waiting(gateway, 40))
        fleet["a"].clear_faults()
        await asking
        assert most_running(fleet)["a"] <= CAP
        assert served(fleet)["a"] > 1, "it is never used again"
