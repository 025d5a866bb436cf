"""All gateways are restarted, one after the other, behind a balancer and under streams."""

import asyncio
import time
from typing import Any, Final, NamedTuple

from tests.replicas.load import Load
from tests.replicas.report import Goal, at_least, at_most
from tests.replicas.stage import HOST, Stage, free_ports, listens, until

_STEADY_S: Final = 1.0

_BALANCER: Final = """
global
  maxconn 2000
defaults
  mode tcp
  timeout connect 5s
  timeout client 300s
  timeout server 300s
  option redispatch
  retries 3
frontend all
  bind {host}:{port}
  default_backend gateways
backend gateways
  balance leastconn
  option httpchk GET /readyz
  default-server check inter 200ms fall 2 rise 1
{servers}
"""


class Plan(NamedTuple):
    """Clients, rounds of restarts, seconds of grace, and tokens of an answer."""

    clients: int
    rounds: int
    grace_s: float
    tokens: int


async def measure(stage: Stage, plan: Plan) -> tuple[list[Goal], dict[str, Any]]:
    """So many rounds of restarts, in which nobody may lose a stream."""
    redis_port, front, *ports = free_ports(4)
    await stage.redis("redis-rolling", redis_port)
    store = f"redis://{HOST}:{redis_port}"
    options = ("--drain-grace-s", str(plan.grace_s), "--drain-s", "60")
    named = [
        stage.gateway(f"rolling-{n}", port, *options, store=store) for n, port in enumerate(ports)
    ]
    gateways = await asyncio.gather(*named)
    servers = "\n".join(f"  server g{n} {HOST}:{port}" for n, port in enumerate(ports))
    file = stage.folder / "haproxy.cfg"
    file.write_text(_BALANCER.format(host=HOST, port=front, servers=servers), encoding="utf-8")
    stage.program("haproxy", ["haproxy", "-db", "-f", str(file)])
    await until("the balancer", lambda: listens(front))
    load = Load([front], plan.clients, plan.tokens, seed=3)
    await load.learn(stage.oracle_port)
    is_over = asyncio.Event()
    asking = asyncio.create_task(load.run(is_over.is_set))
    restarts = []
    for _ in range(plan.rounds):
        for number, child in enumerate(gateways):
            await asyncio.sleep(_STEADY_S)
            began_s = time.monotonic()
            await child.stop()
            await stage.gateway(child.name, ports[number], *options, store=store)
            await until("both", lambda: stage.is_store(ports, "ok", others=1))
            # The balancer must see that it is back, before the other one goes.
            await asyncio.sleep(1.0)
            restarts.append(round(time.monotonic() - began_s, 2))
    is_over.set()
    await asking
    wrong = [one.wrong for one in load.answers if one.wrong]
    await asyncio.gather(*(child.stop() for child in gateways))
    goals = [
        at_most("rolling: broken streams and failed requests", len(wrong), 0),
        at_least("rolling: requests", len(load.answers), 10 * plan.rounds),
    ]
    return goals, {
        "requests": len(load.answers),
        "restarts": len(restarts),
        "restart_s": restarts,
        "wrong": wrong[:5],
    }
