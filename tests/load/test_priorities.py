"""Who of those that wait is next: by key, by what the client asks for, and fairly."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support import answers
from tests.support.gateway import CHAT, GatewayClient, chat_request, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import eventually

KEYS: dict[str, Any] = {
    "client_keys": ("vip=key-v", "plain=key-p", "batch=key-b", "a=key-a", "c=key-c")
}
PRIORITIES = {"vip": -5, "batch": 5}


class Gate:
    """Lets requests through one by one, and notes their order by `user`."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.tickets = asyncio.Semaphore(0)

    async def __call__(self, exchange: Exchange) -> None:
        self.order.append(exchange.request.json()["metadata"]["tag"])
        await self.tickets.acquire()
        await answers.usual(exchange)


def one_slot(upstream: ScriptedUpstream, order: str = "fair", **queue: object) -> Tree:
    entry = backend("u1", upstream, max_num_seqs=1)
    public = model("m1", "u1", order=order)
    queue = {"priorities": PRIORITIES, **queue}
    return routes([entry], [public], queue=queue, health={"canary": False})


def key(name: str, *more: tuple[str, str]) -> list[tuple[str, str]]:
    return [("Authorization", f"Bearer key-{name[0]}"), *more]


class Line:
    """Requests that join the line of m1 one after the other."""

    def __init__(self, gateway: GatewayClient, upstream: ScriptedUpstream) -> None:
        self.gateway = gateway
        self.upstream = upstream
        self.tasks: list[asyncio.Task[RawAnswer]] = []

    async def join(self, tag: str, who: str, *headers: tuple[str, str], **fields: Any) -> None:
        """One more, once the one before it is at the backend or in the line."""
        body = chat_request("m1", metadata={"tag": tag}, max_tokens=20, **fields)
        asked = self.gateway.post(CHAT, body, key(who, *headers))
        self.tasks.append(asyncio.create_task(asked))
        count = len(self.tasks) - 1
        if count == 0:
            await self.upstream.until(lambda: self.upstream.requests)
            return

        async def has_joined() -> bool:
            told = await self.gateway.health()
            return bool(told["models"]["m1"]["waiting"] == count)

        await eventually(has_joined)

    async def served(self, gate: Gate) -> list[str]:
        """The order in which they are served, the one at the backend left out."""
        for _ in self.tasks:
            gate.tickets.release()
        assert [(await task).status for task in self.tasks] == [200] * len(self.tasks)
        return gate.order[1:]


async def order_of(
    entries: Sequence[tuple[str, str, dict[str, Any], tuple[tuple[str, str], ...]]],
    order: str = "fair",
) -> list[str]:
    """The order in which these are served that join a busy backend's line in turn."""
    gate = Gate()
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_slot(u1, order), **KEYS) as gateway,
    ):
        u1.handlers[CHAT] = gate
        line = Line(gateway, u1)
        await line.join("running", "plain")
        for tag, who, fields, headers in entries:
            await line.join(tag, who, *headers, **fields)
        return await line.served(gate)


@pytest.mark.parametrize("order", ["fair", "shortest", "fcfs"])
async def test_keys_have_priorities(order: str) -> None:
    told = await order_of(
        [
            ("batch", "batch", {}, ()),
            ("plain", "plain", {}, ()),
            ("vip", "vip", {}, ()),
        ],
        order,
    )
    assert told == ["vip", "plain", "batch"]


async def test_a_client_may_ask_for_less() -> None:
    told = await order_of(
        [
            ("less-by-body", "plain", {"priority": 3}, ()),
            ("least-by-header", "vip", {}, (("x-priority", "9"),)),
            ("plain", "plain", {}, ()),
            ("less-than-vip", "vip", {"priority": -2}, ()),
            ("vip", "vip", {}, ()),
        ]
    )
    expected = ["vip", "less-than-vip", "plain", "less-by-body", "least-by-header"]
    assert told == expected


async def test_nobody_gets_more_than_the_key_has() -> None:
    told = await order_of(
        [
            ("batch", "batch", {"priority": -10}, (("x-priority", "-10"),)),
            ("plain", "plain", {"priority": -1000}, ()),
            ("plain-2", "plain", {}, (("X-Priority", "-7"),)),
            ("vip", "vip", {}, ()),
        ],
        "fcfs",
    )
    assert told == ["vip", "plain", "plain-2", "batch"]


async def test_the_header_goes_before_the_body() -> None:
    told = await order_of(
        [
            ("late", "plain", {"priority": 1}, (("x-priority", " 8 "),)),
            ("soon", "plain", {"priority": 8}, (("x-priority", "1"),)),
        ]
    )
    assert told == ["soon", "late"]


@pytest.mark.parametrize("value", ["high", "1.5", "", "0x1", "--1", "1 2", "NaN", "٣x"])
async def test_a_header_that_is_no_number_is_refused(value: str) -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_slot(u1), **KEYS) as gateway:
        header = ("x-priority", value.encode().decode("latin-1"))
        for stream in (False, True):
            answer = await gateway.chat("m1", key("plain", header), stream=stream)
            assert (answer.status, answer.error["code"]) == (400, "invalid_header")
            assert "x-priority" in answer.error["message"]
        assert u1.requests == []


@pytest.mark.parametrize("value", ["high", 1.5, None, True, [1], {"a": 1}])
async def test_a_priority_in_the_body_that_is_none_is_for_the_engine_to_judge(value: Any) -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_slot(u1), **KEYS) as gateway:
        assert (await gateway.chat("m1", key("plain"), priority=value)).status == 200
        assert u1.requests[0].json()["priority"] == value


async def test_the_field_reaches_the_engine_as_it_was() -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_slot(u1), **KEYS) as gateway:
        assert (await gateway.chat("m1", key("batch"), priority=-3)).status == 200
        assert u1.requests[0].json()["priority"] == -3


@pytest.mark.parametrize("order", ["fair", "shortest"])
async def test_waiting_long_outweighs_priority(order: str) -> None:
    """A fresh one of little importance is behind; nobody passes an older equal of the same key."""
    told = await order_of([(str(n), "plain", {}, ()) for n in range(6)], order)
    assert told == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_flood_of_one_key_does_not_drown_another(stream: bool) -> None:
    """A comes with 50; B, who comes later with 2, is served long before A's last."""
    order: list[str] = []

    async def quick(exchange: Exchange) -> None:
        order.append(exchange.request.json()["metadata"]["tag"])
        await asyncio.sleep(0.03)
        await answers.usual(exchange)

    async with ScriptedUpstream("m1") as u1, running_gateway(one_slot(u1), **KEYS) as gateway:
        u1.handlers[CHAT] = quick

        def ask(who: str, tag: str) -> asyncio.Task[RawAnswer]:
            body = chat_request("m1", metadata={"tag": tag}, stream=stream, max_tokens=500)
            headers = [("Authorization", f"Bearer key-{who}")]
            return asyncio.create_task(gateway.post(CHAT, body, headers))

        flood = [ask("a", f"a{n}") for n in range(50)]
        await u1.until(lambda: len(order) >= 5)
        begun = len(order)
        few = [ask("c", f"b{n}") for n in range(2)]
        told = await asyncio.gather(*flood, *few)
        assert [answer.status for answer in told] == [200] * 52
        last = max(order.index("b0"), order.index("b1"))
        assert last < begun + 15, order


async def test_two_floods_are_served_in_turn() -> None:
    """Of any stretch in which both wait, each has about half."""
    order: list[str] = []

    async def quick(exchange: Exchange) -> None:
        order.append(exchange.request.json()["metadata"]["tag"])
        await asyncio.sleep(0.02)
        await answers.usual(exchange)

    async with ScriptedUpstream("m1") as u1, running_gateway(one_slot(u1), **KEYS) as gateway:
        u1.handlers[CHAT] = quick

        async def ask(who: str) -> None:
            body = chat_request("m1", metadata={"tag": who}, max_tokens=1000)
            headers = [("Authorization", f"Bearer key-{who}")]
            assert (await gateway.post(CHAT, body, headers)).status == 200

        flood = [asyncio.create_task(ask("a")) for _ in range(40)]
        await u1.until(lambda: order)
        others = [asyncio.create_task(ask("c")) for _ in range(20)]
        await asyncio.gather(*flood, *others)
        # The one that came with less is through while the other still has some to go.
        last = len(order) - 1 - order[::-1].index("c")
        assert last < 52, order
