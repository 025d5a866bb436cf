"""The probing loop: what it takes in, and that doubts wake it."""

import asyncio
import json

from gateway.clock import Clock
from gateway.config.backend import BackendConfig
from gateway.fleet.health.evidence import ModelCard, ProbeFailed, ProbeOk, ProbeTrouble
from gateway.fleet.health.machine import State
from gateway.fleet.live import LiveBackend
from gateway.observe.logs import Log
from gateway.workers.probing import Prober
from gateway.workers.supervise import Supervisor

GOOD = ProbeOk((ModelCard("m"),))
GONE = ProbeFailed(ProbeTrouble.REFUSED, "nothing listens")


class Lines:
    def __init__(self) -> None:
        self.records: list[dict[str, object]] = []

    def write(self, line: bytes) -> None:
        self.records.append(json.loads(line))

    def close(self) -> None: ...

    def named(self, event: str) -> list[dict[str, object]]:
        return [r for r in self.records if r["event"] == event]


class Script:
    """Answers each probe with the next of its results, the last one for ever."""

    def __init__(self, *results: ProbeOk | ProbeFailed) -> None:
        self.results = list(results)
        self.asked = 0
        self.was_asked = asyncio.Event()

    async def look(self) -> ProbeOk | ProbeFailed:
        self.asked += 1
        self.was_asked.set()
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]


def prober(script: Script, lines: Lines, interval_s: float = 3600.0) -> tuple[LiveBackend, Prober]:
    config = BackendConfig(name="b", url="http://h:1", served_name="m")
    live = LiveBackend(config, frozenset({"m"}), 0.0)
    log = Log(lines, lambda: 0.0)
    clock = Clock()
    return live, Prober(
        live, script.look, interval_s=interval_s, clock=clock, draw=lambda: 0.5, log=log
    )


async def test_each_look_is_taken_in_and_transitions_are_logged() -> None:
    lines, script = Lines(), Script(GOOD, GONE, ProbeOk((ModelCard("x"),)))
    live, loop = prober(script, lines)
    await loop.look()
    assert live.state is State.UP
    await loop.look()
    assert live.state is State.DOWN
    await loop.look()
    assert [r["state"] for r in lines.named("backend_state")] == ["up", "down", "up"]
    assert [r["kind"] for r in lines.named("drift")] == ["name_missing"]
    await loop.look()
    assert len(lines.named("drift")) == 1


async def test_a_doubt_wakes_the_loop() -> None:
    lines, script = Lines(), Script(GOOD)
    _, loop = prober(script, lines)
    task = asyncio.create_task(loop.run())
    async with asyncio.timeout(20):
        await script.was_asked.wait()
        script.was_asked.clear()
        loop.look_now()
        await script.was_asked.wait()
    task.cancel()
    await asyncio.wait([task])
    assert script.asked == 2


async def test_a_loop_that_crashes_is_logged_and_started_again() -> None:
    lines = Lines()
    supervisor = Supervisor(Log(lines, lambda: 0.0))
    ran_twice = asyncio.Event()
    runs: list[int] = []

    async def fragile() -> None:
        runs.append(1)
        if len(runs) == 1:
            raise ValueError("broken")
        ran_twice.set()
        await asyncio.Event().wait()

    supervisor.start("fragile", fragile)
    async with asyncio.timeout(20):
        await ran_twice.wait()
    assert "fragile" in repr(supervisor)
    await supervisor.stop()
    (crash,) = lines.named("loop_crashed")
    assert crash["loop"] == "fragile"
    assert "ValueError: broken" in str(crash["trace"])
