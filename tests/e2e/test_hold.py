"""Requests that wait at the gateway, so that no batch outgrows the captured sizes."""

import asyncio

from gateway.emulator.fleet import EmulatedFleet
from tests.support import answers, wire
from tests.support.fleet import spec
from tests.support.gateway import CHAT, JSON, GatewayClient, chat_request, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import eventually


async def test_no_batch_outgrows_the_captured_sizes() -> None:
    """Twelve streams on two graph backends with sizes [1, 4]: never more than four on one."""
    specs = [spec(n, "m", time_scale=10.0) for n in ("a", "b")]
    async with EmulatedFleet(specs) as fleet:
        entries = [
            backend(b.spec.name, b.url, served_name="m", capture_sizes=[1, 4], max_num_seqs=8)
            for b in fleet.backends
        ]
        config = routes(entries, [model("pub", "a", "b")], health={"canary": False})
        async with running_gateway(config) as gateway:
            told = await asyncio.gather(
                *(gateway.chat("pub", stream=True, max_tokens=30) for _ in range(12))
            )
            assert all(answer.events[-1] == wire.DONE for answer in told)
            most = [b.live.driver.engine.totals.max_running for b in fleet.backends]
            assert most == [4, 4]


def one_slot(upstream: ScriptedUpstream, **queue: object) -> Tree:
    entry = backend("u1", upstream, max_num_seqs=1)
    return routes([entry], [model("m1", "u1", heartbeat_s=0.5)], queue=queue)


class Gate:
    """Lets requests through one by one, and notes their order."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.tickets = asyncio.Semaphore(0)

    async def __call__(self, exchange: Exchange) -> None:
        self.order.append(exchange.request.json()["user"])
        await self.tickets.acquire()
        await answers.usual(exchange)


async def asked(
    gateway: GatewayClient, upstream: ScriptedUpstream, count: int
) -> list[asyncio.Task[RawAnswer]]:
    """So many requests, each sent when the one before is at the backend or in the line."""
    tasks = [asyncio.create_task(gateway.chat("m1", user="0"))]
    await upstream.until(lambda: upstream.requests)
    for number in range(1, count):
        tasks.append(asyncio.create_task(gateway.chat("m1", user=str(number))))
        await eventually(lambda number=number: has_waiting(gateway, number))
    return tasks


async def has_waiting(gateway: GatewayClient, count: int) -> bool:
    return (await gateway.health())["models"]["m1"]["waiting"] == count


async def test_the_line_is_first_come_first_served() -> None:
    gate = Gate()
    async with ScriptedUpstream("m1") as u1, running_gateway(one_slot(u1)) as gateway:
        u1.handlers[CHAT] = gate
        tasks = await asked(gateway, u1, 4)
        for _ in tasks:
            gate.tickets.release()
        assert [(await task).status for task in tasks] == [200] * 4
        assert gate.order == ["0", "1", "2", "3"]


async def test_a_client_that_leaves_frees_its_place() -> None:
    gate = Gate()
    async with ScriptedUpstream("m1") as u1, running_gateway(one_slot(u1)) as gateway:
        u1.handlers[CHAT] = gate
        (first,) = await asked(gateway, u1, 1)
        async with gateway.connect() as connection:
            body = wire.compact(chat_request("m1", user="gone"))
            await connection.request("POST", CHAT, [JSON], body)
            await eventually(lambda: has_waiting(gateway, 1))
        await eventually(lambda: has_waiting(gateway, 0))
        gate.tickets.release()
        assert (await first).status == 200
        assert gate.order == ["0"]


async def test_a_full_line_and_a_long_wait_are_refused() -> None:
    gate = Gate()
    config = one_slot(gate_upstream := ScriptedUpstream("m1"), max_requests=1, max_wait_s=1.0)
    async with gate_upstream as u1, running_gateway(config) as gateway:
        u1.handlers[CHAT] = gate
        first, second = await asked(gateway, u1, 2)
        refused = await gateway.chat("m1", user="2")
        assert (refused.status, refused.error["code"]) == (429, "overloaded")
        assert "1 requests wait" in refused.error["message"]
        late = await second
        assert (late.status, late.error["code"]) == (429, "overloaded")
        assert int(late.header("retry-after") or 0) >= 1
        gate.tickets.release()
        assert (await first).status == 200


async def test_the_time_of_a_request_ends_its_wait() -> None:
    gate = Gate()
    upstream = ScriptedUpstream("m1")
    config = one_slot(upstream)
    config["models"].append(model("brief", "u1", timeouts={"total_s": 0.5}))
    async with upstream as u1, running_gateway(config) as gateway:
        u1.handlers[CHAT] = gate
        (first,) = await asked(gateway, u1, 1)
        late = await gateway.chat("brief")
        assert (late.status, late.error["code"]) == (504, "backend_timeout")
        gate.tickets.release()
        assert (await first).status == 200
        assert gate.order == ["0"]


async def test_a_waiting_stream_is_kept_open() -> None:
    gate = Gate()
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_slot(u1)) as gateway,
        gateway.connect() as connection,
    ):
        u1.handlers[CHAT] = gate
        (first,) = await asked(gateway, u1, 1)
        body = wire.compact(chat_request("m1", user="s", stream=True))
        await connection.request("POST", CHAT, [JSON], body)
        answer = await connection.read_head()
        events = await connection.read_events(answer, 2)
        assert all(event.startswith(b":") for event in events)
        gate.tickets.release()
        gate.tickets.release()
        assert (await first).status == 200
        while await connection.read_piece(answer):
            pass
        assert answer.events[-1] == wire.DONE
