"""Four gateways against one: caps that hold, and what a request costs."""

import asyncio
import statistics
import time
from typing import Any, Final

from tests.replicas.load import Load, percentile
from tests.replicas.report import Goal, at_least, at_most
from tests.replicas.stage import CAP, HOST, Stage, cpu_s, free_ports
from tests.support.children import Child

GATEWAYS: Final = 4
MOST_CPU_RATIO: Final = 1.3
MOST_ROUND_TRIPS: Final = 2.0
_TOKENS: Final = 60
_IDLE_S: Final = 3.0


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


async def measure(
    stage: Stage, clients: int, rounds: int, seconds: float, *, is_cpu_a_goal: bool
) -> tuple[list[Goal], dict[str, Any]]:
    """Turns of one gateway alone and of four with a store, one after the other."""
    redis_port, *ports = free_ports(GATEWAYS + 2)
    alone, *together = ports
    redis = await stage.redis("redis-cap", redis_port)
    store = f"redis://{HOST}:{redis_port}"
    single = await stage.gateway("alone", alone)
    many = [
        await stage.gateway(f"together-{n}", port, store=store) for n, port in enumerate(together)
    ]
    idle_trips = await _idle_trips(stage, together)
    turns: dict[str, list[Turn]] = {"one": [], "four": []}
    redis_s = 0.0
    for number in range(rounds):
        turns["one"].append(await _turn(stage, [alone], [single], clients, seconds, number))
        before_s = cpu_s(redis.pid)
        turns["four"].append(await _turn(stage, together, many, clients, seconds, number))
        redis_s += cpu_s(redis.pid) - before_s
    one, four = (statistics.median(turn.cpu_ms for turn in turns[n]) for n in ("one", "four"))
    requests = sum(turn.requests for turn in turns["four"])
    periodic = idle_trips * sum(turn.wall_s for turn in turns["four"])
    trips = sum(turn.trips for turn in turns["four"])
    wrong = [told for each in turns.values() for turn in each for told in turn.wrong]
    most = await stage.most_running()
    name = "gateway_store_failures_total"
    failures = sum(await asyncio.gather(*(stage.metric(port, name) for port in together)))
    for child in [single, *many]:
        await child.stop()
    goals = [
        at_most("cap: requests over the cap of a backend", most - CAP, 0),
        at_least("cap: most requests at a backend", most, CAP),
        at_most("cap: failed requests", len(wrong), 0),
        at_most("cap: round trips a request", (trips - periodic) / requests, MOST_ROUND_TRIPS),
    ]
    if is_cpu_a_goal:
        # Short turns are noise; the figure is stated all the same.
        goals.append(at_most("cap: CPU a request, four / one", four / one, MOST_CPU_RATIO))
    return goals, {
        "cpu_ratio": round(four / one, 3),
        "cpu_ms_a_request": {
            name: [round(turn.cpu_ms, 2) for turn in each] for name, each in turns.items()
        },
        "redis_cpu_ms_a_request": round(1000.0 * redis_s / requests, 3),
        "requests": {name: sum(turn.requests for turn in each) for name, each in turns.items()},
        "first_event_p50_s": {n: [turn.first_s for turn in each] for n, each in turns.items()},
        "round_trips_a_request_with_exchanges": round(trips / requests, 3),
        "exchanges_a_second": round(idle_trips, 2),
        "claims_without_an_answer": failures,
        "wrong": wrong[:5],
    }


async def _turn(
    stage: Stage, ports: list[int], gateways: list[Child], clients: int, seconds: float, seed: int
) -> Turn:
    load = Load(ports, clients, _TOKENS, seed)
    await load.learn(stage.oracle_port)
    before_s, trips = sum(cpu_s(child.pid) for child in gateways), await _trips(stage, ports)
    began_s = time.monotonic()
    await load.run(lambda: time.monotonic() - began_s > seconds)
    wall_s = time.monotonic() - began_s
    spent_s = sum(cpu_s(child.pid) for child in gateways) - before_s
    return Turn(load, spent_s, wall_s, await _trips(stage, ports) - trips)


async def _idle_trips(stage: Stage, ports: list[int]) -> float:
    """Round trips a second of all gateways together without requests."""
    await asyncio.sleep(1.0)
    before, began_s = await _trips(stage, ports), time.monotonic()
    await asyncio.sleep(_IDLE_S)
    return (await _trips(stage, ports) - before) / (time.monotonic() - began_s)


async def _trips(stage: Stage, ports: list[int]) -> float:
    name = "gateway_store_round_trips_total"
    return sum(await asyncio.gather(*(stage.metric(port, name) for port in ports)))
