"""The probing loop: what it takes in, whom it asks for tokens, whose requests it ends."""

import asyncio
import json
import math
from collections.abc import Sequence

import pytest

from gateway.clock import Clock
from gateway.config.backend import BackendConfig
from gateway.config.schema import HealthConfig
from gateway.fleet.change import Change
from gateway.fleet.health.evidence import (
    Activity,
    Canary,
    CanaryFailed,
    CanaryOk,
    CanaryUnsure,
    DrainBegun,
    Evidence,
    Hung,
    ModelCard,
    ProbeFailed,
    ProbeOk,
    ProbeTrouble,
    RequestFailed,
    Severity,
)
from gateway.fleet.health.machine import State
from gateway.fleet.live import LiveBackend
from gateway.observe.logs import Log
from gateway.workers.probing import Prober
from gateway.workers.supervise import Supervisor

GOOD = ProbeOk((ModelCard("m"),))
GONE = ProbeFailed(ProbeTrouble.REFUSED, "nothing listens")
SLOW = ProbeFailed(ProbeTrouble.TIMEOUT, "slow")
IDLE = Activity(0.0, 0.0, 10.0, 20.0)
BUSY = Activity(1.0, 0.0, 10.0, 20.0)
CRASH = RequestFailed("EngineCore encountered an issue", Severity.CRASH)
SOFT = RequestFailed("cut")


class Engine:
    """Answers each look with the next of its results, the last one for ever; counts canaries."""

    def __init__(self, *probes: ProbeOk | ProbeFailed) -> None:
        self.probes = list(probes)
        self.counters: Activity | None = IDLE
        self.verdict: Canary = CanaryOk()
        self.canaries: list[tuple[str, float]] = []
        self.looks = 0
        self.was_asked = asyncio.Event()

    async def look(self) -> ProbeOk | ProbeFailed:
        self.looks += 1
        self.was_asked.set()
        return self.probes.pop(0) if len(self.probes) > 1 else self.probes[0]

    async def activity(self) -> Activity | None:
        return self.counters

    async def canary(self, served_name: str, limit_s: float) -> Canary:
        self.canaries.append((served_name, limit_s))
        return self.verdict


class Requests:
    """Requests that wait at the backend and moved half a second ago."""

    def __init__(self, waiting: int) -> None:
        self.waiting = waiting
        self.silent_s = 0.5
        self.given_up: list[tuple[str, float]] = []

    def hearing(self) -> tuple[bool, float]:
        return self.waiting > 0, self.silent_s if self.waiting else math.inf

    def give_up(self, reason: str, silent_s: float) -> int:
        self.given_up.append((reason, silent_s))
        return self.waiting


class Desk:
    """A prober with all that it works on; `now` is its clock."""

    def __init__(
        self, *probes: ProbeOk | ProbeFailed, canary: bool = True, waiting: int = 0
    ) -> None:
        self.now = 0.0
        self.engine = Engine(*probes)
        self.requests = Requests(waiting)
        self.told: list[Change] = []
        self.moved: list[tuple[str, int, str]] = []
        config = BackendConfig(name="b", url="http://h:1", served_name="m")
        rules = HealthConfig(canary=canary)
        self.live = LiveBackend(config, frozenset({"m"}), 0.0, rules)
        self.prober = Prober(
            self.live,
            self.engine,
            self.requests,
            interval_s=3600.0,
            clock=Clock(lambda: self.now, lambda: self.now),
            draw=lambda: 0.5,
            tell=self.tell,
            gave_up=lambda backend, count, reason: self.moved.append((backend, count, reason)),
        )

    def tell(self, changes: Sequence[Change]) -> None:
        self.told += changes

    async def look(self, now: float) -> State:
        self.now = now
        await self.prober.look()
        return self.live.state


async def test_each_look_is_taken_in_and_changes_are_told() -> None:
    desk = Desk(GOOD, GONE, GOOD, canary=False)
    assert [await desk.look(float(s)) for s in (1, 2, 3, 4)] == [
        State.UP,
        State.DOWN,
        State.UP,
        State.UP,
    ]
    assert [(c.before, c.after) for c in desk.told] == [
        ("unknown", "up"),
        ("up", "down"),
        ("down", "up"),
    ]
    assert desk.engine.canaries == []
    assert repr(desk.prober) == "<Prober b every 3600.0 s>"


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        (CanaryOk(), State.UP),
        (CanaryUnsure(), State.STARTING),
        (CanaryFailed("500"), State.DOWN),
    ],
)
async def test_a_backend_that_starts_is_asked_for_tokens(verdict: Canary, state: State) -> None:
    desk = Desk(GOOD)
    desk.engine.verdict = verdict
    assert await desk.look(1.0) is state
    assert desk.engine.canaries == [("m", desk.live.longest_step_s)]
    assert desk.told[-1].after == state


@pytest.mark.parametrize(
    ("evidence", "counters", "in_flight", "now", "is_asked"),
    [
        ([], IDLE, 0, 1.0, True),
        ([], None, 0, 1.0, True),  # its counters can't be read, but nothing of ours is there
        ([], BUSY, 0, 1.0, False),  # work of somebody else proves as much
        ([], Activity(0.0, 3.0, 10.0, 20.0), 0, 1.0, False),
        ([], IDLE, 1, 1.0, False),
        ([CanaryOk()], IDLE, 0, 59.9, False),
        ([CanaryOk()], IDLE, 0, 60.0, True),
        ([CanaryOk()], BUSY, 0, 60.0, False),
        ([CanaryOk()], IDLE, 2, 60.0, False),
        ([CanaryOk(), SOFT], IDLE, 0, 1.0, True),
        ([CanaryOk(), SOFT], BUSY, 0, 1.0, False),
        ([CRASH], IDLE, 0, 1.0, True),
        ([Hung("stands")], IDLE, 0, 1.0, True),
        ([Hung("stands")], BUSY, 0, 1.0, False),
        ([DrainBegun("out")], IDLE, 0, 1.0, False),
        ([CanaryOk(), DrainBegun("out")], IDLE, 0, 99.0, False),
        # An open breaker is waited for, and then the canary goes before any request.
        ([CanaryOk(), SOFT, SOFT, SOFT], IDLE, 0, 4.9, False),
        ([CanaryOk(), SOFT, SOFT, SOFT], IDLE, 0, 5.0, True),
        ([CanaryOk(), SOFT, SOFT, SOFT], BUSY, 0, 5.0, False),
    ],
)
async def test_when_a_canary_is_due(
    evidence: list[Evidence], counters: Activity | None, in_flight: int, now: float, is_asked: bool
) -> None:
    desk = Desk(GOOD)
    for one in evidence:
        desk.live.observe(one, 0.0)
    desk.engine.counters = counters
    desk.live.in_flight = in_flight
    await desk.look(now)
    assert (len(desk.engine.canaries) == 1) == is_asked


@pytest.mark.parametrize("probe", [GONE, SLOW, ProbeFailed(ProbeTrouble.STATUS, "503")])
async def test_a_backend_that_fails_its_probe_is_not_asked(probe: ProbeFailed) -> None:
    desk = Desk(probe)
    await desk.look(100.0)
    assert desk.engine.canaries == []


async def test_the_idle_time_counts_from_the_last_request_and_the_last_canary() -> None:
    desk = Desk(GOOD)
    await desk.look(1.0)
    asked: list[int] = []
    for now, last_request_s in ((60.9, 0.0), (61.0, 0.0), (120.0, 0.0), (121.0, 100.0)):
        desk.live.last_request_s = last_request_s
        await desk.look(now)
        asked.append(len(desk.engine.canaries))
    assert asked == [1, 2, 2, 2]


@pytest.mark.parametrize("waiting", [0, 3])
async def test_the_requests_of_a_hung_backend_are_given_up_at_once(waiting: int) -> None:
    desk = Desk(GOOD, canary=False, waiting=waiting)
    desk.engine.counters = BUSY
    assert await desk.look(1.0) is State.UP
    assert await desk.look(1.0 + desk.live.longest_step_s) is State.UP
    assert desk.requests.given_up == []
    assert await desk.look(1.1 + desk.live.longest_step_s) is State.DOWN
    assert desk.requests.given_up == [(desk.live.reason, 0.0)]
    assert desk.moved == ([("b", 3, desk.live.reason)] if waiting else [])
    assert "no token moves" in desk.live.reason


async def test_a_backend_that_is_gone_may_finish_what_it_still_streams() -> None:
    desk = Desk(GOOD, GONE, canary=False, waiting=2)
    await desk.look(1.0)
    await desk.look(2.0)
    assert desk.requests.given_up == [("nothing listens", 1.0)]
    assert desk.moved == [("b", 2, "nothing listens")]


async def test_a_silent_backend_keeps_its_requests() -> None:
    desk = Desk(GOOD, SLOW, canary=False, waiting=2)
    desk.requests.silent_s = 99.0
    states = [await desk.look(float(second)) for second in range(1, 5)]
    assert states == [State.UP, State.UP, State.UP, State.DOWN]
    assert (desk.requests.given_up, desk.moved) == ([], [])


async def test_late_probes_of_an_engine_whose_bytes_come_are_no_failure() -> None:
    desk = Desk(GOOD, SLOW, canary=False, waiting=2)
    assert {await desk.look(float(second)) for second in range(1, 9)} == {State.UP}


async def test_a_canary_that_fails_gives_the_requests_up() -> None:
    desk = Desk(GOOD, waiting=1)
    desk.engine.verdict = CanaryFailed("two tokens did not come")
    await desk.look(1.0)
    assert [silent_s for _, silent_s in desk.requests.given_up] == [1.0]


async def test_a_doubt_wakes_the_loop() -> None:
    desk = Desk(GOOD, canary=False)
    task = asyncio.create_task(desk.prober.run())
    async with asyncio.timeout(20):
        await desk.engine.was_asked.wait()
        desk.engine.was_asked.clear()
        desk.prober.look_now()
        await desk.engine.was_asked.wait()
    task.cancel()
    await asyncio.wait([task])
    assert desk.engine.looks == 2


class Lines:
    def __init__(self) -> None:
        self.records: list[dict[str, object]] = []

    def write(self, line: bytes) -> None:
        self.records.append(json.loads(line))

    def close(self) -> None: ...


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
    (crash,) = lines.records
    assert (crash["event"], crash["loop"]) == ("loop_crashed", "fragile")
    assert "ValueError: broken" in str(crash["trace"])
