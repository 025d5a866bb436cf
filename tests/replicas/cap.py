"""Four gateways against one: caps that hold, and what a request costs."""

import asyncio
import statistics
import time
from typing import Any, Final, NamedTuple

from tests.replicas.load import Load, percentile
from tests.replicas.report import Goal, at_least, at_most
from tests.replicas.stage import CAP, HOST, Program, Stage, cpu_s, free_ports, until
from tests.support.children import Child

GATEWAYS: Final = 4
MOST_CPU_RATIO: Final = 1.3
MOST_ROUND_TRIPS: Final = 2.0
_TOKENS: Final = 60
_IDLE_S: Final = 2.0


class Turn:
    """What one turn under load has shown."""

    def __init__(self, load: Load, spent_s: float, wall_s: float, trips: float) -> None:
        self.load = load
        self.spent_s = spent_s
        self.wall_s = wall_s
        self.trips = trips

    @property
    def requests(self) -> int:
        return len(self.load.answers)

    @property
    def wrong(self) -> list[str]:
        return [one.wrong for one in self.load.answers if one.wrong]

    @property
    def cpu_ms(self) -> float:
        return 1000.0 * self.spent_s / max(1, self.requests)

    @property
    def first_s(self) -> float | None:
        return percentile([a.first_s - a.start_s for a in self.load.answers if a.first_s], 50)


class Plan(NamedTuple):
    """How much is measured; without `is_compared` only the gateways that share a store."""

    clients: int
    rounds: int
    seconds: float
    is_compared: bool


async def measure(stage: Stage, plan: Plan) -> tuple[list[Goal], dict[str, Any]]:
    """Turns of one gateway alone and of four with a store, one after the other.

    Each kind has engines of its own: an engine tells the most that it ever had, so that of shared
    ones nobody could say who sent too many.
    """
    sharing = await _Sharing.start(stage)
    if not plan.is_compared:
        for number in range(plan.rounds):
            await sharing.turn(plan, number)
        return await sharing.judged()
    single = Stage(stage.folder / "single", len(stage.ports))
    try:
        await single.start_engines()
        one = await _compared(single, sharing, plan)
        goals, figures = await sharing.judged()
        over = await single.most_running() - CAP
        # What four processes cost without a store: the rest is what sharing costs.
        apart = await _apart(single, plan)
    finally:
        await single.close()
    alone_ms, together_ms = (statistics.median(t.cpu_ms for t in x) for x in (one, sharing.turns))
    wrong = [told for turn in one for told in turn.wrong]
    goals += [
        at_most("cap: requests over the cap, one gateway without a store", over, 0),
        at_most("cap: failed requests, one gateway without a store", len(wrong), 0),
        at_most("cap: CPU a request, four / one", together_ms / alone_ms, MOST_CPU_RATIO),
    ]
    return goals, {
        **figures,
        "one": _figures(one),
        "four_without_a_store": _figures([apart]),
        "cpu_ratio": round(together_ms / alone_ms, 3),
        "cpu_ratio_of_four_without_a_store": round(apart.cpu_ms / alone_ms, 3),
        "wrong_one": wrong[:5],
    }


async def _compared(single: Stage, sharing: "_Sharing", plan: Plan) -> list[Turn]:
    (port,) = free_ports(1)
    child = await single.gateway("alone", port)
    turns = []
    for number in range(plan.rounds):
        turns.append(await _turn(single, [port], [child], plan, number))
        await sharing.turn(plan, number)
    await child.stop()
    return turns


async def _apart(stage: Stage, plan: Plan) -> Turn:
    ports = free_ports(GATEWAYS)
    named = [stage.gateway(f"apart-{n}", port) for n, port in enumerate(ports)]
    gateways = await asyncio.gather(*named)
    turn = await _turn(stage, ports, gateways, plan, plan.rounds)
    await asyncio.gather(*(child.stop() for child in gateways))
    return turn


class _Sharing:
    """Four gateways with a store."""

    def __init__(
        self, stage: Stage, redis: Program, ports: list[int], gateways: list[Child], idle: float
    ) -> None:
        self._stage = stage
        self._redis = redis
        self._ports = ports
        self._gateways = gateways
        self._idle_trips = idle
        self._redis_s = 0.0
        self.turns: list[Turn] = []

    @classmethod
    async def start(cls, stage: Stage) -> "_Sharing":
        """Starts them, and counts what they send without requests."""
        redis_port, *ports = free_ports(GATEWAYS + 1)
        redis = await stage.redis("redis-cap", redis_port)
        store = f"redis://{HOST}:{redis_port}"
        named = [stage.gateway(f"together-{n}", p, store=store) for n, p in enumerate(ports)]
        gateways = await asyncio.gather(*named)
        await until("all gateways", lambda: stage.is_store(ports, "ok", others=GATEWAYS - 1))
        return cls(stage, redis, ports, list(gateways), await _idle_trips(stage, ports))

    async def turn(self, plan: Plan, number: int) -> None:
        before_s = cpu_s(self._redis.pid)
        self.turns.append(await _turn(self._stage, self._ports, self._gateways, plan, number))
        self._redis_s += cpu_s(self._redis.pid) - before_s

    async def judged(self) -> tuple[list[Goal], dict[str, Any]]:
        """Stops them; what they did."""
        requests = sum(turn.requests for turn in self.turns)
        trips = sum(turn.trips for turn in self.turns)
        periodic = self._idle_trips * sum(turn.wall_s for turn in self.turns)
        wrong = [told for turn in self.turns for told in turn.wrong]
        most = await self._stage.most_running()
        name = "gateway_store_failures_total"
        failures = await asyncio.gather(*(self._stage.metric(p, name) for p in self._ports))
        await asyncio.gather(*(child.stop() for child in self._gateways))
        goals = [
            at_most("cap: requests over the cap of a backend", most - CAP, 0),
            at_least("cap: most requests at a backend", most, CAP),
            at_most("cap: failed requests", len(wrong), 0),
            at_most("cap: round trips a request", (trips - periodic) / requests, MOST_ROUND_TRIPS),
        ]
        return goals, {
            "four": _figures(self.turns),
            "redis_cpu_ms_a_request": round(1000.0 * self._redis_s / requests, 3),
            "round_trips_a_request_with_exchanges": round(trips / requests, 3),
            "exchanges_a_second": round(self._idle_trips, 2),
            # Such claims are decided by local knowledge, so they may pass a cap.
            "claims_without_an_answer": sum(failures),
            "wrong": wrong[:5],
        }


def _figures(turns: list[Turn]) -> dict[str, Any]:
    return {
        "requests": sum(turn.requests for turn in turns),
        "cpu_ms_a_request": [round(turn.cpu_ms, 2) for turn in turns],
        "first_event_p50_s": [turn.first_s and round(turn.first_s, 3) for turn in turns],
    }


async def _turn(
    stage: Stage, ports: list[int], gateways: list[Child], plan: Plan, seed: int
) -> Turn:
    load = Load(ports, plan.clients, _TOKENS, seed)
    await load.learn(stage.oracle_port)
    before_s, trips = sum(cpu_s(child.pid) for child in gateways), await _trips(stage, ports)
    began_s = time.monotonic()
    await load.run(lambda: time.monotonic() - began_s > plan.seconds)
    wall_s = time.monotonic() - began_s
    spent_s = sum(cpu_s(child.pid) for child in gateways) - before_s
    return Turn(load, spent_s, wall_s, await _trips(stage, ports) - trips)


async def _idle_trips(stage: Stage, ports: list[int]) -> float:
    """Round trips a second of all gateways together without requests."""
    before, began_s = await _trips(stage, ports), time.monotonic()
    await asyncio.sleep(_IDLE_S)
    return (await _trips(stage, ports) - before) / (time.monotonic() - began_s)


async def _trips(stage: Stage, ports: list[int]) -> float:
    name = "gateway_store_round_trips_total"
    return sum(await asyncio.gather(*(stage.metric(port, name) for port in ports)))
