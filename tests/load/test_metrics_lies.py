"""Figures that are stale, missing or false: nobody is starved by them, and nobody flooded."""

import asyncio
import re
from collections.abc import Callable

import pytest

from gateway.emulator.faults import Fault, FaultKind
from gateway.emulator.fleet import EmulatedFleet
from gateway.emulator.metrics import Metrics
from gateway.emulator.refusals import Refused
from gateway.emulator.server import EmulatedBackend
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
from tests.support.gateway import GatewayClient
from tests.support.waiting import eventually

Render = Callable[[Metrics], bytes]
TRUE_RENDER = Metrics.render


def says(family: str, value: float) -> Render:
    """True figures but for one family, which says the same for ever."""

    def render(metrics: Metrics) -> bytes:
        pattern = rb"(?m)^(" + family.encode() + rb"\{[^}]*\}) .*$"
        text, count = re.subn(pattern, rb"\1 " + str(value).encode(), TRUE_RENDER(metrics))
        assert count
        return text

    return render


class GoingBack:
    """Counters that are lower at each look, as if the engine began anew all the time."""

    def __init__(self) -> None:
        self.left = 1e6

    def __call__(self, metrics: Metrics) -> bytes:
        self.left -= 100
        return says("vllm:generation_tokens_total", self.left)(metrics)


def missing(metrics: Metrics) -> bytes:
    raise Refused(404, {"detail": "Not Found"})


def empty(metrics: Metrics) -> bytes:
    return b""


LIES: dict[str, Callable[[], Render]] = {
    "kv-full-for-ever": lambda: says("vllm:kv_cache_usage_perc", 0.99),
    "kv-full-in-percent": lambda: says("vllm:kv_cache_usage_perc", 99.0),
    "kv-not-a-number": lambda: says("vllm:kv_cache_usage_perc", float("nan")),
    "running-10000": lambda: says("vllm:num_requests_running", 10000.0),
    "running-8": lambda: says("vllm:num_requests_running", 8.0),
    "running-0": lambda: says("vllm:num_requests_running", 0.0),
    "running-infinite": lambda: says("vllm:num_requests_running", float("inf")),
    "waiting-500": lambda: says("vllm:num_requests_waiting", 500.0),
    "preemptions-jump": lambda: says("vllm:num_preemptions_total", 1e9),
    "counters-go-back": GoingBack,
    "missing": lambda: missing,
    "empty": lambda: empty,
}


def lie(patch: pytest.MonkeyPatch, one: EmulatedBackend, render: Render) -> None:
    """From now on this backend tells what `render` makes of its figures."""
    patch.setattr(one.live.metrics, "render", lambda: render(one.live.metrics))


async def until_read(fleet: EmulatedFleet, name: str, count: int = 3) -> None:
    """Wait until its figures were asked for some times more."""

    def looks() -> int:
        return sum(one.path == "/metrics" for one in fleet[name].live.records)

    wanted = looks() + count

    async def is_read() -> bool:
        return looks() >= wanted

    await eventually(is_read, 30.0)


async def work(gateway: GatewayClient, count: int, *, first: int = 0, max_tokens: int = 40) -> None:
    """So many requests at once, every other one a stream; all are answered to their end."""

    async def one(number: int) -> None:
        is_stream = number % 2 == 0
        messages = [{"role": "user", "content": f"Story {number}: tell me more"}]
        answer = await gateway.chat(
            "pub", messages=messages, max_tokens=max_tokens, stream=is_stream
        )
        assert answer.status == 200, answer.body
        assert answer.is_complete
        if is_stream:
            assert answer.events[-1] == wire.DONE

    await asyncio.gather(*(one(number) for number in range(first, first + count)))


@pytest.mark.parametrize("what", LIES)
async def test_one_liar_among_two(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        lie(monkeypatch, fleet["a"], LIES[what]())
        await until_read(fleet, "a")
        await work(gateway, 32)
        await work(gateway, 32, first=100)
        counts, most = served(fleet), most_running(fleet)
        assert counts["a"] >= 6, f"starved: {counts}"
        assert counts["b"] >= 6, f"starved: {counts}"
        assert max(most.values()) <= CAP, f"flooded: {most}"


@pytest.mark.parametrize("what", LIES)
async def test_all_lie(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is known of anybody, and all goes on by our own count."""
    async with placing(graph("a"), graph("b"), eager("c")) as (gateway, fleet):
        for one in fleet.backends:
            lie(monkeypatch, one, LIES[what]())
        for one in fleet.backends:
            await until_read(fleet, one.spec.name)
        await work(gateway, 40, max_tokens=60)
        counts, most = served(fleet), most_running(fleet)
        assert min(counts.values()) >= 1, f"starved: {counts}"
        assert max(most["a"], most["b"]) <= CAP, f"flooded: {most}"
        assert most["c"] <= 8


@pytest.mark.parametrize("what", LIES)
async def test_a_liar_alone(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With nobody else to ask, everybody is served, whatever the figures say."""
    async with placing(graph("a")) as (gateway, fleet):
        lie(monkeypatch, fleet["a"], LIES[what]())
        await until_read(fleet, "a")
        await work(gateway, 12)
        assert most_running(fleet)["a"] <= CAP


@pytest.mark.parametrize("kind", [FaultKind.SILENCE, FaultKind.RESET, FaultKind.STATUS_503])
async def test_figures_that_stop_grow_old(kind: FaultKind) -> None:
    """The last look saw it full of work that is over long since."""
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        busy = asyncio.create_task(work(gateway, 8, max_tokens=200))
        await until_running(fleet, "a", CAP)
        await until_read(fleet, "a", 2)
        fleet["a"].set_fault(Fault(kind, paths=("/metrics",)))
        await busy
        await work(gateway, 24, first=100)
        await work(gateway, 24, first=200)
        counts, most = served(fleet), most_running(fleet)
        assert counts["a"] >= 12, f"starved: {counts}"
        assert max(most.values()) <= CAP, f"flooded: {most}"
        assert (await gateway.health())["backends"]["a"]["state"] == "up"


async def test_hung_with_gauges_at_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks like the emptiest of all: health finds it, and it is not flooded until then."""
    async with placing(
        graph("a"),
        graph("b"),
        entry_fields={"longest_step_s": 1.5},
        fields={"health": {"canary": False, "ramp_s": 0}},
        probe_interval_s=0.25,
    ) as (gateway, fleet):
        lie(monkeypatch, fleet["a"], says("vllm:num_requests_running", 0.0))
        await until_read(fleet, "a")
        fleet["a"].set_fault(Fault(FaultKind.HANG))
        asking = asyncio.create_task(work(gateway, 24))
        at_most = 0
        while not asking.done():
            at_most = max(at_most, waiting_and_running(fleet["a"]))
            await asyncio.wait([asking], timeout=0.02)
        await asking
        assert at_most <= CAP, f"flooded: {at_most}"
        told = (await gateway.health())["backends"]["a"]
        assert (told["state"], "hangs" in told["reason"]) == ("down", True)
        fleet["a"].clear_faults()


def waiting_and_running(one: EmulatedBackend) -> int:
    engine = one.live.driver.engine
    return engine.waiting + engine.running


async def test_work_of_others_is_seen_and_left_room() -> None:
    """True figures are used: who is full of others' work gets less, not nothing."""
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        direct = GatewayClient("127.0.0.1", fleet["a"].port)
        others = [
            asyncio.create_task(direct.chat("m", max_tokens=3000, ignore_eos=True, stream=True))
            for _ in range(3)
        ]
        await until_running(fleet, "a", 3)
        await until_read(fleet, "a")
        before = served(fleet)
        await work(gateway, 24)
        counts, most = served(fleet), most_running(fleet)
        assert most["a"] <= CAP, most
        assert counts["b"] > counts["a"] - before["a"], counts
        await leave(others)


async def test_a_restart_behind_the_same_address_is_not_mourned() -> None:
    """All counters are 0 again; it is used as before, and not flooded."""
    fields = {"health": {"canary": False, "ramp_s": 1.0}}
    async with placing(graph("a"), graph("b"), fields=fields, probe_interval_s=0.2) as (
        gateway,
        fleet,
    ):
        await work(gateway, 16)
        fleet["a"].set_fault(Fault(FaultKind.ENGINE_DEAD, delay_s=0.0, restart_after_s=0.0))
        await until_state(gateway, "a", "up", "degraded")
        before = served(fleet)["a"]
        await work(gateway, 40, first=100)
        assert served(fleet)["a"] > before
        assert max(most_running(fleet).values()) <= CAP
