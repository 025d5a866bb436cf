"""A store that dies, hangs and comes back under load, and a gateway that is killed."""

import asyncio
import signal
import time
from typing import Any, Final, NamedTuple

from redis.asyncio import Redis

from gateway.store.redis_store import LEASE_S
from tests.replicas.load import Answer, Load, percentile
from tests.replicas.report import Goal, at_least, at_most
from tests.replicas.stage import HOST, Program, Stage, free_ports, until

MOST_LEASE_S: Final = 5.0
_LOOK_S: Final = 0.05


class Plan(NamedTuple):
    """Clients, kills, how long the store is away and there between, tokens of an answer."""

    clients: int
    kills: int
    down_s: float
    hung_s: float
    calm_s: float
    tokens: int


async def measure(stage: Stage, plan: Plan) -> tuple[list[Goal], dict[str, Any]]:
    """Two gateways under streams while their store has a bad day."""
    redis_port, *ports = free_ports(3)
    redis = await stage.redis("redis-outage", redis_port)
    store = f"redis://{HOST}:{redis_port}"
    named = [stage.gateway(f"outage-{n}", p, store=store) for n, p in enumerate(ports)]
    gateways = await asyncio.gather(*named)
    await until("two gateways", lambda: stage.is_store(ports, "ok", others=1))
    load = Load(ports, plan.clients, plan.tokens, seed=1)
    await load.learn(stage.oracle_port)
    is_over = asyncio.Event()
    asking = asyncio.create_task(load.run(is_over.is_set))
    windows = await _bad_day(stage, redis, ports, plan)
    is_over.set()
    await asking
    left, left_s = await _leases_after(redis_port)
    # The clients of a gateway that is killed lose their streams; only its places are looked at.
    lease_s = await _killed(stage, redis_port, ports)
    for child in gateways:
        child.kill()
    redis.kill()
    wrong = [one.wrong for one in load.answers if one.wrong]
    bad, calm = _sorted_by(load.answers, windows)
    goals = [
        at_most("outage: failed requests", len(wrong), 0),
        at_least("outage: requests in bad moments", len(bad), 10),
        at_least("outage: times seen degraded and ok again", len(windows), plan.kills + 1),
        at_most("outage: leases left when all was over", left, 0),
        at_most("outage: seconds until a killed gateway's places were free", lease_s, MOST_LEASE_S),
    ]
    return goals, {
        "requests": len(load.answers),
        "kills": plan.kills,
        "leases_lasted_s": round(left_s, 3),
        "first_event_s": {"calm": _spread(calm), "bad": _spread(bad)},
        "added_first_event_s": _added(calm, bad),
        "wrong": wrong[:5],
    }


async def _bad_day(
    stage: Stage, redis: Program, ports: list[int], plan: Plan
) -> list[tuple[float, float]]:
    """When the store was not there."""
    windows = []
    for turn in range(plan.kills + 1):
        await asyncio.sleep(plan.calm_s)
        began_s = time.monotonic()
        if turn < plan.kills:
            redis.kill()
        else:
            redis.signal(signal.SIGSTOP)
        await until("degraded", lambda: stage.is_store(ports, "degraded"))
        await asyncio.sleep(plan.down_s if turn < plan.kills else plan.hung_s)
        if turn < plan.kills:
            redis.start()
        else:
            redis.signal(signal.SIGCONT)
        await until("ok again", lambda: stage.is_store(ports, "ok", others=1))
        windows.append((began_s, time.monotonic()))
    await asyncio.sleep(plan.calm_s)
    return windows


async def _leases_after(redis_port: int) -> tuple[int, float]:
    """Places that are still taken when nothing runs, and how long any were.

    What could not be told while the store was away ends by itself, within the life of a lease.
    """
    began_s = time.monotonic()
    left = await _leases(redis_port)
    for _ in range(round((LEASE_S + 0.5) / _LOOK_S)):
        if not left:
            break
        await asyncio.sleep(_LOOK_S)
        left = await _leases(redis_port)
    return left, time.monotonic() - began_s


async def _leases(redis_port: int) -> int:
    async with Redis(host=HOST, port=redis_port) as client:
        return sum([await client.zcard(key) async for key in client.scan_iter("*:leases")])


async def _killed(stage: Stage, redis_port: int, ports: list[int]) -> float:
    load = Load([ports[0]], 12, 400, seed=2)
    is_over = asyncio.Event()
    asking = asyncio.create_task(load.run(is_over.is_set))

    async def are_there() -> bool:
        return await _leases(redis_port) >= 12

    await until("twelve streams", are_there)
    child = next(c for c in stage.children if c.name == "outage-0")
    is_over.set()
    child.kill()

    async def are_gone() -> bool:
        return await _leases(redis_port) == 0

    took_s = await until("their places are free", are_gone)
    await asking
    return took_s


def _sorted_by(
    answers: list[Answer], windows: list[tuple[float, float]]
) -> tuple[list[Answer], list[Answer]]:
    bad = [a for a in answers if any(s <= a.start_s <= e for s, e in windows)]
    chosen = set(map(id, bad))
    return bad, [a for a in answers if id(a) not in chosen]


def _first(answers: list[Answer]) -> list[float]:
    return [a.first_s - a.start_s for a in answers if a.first_s is not None]


def _spread(answers: list[Answer]) -> dict[str, float | int | None]:
    found = _first(answers)
    told = {f"p{n}": percentile(found, n) for n in (50, 99)}
    return {"count": len(found), **{k: None if v is None else round(v, 4) for k, v in told.items()}}


def _added(calm: list[Answer], bad: list[Answer]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for n in (50, 99):
        before, after = percentile(_first(calm), n), percentile(_first(bad), n)
        if before and after:
            told[f"p{n}"] = {"seconds": round(after - before, 4), "ratio": round(after / before, 3)}
    return told
