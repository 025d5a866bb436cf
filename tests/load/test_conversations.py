"""Requests that belong together stay at one backend while loads are equal, and yield to load."""

import asyncio
from typing import Any

import pytest

from gateway.emulator.fleet import EmulatedFleet
from tests.e2e.emulated import graph, placing, served
from tests.support import shapes, wire
from tests.support.gateway import running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import Exchange, ScriptedUpstream


def pool(*upstreams: ScriptedUpstream) -> Tree:
    """The model m1 on u1, u2 and so on."""
    names = [f"u{number}" for number in range(1, len(upstreams) + 1)]
    entries = [backend(name, one) for name, one in zip(names, upstreams, strict=True)]
    return routes(entries, [model("m1", *names)], health={"canary": False})


def counts(*upstreams: ScriptedUpstream) -> list[int]:
    return [len(one.requests) for one in upstreams]


def homes_of(fleet: EmulatedFleet, sign: str) -> set[str]:
    """The backends that had requests with this text in them."""
    return {
        b.spec.name
        for b in fleet.backends
        if any(sign.encode() in record.body for record in b.live.records)
    }


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("how", ["header", "user"])
async def test_a_conversation_stays(how: str, stream: bool) -> None:
    """Prompts that share nothing, one after the other: only the mark tells where they belong."""
    async with placing(graph("a"), graph("b"), graph("c")) as (gateway, fleet):
        used: set[str] = set()
        for number in range(8):
            headers = [("x-session-id", f"s{number}")] if how == "header" else []
            fields: dict[str, Any] = {} if how == "header" else {"user": f"s{number}"}
            for turn in range(5):
                text = f"{turn} times I say: conversation-{number}-"
                messages = [{"role": "user", "content": text}]
                answer = await gateway.chat(
                    "pub", headers, messages=messages, stream=stream, max_tokens=5, **fields
                )
                assert answer.status == 200
            homes = homes_of(fleet, f"conversation-{number}-")
            assert len(homes) == 1, f"conversation {number} was at {homes}"
            used |= homes
        assert len(used) > 1, await gateway.health()


async def test_a_conversation_yields_to_load() -> None:
    """All requests say that they belong together; still the other backend helps."""
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        mark = [("x-session-id", "one-for-all")]
        told = await asyncio.gather(
            *(
                gateway.chat(
                    "pub",
                    mark,
                    messages=[{"role": "user", "content": f"Story {n}"}],
                    max_tokens=60,
                )
                for n in range(16)
            )
        )
        assert {answer.status for answer in told} == {200}
        assert min(served(fleet).values()) >= 4, served(fleet)


async def test_marks_of_two_keys_are_two_conversations() -> None:
    """The same mark under another key tells nothing of where the first one is."""
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        config = pool(u1, u2)
        async with running_gateway(config, client_keys=("a=key-a", "b=key-b")) as gateway:
            places: dict[str, set[int]] = {"a": set(), "b": set()}
            for number in range(24):
                for who, at in places.items():
                    headers = [
                        ("Authorization", f"Bearer key-{who}"),
                        ("x-session-id", f"{number}"),
                    ]
                    before = counts(u1, u2)
                    assert (await gateway.chat("m1", headers)).status == 200
                    first = counts(u1, u2)[0] - before[0]
                    at.add(first if number % 2 else 1 - first)
            assert places == {"a": {0, 1}, "b": {0, 1}}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_stored_answer_is_continued_where_it_is(stream: bool) -> None:
    """The Responses API: only the backend that gave the answer knows what was said before."""
    known: dict[int, set[str]] = {}

    async def storing(exchange: Exchange) -> None:
        port = exchange.upstream.port
        kept = known.setdefault(port, set())
        body = exchange.request.json()
        before = body.get("previous_response_id")
        if before is not None and before not in kept:
            error = {"message": f"Response with id '{before}' not found.", "code": 404}
            await exchange.answer(404, wire.compact({"error": error}))
            return
        made = f"resp_{port}_{len(kept)}"
        kept.add(made)
        told = shapes.plain_bodies("m1")["/v1/responses"]
        if body.get("stream"):
            events = shapes.response_events("m1")
            renamed = [one.replace(told["id"].encode(), made.encode()) for one in events]
            await exchange.stream(renamed)
        else:
            await exchange.answer(200, wire.compact({**told, "id": made}))

    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        u1.handlers["/v1/responses"] = u2.handlers["/v1/responses"] = storing
        async with running_gateway(pool(u1, u2)) as gateway:
            for number in range(6):
                previous: dict[str, Any] = {}
                for turn in range(5):
                    body = {"model": "m1", "input": f"{number} {turn}", "stream": stream}
                    answer = await gateway.post("/v1/responses", {**body, **previous})
                    assert answer.status == 200, answer.body
                    previous = {"previous_response_id": response_id(answer, stream)}
            assert min(counts(u1, u2)) > 0
            assert sum(counts(u1, u2)) == 30, "somebody was asked in vain"


def response_id(answer: RawAnswer, stream: bool) -> str:
    told = wire.event_json(answer.events[-1])["response"] if stream else answer.json()
    return str(told["id"])
