"""GET /admin/explain of requests that wait, move, fail or are refused, over sockets."""

import asyncio
from typing import Any

import pytest

from gateway.emulator.faults import Fault, FaultKind
from tests.e2e.emulated import graph, leave, placing, until_running, until_state
from tests.support import wire
from tests.support.gateway import CHAT, JSON, GatewayClient, chat_request
from tests.support.waiting import eventually


async def explain(gateway: GatewayClient, request_id: str, **query: str) -> Any:
    """What is known of a request, as JSON."""
    more = "".join(f"&{name}={value}" for name, value in query.items())
    answer = await gateway.get(f"/admin/explain?request_id={request_id}{more}")
    assert answer.status == 200, answer.body
    return answer.body.decode() if query else answer.json()


def marked(request_id: str) -> list[tuple[str, str]]:
    return [("X-Request-Id", request_id)]


async def busy(gateway: GatewayClient, count: int) -> list[asyncio.Task[Any]]:
    """Streams that run until they are cancelled."""
    fields: dict[str, Any] = {"max_tokens": 4000, "ignore_eos": True, "stream": True}
    return [asyncio.create_task(gateway.chat("pub", **fields)) for _ in range(count)]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_request_that_was_placed_at_once(stream: bool) -> None:
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        assert (await gateway.chat("pub", marked("r-1"), stream=stream, max_tokens=5)).status == 200
        told = await explain(gateway, "r-1")
        assert (told["status"], told["model"], told["is_running"]) == (200, "pub", False)
        assert (told["waited_s"], told["position"], told["waits"]) == (0, None, [])
        (decision,) = told["decisions"]
        (attempt,) = told["attempts"]
        assert decision["chosen"] == attempt["backend"]
        assert attempt["outcome"] == "answered"
        assert [one["backend"] for one in decision["backends"]] == ["a", "b"]
        assert all(one.get("refused") is None for one in decision["backends"])
        assert fleet[attempt["backend"]].live.requests_seen > 0


async def test_one_that_waits_says_so_while_it_waits() -> None:
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        tasks = await busy(gateway, 8)
        for name in ("a", "b"):
            await until_running(fleet, name, 4)
        waiting = asyncio.create_task(gateway.chat("pub", marked("r-2"), max_tokens=3))

        async def waits() -> bool:
            return bool((await gateway.health())["models"]["pub"]["waiting"] == 1)

        await eventually(waits)
        told = await explain(gateway, "r-2")
        assert (told["is_running"], told["status"], told["position"]) == (True, None, 1)
        (wait,) = told["waits"]
        assert not wait["is_over"]
        full = {one["backend"]: (one["running"], one["cap"]) for one in wait["full"]}
        assert full == {"a": (4, 4), "b": (4, 4)}
        assert (told["decisions"], told["attempts"]) == ([], [])
        for lang in ("en", "zh"):
            assert "r-2" in await explain(gateway, "r-2", format="text", lang=lang)
        await leave(tasks)
        assert (await waiting).status == 200
        told = await explain(gateway, "r-2")
        assert told["waits"][0]["is_over"]
        assert told["waited_s"] > 0
        assert told["decisions"][-1]["chosen"] in ("a", "b")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_one_that_moved(stream: bool) -> None:
    """Both attempts, and the first backend as already asked."""
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        for one in fleet.backends:
            one.set_fault(Fault(FaultKind.STATUS_500, count=1))
        fleet["b"].clear_faults()
        answers = []
        for number in range(30):
            mark = marked(f"r-{number}")
            answers.append(await gateway.chat("pub", mark, stream=stream, max_tokens=3))
            if not fleet["a"].faults.all():
                break
        assert {answer.status for answer in answers} == {200}
        told = await explain(gateway, f"r-{len(answers) - 1}")
        assert [one["backend"] for one in told["attempts"]] == ["a", "b"]
        assert [one["outcome"] for one in told["attempts"]][1] == "answered"
        assert told["attempts"][0]["outcome"] != "answered"
        last = told["decisions"][-1]
        assert (last["chosen"], last["tried"]) == ("b", ["a"])
        refused = {one["backend"]: one["refused"] for one in last["backends"] if one.get("refused")}
        assert refused["a"]["why"] == "tried"


async def test_one_that_nobody_could_take() -> None:
    async with placing(graph("a"), graph("b"), probe_interval_s=0.2) as (gateway, fleet):
        for one in fleet.backends:
            one.set_fault(Fault(FaultKind.ENGINE_DEAD, delay_s=0.0))
        for name in ("a", "b"):
            await until_state(gateway, name, "down")
        assert (await gateway.chat("pub", marked("r-3"))).status == 503
        told = await explain(gateway, "r-3")
        assert (told["status"], told["code"]) == (503, "no_backend_available")
        (decision,) = told["decisions"]
        assert decision["chosen"] is None
        assert [one["refused"]["why"] for one in decision["backends"]] == ["down", "down"]
        assert all(one["refused"]["detail"] for one in decision["backends"])
        assert told["attempts"] == []


async def test_one_that_was_refused_for_want_of_room_and_one_whose_client_left() -> None:
    async with placing(graph("a"), fields={"queue": {"max_requests": 1}}) as (gateway, fleet):
        tasks = await busy(gateway, 4)
        await until_running(fleet, "a", 4)
        async with gateway.connect() as connection:
            body = wire.compact(chat_request("pub"))
            await connection.request("POST", CHAT, [JSON, *marked("r-4")], body)

            async def waits() -> bool:
                return bool((await gateway.health())["models"]["pub"]["waiting"] == 1)

            await eventually(waits)
            assert (await gateway.chat("pub", marked("r-5"))).status == 429

        async def is_over() -> Any:
            told = await explain(gateway, "r-4")
            return None if told["is_running"] else told

        gone = await eventually(is_over)
        assert gone["status"] == 499
        assert gone["attempts"] == []
        assert gone["waited_s"] > 0
        told = await explain(gateway, "r-5")
        assert (told["status"], told["code"]) == (429, "overloaded")
        assert told["error"]
        await leave(tasks)


async def test_what_the_winner_won_by() -> None:
    """The other one is busy, which costs the more."""
    async with placing(graph("a"), graph("b")) as (gateway, fleet):
        tasks = await busy(gateway, 1)

        async def where() -> str | None:
            running = [b.spec.name for b in fleet.backends if b.live.driver.engine.running]
            return running[0] if running else None

        taken = await eventually(where)
        messages = [{"role": "user", "content": "word " * 600}]
        answer = await gateway.chat("pub", marked("r-6"), messages=messages, max_tokens=400)
        assert answer.status == 200
        (decision,) = (await explain(gateway, "r-6"))["decisions"]
        assert decision["chosen"] != taken
        assert decision["decided_by"]["against"] == taken
        assert decision["decided_by"]["cost_s"] < decision["decided_by"]["against_cost_s"]
        await leave(tasks)
