"""The store behind Sentinel, with a failover, and as a Cluster; all of it local processes."""

import asyncio
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from tests.replicas.load import Load
from tests.replicas.report import Goal, at_least, at_most
from tests.replicas.stage import CAP, HOST, Program, Stage, free_ports, listens, until

_TOKENS: Final = 40
_CLIENTS: Final = 160
_CALM_S: Final = 3.0
_SLOTS: Final = 16384
_NODES: Final = 3

_SENTINEL: Final = """
port {port}
bind {host}
dir {folder}
sentinel monitor fleet {host} {master} 2
sentinel down-after-milliseconds fleet 1000
sentinel failover-timeout fleet 3000
sentinel parallel-syncs fleet 1
"""


async def measure(stage: Stage) -> tuple[list[Goal], dict[str, Any]]:
    """Two gateways on each kind of store; the one that fails comes last.

    An engine tells the most that it ever had, and during a failover caps may be passed.
    """
    goals: list[Goal] = []
    figures: dict[str, Any] = {}
    for name, store in (("cluster", _cluster), ("sentinel", _sentinel)):
        url, fail = await store(stage)
        ports = free_ports(2)
        gateways = [await stage.gateway(f"{name}-{n}", p, store=url) for n, p in enumerate(ports)]
        await until(f"{name} ok", lambda p=ports: stage.is_store(p, "ok", others=1))
        load = Load(ports, _CLIENTS, _TOKENS, seed=4)
        await load.learn(stage.oracle_port)
        is_over = asyncio.Event()
        asking = asyncio.create_task(load.run(is_over.is_set))
        await asyncio.sleep(_CALM_S)
        # Before anything fails, since afterwards local knowledge decides for a while.
        most = await stage.most_running()
        took_s = None
        if fail is not None:
            fail.kill()
            await until(f"{name} down", lambda p=ports: stage.is_store(p, "degraded"))
            took_s = await until(f"{name} again", lambda p=ports: stage.is_store(p, "ok", others=1))
            await asyncio.sleep(_CALM_S)
        is_over.set()
        await asking
        wrong = [one.wrong for one in load.answers if one.wrong]
        goals += [
            at_most(f"{name}: failed requests", len(wrong), 0),
            at_least(f"{name}: requests", len(load.answers), 20),
            at_most(f"{name}: requests over the cap", most - CAP, 0),
            at_least(f"{name}: most requests at a backend", most, CAP),
        ]
        figures[name] = {
            "requests": len(load.answers),
            "failover_s": None if took_s is None else round(took_s, 2),
            "over_the_cap_when_all_was_over": await stage.most_running() - CAP,
            "wrong": wrong[:5],
        }
        await asyncio.gather(*(child.stop() for child in gateways))
    return goals, figures


async def _sentinel(stage: Stage) -> tuple[str, Program | None]:
    """A master with a replica, watched by three; the master is what is to fail."""
    master, replica, *watchers = free_ports(5)
    program = await stage.redis("master", master)
    await stage.redis("replica", replica, "--replicaof", f"{HOST} {master}")
    for number, port in enumerate(watchers):
        folder = stage.folder / f"sentinel-{number}"
        folder.mkdir()
        file = folder / "sentinel.conf"
        text = _SENTINEL.format(port=port, host=HOST, folder=folder, master=master)
        file.write_text(text, encoding="utf-8")
        stage.program(f"sentinel-{number}", ["redis-server", str(file), "--sentinel"])
        await until(f"sentinel {number}", lambda p=port: listens(p))

    async def is_known() -> bool:
        async with Redis(host=HOST, port=watchers[0], decode_responses=True) as client:
            told = await client.execute_command("SENTINEL", "MASTER", "fleet")
        found = told if isinstance(told, dict) else dict(zip(told[::2], told[1::2], strict=True))
        return int(found["num-slaves"]) == 1 and int(found["num-other-sentinels"]) == 2

    await until("the sentinels know each other", is_known)
    places = ",".join(f"{HOST}:{port}" for port in watchers)
    return f"redis+sentinel://{places}/fleet", program


async def _cluster(stage: Stage) -> tuple[str, Program | None]:
    """Three nodes, each with a third of the slots."""
    ports = free_ports(_NODES)
    for number, port in enumerate(ports):
        bus = free_ports(1)[0]
        options = ("--cluster-enabled", "yes", "--cluster-port", str(bus))
        file = ("--cluster-config-file", f"node-{number}.conf")
        await stage.redis(f"node-{number}", port, *options, *file)
    share = -(-_SLOTS // _NODES)
    for number, port in enumerate(ports):
        async with Redis(host=HOST, port=port) as client:
            first, last = number * share, min(_SLOTS, (number + 1) * share) - 1
            await client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            for other in stage.programs[-_NODES:]:
                options = other.command
                bus = options[options.index("--cluster-port") + 1]
                met = options[options.index("--port") + 1]
                await client.execute_command("CLUSTER", "MEET", HOST, met, bus)

    async def is_whole() -> bool:
        for port in ports:
            try:
                async with Redis(host=HOST, port=port) as client:
                    told = await client.execute_command("CLUSTER", "INFO")
            except (RedisError, OSError):
                return False
            text = told.decode() if isinstance(told, bytes) else str(told)
            if "cluster_state:ok" not in text and "'cluster_state': 'ok'" not in text:
                return False
        return True

    await until("the cluster", is_whole)
    return "redis+cluster://" + ",".join(f"{HOST}:{port}" for port in ports), None
