"""All gateways are restarted, one after the other, behind a balancer and under streams."""

import asyncio
import time
from typing import Any, Final

from tests.replicas.load import Load
from tests.replicas.report import Goal, at_least, at_most
from tests.replicas.stage import HOST, Stage, free_ports, listens, until

_TOKENS: Final = 40
_GRACE_S: Final = 2.0

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


async def measure(stage: Stage, clients: int, rounds: int) -> tuple[list[Goal], dict[str, Any]]:
    """So many rounds of restarts."""
    redis_port, front, *ports = free_ports(4)
    await stage.redis("redis-rolling", redis_port)
    store = f"redis://{HOST}:{redis_port}"
    options = ("--drain-grace-s", str(_GRACE_S), "--drain-s", "60")
    gateways = [
        await stage.gateway(f"rolling-{n}", port, *options, store=store)
        for n, port in enumerate(ports)
    ]
    servers = "\n".join(f"  server g{n} {HOST}:{port}" for n, port in enumerate(ports))
    file = stage.folder / "haproxy.cfg"
    file.write_text(_BALANCER.format(host=HOST, port=front, servers=servers), encoding="utf-8")
    stage.program("haproxy", ["haproxy", "-db", "-f", str(file)])
    await until("the balancer", lambda: listens(front))
    load = Load([front], clients, _TOKENS, seed=3)
    await load.learn(stage.oracle_port)
    is_over = asyncio.Event()
    asking = asyncio.create_task(load.run(is_over.is_set))
    restarts = []
    for _ in range(rounds):
        for number, child in enumerate(gateways):
            await asyncio.sleep(2.0)
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
    for child in gateways:
        await child.stop()
    goals = [
        at_most("rolling: broken streams and failed requests", len(wrong), 0),
        at_least("rolling: requests", len(load.answers), 10 * rounds),
    ]
    return goals, {
        "requests": len(load.answers),
        "restarts": len(restarts),
        "restart_s": restarts,
        "wrong": wrong[:5],
    }
