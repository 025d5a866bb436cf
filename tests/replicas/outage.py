"""A store that dies, hangs and comes back under load, and a gateway that is killed."""

import asyncio
import signal
import time
from typing import Any, Final

from redis.asyncio import Redis

from tests.replicas.load import Answer, Load, percentile
from tests.replicas.report import Goal, at_least, at_most
from tests.replicas.stage import HOST, Program, Stage, free_ports, until

MOST_LEASE_S: Final = 5.0
_TOKENS: Final = 40
_DOWN_S: Final = 3.0
_HUNG_S: Final = 5.0
_CALM_S: Final = 4.0


async def measure(stage: Stage, clients: int, kills: int) -> tuple[list[Goal], dict[str, Any]]:
    """Two gateways under streams while their store has a bad day."""
    redis_port, *ports = free_ports(3)
    redis = await stage.redis("redis-outage", redis_port)
    store = f"redis://{HOST}:{redis_port}"
    gateways = [await stage.gateway(f"outage-{n}", p, store=store) for n, p in enumerate(ports)]
    await until("two gateways", lambda: stage.is_store(ports, "ok", others=1))
    load = Load(ports, clients, _TOKENS, seed=1)
    await load.learn(stage.oracle_port)
    is_over = asyncio.Event()
    asking = asyncio.create_task(load.run(is_over.is_set))
    windows = await _bad_day(stage, redis, ports, kills)
    is_over.set()
    await asking
    left = await _leases_after(redis_port)
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
        at_most("outage: leases left when all was over", left, 0),
        at_most("outage: seconds until a killed gateway's places were free", lease_s, MOST_LEASE_S),
    ]
    return goals, {
        "requests": len(load.answers),
        "kills": kills,
        "first_event_s": {"calm": _spread(calm), "bad": _spread(bad)},
        "added_first_event_s": _added(calm, bad),
        "wrong": wrong[:5],
    }


async def _bad_day(
    stage: Stage, redis: Program, ports: list[int], kills: int
) -> list[tuple[float, float]]:
    """When the store was not there."""
    windows = []
    for turn in range(kills + 1):
        await asyncio.sleep(_CALM_S)
        began_s = time.monotonic()
        if turn < kills:
            redis.kill()
        else:
            redis.signal(signal.SIGSTOP)
        await until("degraded", lambda: stage.is_store(ports, "degraded"))
        await asyncio.sleep(_DOWN_S if turn < kills else _HUNG_S)
        if turn < kills:
            redis.start()
        else:
            redis.signal(signal.SIGCONT)
        await until("ok again", lambda: stage.is_store(ports, "ok", others=1))
        windows.append((began_s, time.monotonic()))
    await asyncio.sleep(_CALM_S)
    return windows


async def _leases_after(redis_port: int) -> int:
    """Places that are still taken when nothing runs, after the time that a release takes."""
    await asyncio.sleep(0.5)
    return await _leases(redis_port)


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
