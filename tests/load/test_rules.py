"""The simple rules do what their names say, and keep to the cap."""

import asyncio
from typing import Any

import pytest

from tests.cases.exposition import Exposed, Figures
from tests.e2e.emulated import CAP, graph, most_running, placing
from tests.support import answers, wire
from tests.support.gateway import CHAT, GatewayClient, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import eventually

RULES = ("round_robin", "least_inflight", "least_kv", "prefix", "weighted")


def pool(*upstreams: ScriptedUpstream, rule: str = "least_cost", **per_entry: Any) -> Tree:
    """The model m1 on u1, u2 and so on; `per_entry` has a list of values for each field."""
    names = [f"u{number}" for number in range(1, len(upstreams) + 1)]
    entries = [
        backend(name, one, max_num_seqs=16, **{k: v[index] for k, v in per_entry.items()})
        for index, (name, one) in enumerate(zip(names, upstreams, strict=True))
    ]
    public = model("m1", *names, placement=rule)
    return routes(entries, [public], health={"canary": False})


class Hold:
    """Holds requests at a backend until it is let go."""

    def __init__(self) -> None:
        self.let_go = asyncio.Event()

    async def __call__(self, exchange: Exchange) -> None:
        await self.let_go.wait()
        await answers.usual(exchange)


def counts(*upstreams: ScriptedUpstream) -> list[int]:
    return [len(one.requests) for one in upstreams]


async def held(
    gateway: GatewayClient, count: int, *upstreams: ScriptedUpstream, **fields: Any
) -> list[asyncio.Task[RawAnswer]]:
    """So many requests, each sent once the one before has reached a backend."""
    tasks: list[asyncio.Task[RawAnswer]] = []
    before = sum(counts(*upstreams))
    for number in range(1, count + 1):
        messages = [{"role": "user", "content": f"Story {number}"}]
        asked = gateway.chat("m1", **{"messages": messages, **fields})
        tasks.append(asyncio.create_task(asked))

        async def has_come(wanted: int = before + number) -> bool:
            return sum(counts(*upstreams)) == wanted

        await eventually(has_come)
    return tasks


async def test_round_robin_goes_round() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        ScriptedUpstream("m1") as u3,
        running_gateway(pool(u1, u2, u3, rule="round_robin")) as gateway,
    ):
        for rounds in range(1, 5):
            for _ in range(3):
                assert (await gateway.chat("m1")).status == 200
            assert counts(u1, u2, u3) == [rounds] * 3


async def test_least_inflight_evens_out() -> None:
    hold = Hold()
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        ScriptedUpstream("m1") as u3,
        running_gateway(pool(u1, u2, u3, rule="least_inflight")) as gateway,
    ):
        for one in (u1, u2, u3):
            one.handlers[CHAT] = hold
        tasks = []
        for each in range(1, 4):
            tasks += await held(gateway, 3, u1, u2, u3)
            assert counts(u1, u2, u3) == [each] * 3
        hold.let_go.set()
        assert {(await task).status for task in tasks} == {200}


@pytest.mark.parametrize("rule", ["weighted", "least_inflight"])
async def test_weights_are_kept(rule: str) -> None:
    """Three to one, at any number of requests at once."""
    hold = Hold()
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_gateway(pool(u1, u2, rule=rule, weight=[3.0, 1.0])) as gateway,
    ):
        u1.handlers[CHAT] = u2.handlers[CHAT] = hold
        tasks = await held(gateway, 12, u1, u2)
        first, second = counts(u1, u2)
        assert 8 <= first <= 10, (first, second)
        hold.let_go.set()
        assert {(await task).status for task in tasks} == {200}


async def test_least_kv_goes_where_memory_is_free() -> None:
    """By what the engines tell of themselves: requests do not count, tokens do."""
    seen = [
        Exposed(Figures(running=2, kv_ratio=0.8, kv_tokens=100_000)),
        Exposed(Figures(running=6, kv_ratio=0.1, kv_tokens=100_000)),
    ]
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers["/metrics"], u2.handlers["/metrics"] = seen
        config = pool(u1, u2, rule="least_kv")
        async with running_gateway(config, scrape_interval_s=0.1) as gateway:
            await eventually(lambda: looked(seen, 3))
            for _ in range(12):
                assert (await gateway.chat("m1")).status == 200
            assert counts(u1, u2) == [0, 12]
            seen[0].change(kv_ratio=0.05)
            seen[1].change(kv_ratio=0.9)
            least = 3 + max(one.looks for one in seen)
            await eventually(lambda: looked(seen, least))
            for _ in range(12):
                assert (await gateway.chat("m1")).status == 200
            assert counts(u1, u2) == [12, 12]


async def looked(seen: list[Exposed], least: int) -> bool:
    return all(one.looks >= least for one in seen)


async def test_least_kv_counts_our_own_prompts() -> None:
    """One long prompt weighs more than several short ones, long before a look could tell."""
    hold = Hold()
    seen = [Exposed(Figures(kv_tokens=100_000)) for _ in range(2)]
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        for one, exposed in zip((u1, u2), seen, strict=True):
            one.handlers.update({"/metrics": exposed, CHAT: hold})
        config = pool(u1, u2, rule="least_kv")
        async with running_gateway(config, scrape_interval_s=0.5) as gateway:
            await eventually(lambda: looked(seen, 2))
            messages = [{"role": "user", "content": "word " * 3000}]
            tasks = await held(gateway, 1, u1, u2, messages=messages)
            long_at = counts(u1, u2).index(1)
            tasks += await held(gateway, 6, u1, u2)
            assert counts(u1, u2)[1 - long_at] == 6
            hold.let_go.set()
            assert {(await task).status for task in tasks} == {200}


async def test_prefix_goes_where_the_beginning_is_known() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        ScriptedUpstream("m1") as u3,
        running_gateway(pool(u1, u2, u3, rule="prefix")) as gateway,
    ):
        used: set[int] = set()
        for document in range(12):
            text = f"Document {document}. " + "All of it matters. " * 200
            at: set[int] = set()
            for question in range(4):
                before = counts(u1, u2, u3)
                messages = [
                    {"role": "system", "content": text},
                    {"role": "user", "content": f"Question {question}"},
                ]
                assert (await gateway.chat("m1", messages=messages)).status == 200
                after = counts(u1, u2, u3)
                at.add([a - b for a, b in zip(after, before, strict=True)].index(1))
            assert len(at) == 1, f"document {document} was read at {at}"
            used |= at
        assert len(used) > 1, "all documents at one backend"


@pytest.mark.parametrize("rule", RULES)
async def test_every_rule_keeps_to_the_cap_and_lets_wait(rule: str) -> None:
    async with placing(graph("a"), graph("b"), model_fields={"placement": rule}) as (
        gateway,
        fleet,
    ):
        told = await asyncio.gather(
            *(
                gateway.chat(
                    "pub",
                    messages=[{"role": "user", "content": f"Story {n}"}],
                    stream=n % 2 == 0,
                    max_tokens=40,
                )
                for n in range(24)
            )
        )
        assert {answer.status for answer in told} == {200}
        assert all(a.events[-1] == wire.DONE for n, a in enumerate(told) if n % 2 == 0)
        assert most_running(fleet) == {"a": CAP, "b": CAP}
