"""`serve --workers`: several processes that speak as one."""

import asyncio
import json
import os
import signal
from pathlib import Path

import yaml

from tests.support.gateway import GatewayClient
from tests.support.process import GatewayProcess, gateway_process
from tests.support.redis_server import running_redis
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import ScriptedUpstream
from tests.support.waiting import eventually

REQUESTS = 40


def pair(u1: ScriptedUpstream, u2: ScriptedUpstream) -> Tree:
    entries = [backend("u1", u1), backend("u2", u2)]
    return routes(entries, [model("m1", "u1", "u2")], health={"canary": False})


async def workers(gateway: GatewayClient, count: int) -> bool:
    """Whether so many are there, and know of each other."""
    store = (await gateway.health())["store"]
    return bool(store["status"] == "ok" and len(store["replicas"]) == count - 1)


def pids(gateway: GatewayProcess) -> set[int]:
    path = Path(f"/proc/{gateway.process.pid}/task/{gateway.process.pid}/children")
    return {int(pid) for pid in path.read_text().split()}


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}/status").exists()


async def test_workers_speak_as_one(tmp_path: Path) -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_redis() as redis,
    ):
        config = pair(u1, u2)
        env = {"ASCEND_GATEWAY_STORE_URL": redis.url}
        async with gateway_process(
            config, tmp_path, "--workers", "3", "--drain-s", "3", env=env
        ) as gateway:
            await eventually(lambda: workers(gateway, 3))
            answers = await asyncio.gather(*(gateway.chat("m1") for _ in range(REQUESTS)))
            assert [answer.status for answer in answers] == [200] * REQUESTS

            # Whoever is asked tells of all.
            for _ in range(6):
                metrics = await gateway.metrics()
                assert metrics.total("gateway_requests_total") == REQUESTS
            for answer in answers:
                request_id = answer.header("x-request-id")
                told = await gateway.get(f"/admin/explain?request_id={request_id}")
                assert told.json()["request_id"] == request_id

            # A reload, and a drain, hold at all of them.
            config["models"][0]["aliases"] = ["mm"]
            (tmp_path / "routing.yaml").write_text(yaml.safe_dump(config))
            told = await gateway.raw("POST", "/admin/reload")
            assert told.status == 200, told.body
            again = await asyncio.gather(*(gateway.chat("mm") for _ in range(REQUESTS)))
            assert [answer.status for answer in again] == [200] * REQUESTS
            drained = await gateway.raw("POST", "/admin/backends/u1/drain")
            assert json.loads(drained.body)["backend"] == "u1"

            async def is_out_everywhere() -> bool:
                seen = [(await gateway.health())["backends"]["u1"]["state"] for _ in range(12)]
                return set(seen) == {"draining"}

            await eventually(is_out_everywhere)

            gateway.terminate()
            assert await gateway.exit_code() == 0


async def test_a_worker_that_dies_is_started_again(tmp_path: Path) -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_redis() as redis,
    ):
        env = {"ASCEND_GATEWAY_STORE_URL": redis.url}
        async with gateway_process(pair(u1, u2), tmp_path, "--workers", "2", env=env) as gateway:
            await eventually(lambda: workers(gateway, 2))
            before = pids(gateway)
            dead = min(before)
            os.kill(dead, signal.SIGKILL)

            async def is_replaced() -> bool:
                now = pids(gateway)
                return len(now) == 2 and dead not in now and await workers(gateway, 2)

            await eventually(is_replaced)
            assert "starts again" in gateway.text
            assert (await gateway.chat("m1")).status == 200

            # When the watching process dies, nobody is left behind.
            left = pids(gateway)
            gateway.process.kill()
            await gateway.exit_code()

            async def all_gone() -> bool:
                return not any(map(is_there, left))

            await eventually(all_gone)


async def test_workers_need_a_store(tmp_path: Path) -> None:
    config = routes([], [])
    async with gateway_process(config, tmp_path, "--workers", "2", wait=False) as gateway:
        assert await gateway.exit_code() == 2
        await asyncio.sleep(0)
        await eventually(lambda: says(gateway, "ASCEND_GATEWAY_STORE_URL"))


async def says(gateway: GatewayProcess, text: str) -> bool:
    return text in gateway.text
