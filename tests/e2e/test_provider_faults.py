"""The classic faults of a provider, each with a fallback model configured.

`m1` is served by u1, and by u2 where a test starts it; `f1`, the fallback model, by f. Every fault
ends in the complete answer of somebody, or in the right error.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import openai
import pytest

from tests.support import answers, wire
from tests.support.clients import openai_client
from tests.support.gateway import CHAT, GatewayClient, running_gateway
from tests.support.routing import backend, model, routes
from tests.support.upstream import Exchange, Handler, ScriptedUpstream

TEXT = "".join(answers.TEXT)
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
MESSAGES: Any = [{"role": "user", "content": "hi"}]


class Stage(NamedTuple):
    gateway: GatewayClient
    client: openai.AsyncOpenAI
    u1: ScriptedUpstream
    u2: ScriptedUpstream
    f: ScriptedUpstream


@asynccontextmanager
async def stage(u1: Handler, *, has_u2: bool = False, **fields: Any) -> AsyncIterator[Stage]:
    first, second = ScriptedUpstream("m1"), ScriptedUpstream("m1")
    async with first, second, ScriptedUpstream("f1", max_model_len=32768) as f:
        first.handlers[CHAT] = u1
        names = ["u1", "u2"] if has_u2 else ["u1"]
        config = routes(
            [backend("u1", first), backend("u2", second, enabled=has_u2), backend("f", f)],
            [model("m1", *names, fallback_models=["f1"], **fields), model("f1", "f")],
        )
        async with running_gateway(config) as gateway, openai_client(gateway) as client:
            yield Stage(gateway, client, first, second, f)


async def ask(client: openai.AsyncOpenAI, stream: bool) -> tuple[str, str, str | None]:
    """The text, the model that answered and the finish reason, as the official client has them."""
    if not stream:
        answer = await client.chat.completions.create(model="m1", messages=MESSAGES)
        choice = answer.choices[0]
        return choice.message.content or "", answer.model, choice.finish_reason
    text, name, finish = "", "", None
    chunks = await client.chat.completions.create(model="m1", messages=MESSAGES, stream=True)
    async for chunk in chunks:
        name = chunk.model
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
    return text, name, finish


async def until_asked(
    upstream: ScriptedUpstream, client: openai.AsyncOpenAI, stream: bool
) -> set[tuple[str, str, str | None]]:
    """All answers until the backend has been asked: which of two gets a request is by chance."""
    found = set()
    while not upstream.requests:
        found.add(await ask(client, stream))
    return found


def first_times(count: int, fault: Handler) -> Handler:
    """The fault for the first requests, then the usual answer."""
    left = [count]

    async def answer(exchange: Exchange) -> None:
        left[0] -= 1
        await (fault if left[0] >= 0 else answers.usual)(exchange)

    return answer


def refuses(status: int, message: str = "no", headers: wire.HeaderList = ()) -> Handler:
    async def answer(exchange: Exchange) -> None:
        error = {"message": message, "type": "T", "param": None, "code": status}
        await exchange.answer(status, wire.compact({"error": error}), headers=headers)

    return answer


async def reset(exchange: Exchange) -> None:
    exchange.reset()


async def silence(exchange: Exchange) -> None:
    await exchange.peer_closed()


def begins(events: int, then: Handler) -> Handler:
    """A stream, or half a body, and then something else."""

    async def answer(exchange: Exchange) -> None:
        if exchange.request.json().get("stream"):
            await exchange.start_stream()
            for event in answers.chat_events("m1")[:events]:
                await exchange.event(event)
        else:
            body = answers.chat_body("m1")
            lines = [("content-type", "application/json"), ("content-length", str(len(body)))]
            await exchange.write(wire.head(200, lines) + body[: len(body) // 2])
        await then(exchange)

    return answer


@STREAMS
async def test_429_with_retry_after_is_waited_for(stream: bool) -> None:
    fault = first_times(1, refuses(429, headers=[("retry-after", "1")]))
    async with stage(fault) as on:
        assert await ask(on.client, stream) == (TEXT, "m1", "stop")
        assert (len(on.u1.requests), len(on.f.requests)) == (2, 0)


@STREAMS
async def test_429_that_stays_goes_to_the_fallback(stream: bool) -> None:
    async with stage(refuses(429)) as on:
        assert await ask(on.client, stream) == (TEXT, "f1", "stop")
        assert len(on.u1.requests) == 2
        assert (await on.gateway.health())["backends"]["u1"]["breaker"] == "closed"


@STREAMS
async def test_one_500_is_tried_again(stream: bool) -> None:
    async with stage(first_times(1, refuses(500))) as on:
        assert await ask(on.client, stream) == (TEXT, "m1", "stop")
        assert len(on.f.requests) == 0


@STREAMS
async def test_503_that_stays_goes_to_the_fallback(stream: bool) -> None:
    async with stage(refuses(503)) as on:
        assert await ask(on.client, stream) == (TEXT, "f1", "stop")


@STREAMS
async def test_a_reset_goes_elsewhere(stream: bool) -> None:
    async with stage(reset) as on:
        assert await ask(on.client, stream) == (TEXT, "f1", "stop")
        # It may have run there, so it is not asked again.
        assert len(on.u1.requests) == 1


@STREAMS
async def test_silence_moves_once_where_the_model_says_so(stream: bool) -> None:
    fields = {"timeouts": {"first_byte_s": 1.0}, "on_first_byte_limit": "move"}
    async with stage(silence, **fields) as on:
        assert await ask(on.client, stream) == (TEXT, "f1", "stop")
        await on.u1.until(lambda: on.u1.live == 0)


@STREAMS
async def test_a_slow_first_token_is_waited_for(stream: bool) -> None:
    release = asyncio.Event()

    async def slow(exchange: Exchange) -> None:
        await release.wait()
        await answers.usual(exchange)

    async with stage(slow, has_u2=True) as on:
        on.u2.handlers[CHAT] = slow
        asking = asyncio.create_task(ask(on.client, stream))
        await on.u1.until(lambda: on.u1.requests or on.u2.requests)
        # As many looks at both backends as it takes to be sure that slow is not taken for dead.
        before = len(on.u1.probes)
        for upstream in (on.u1, on.u2):
            await on.gateway.health()
            assert len(upstream.probes) >= 1
        release.set()
        assert await asking == (TEXT, "m1", "stop")
        assert len(on.u1.requests) + len(on.u2.requests) == 1
        assert len(on.f.requests) == 0
        assert before >= 1


@STREAMS
async def test_a_cut_is_made_good(stream: bool) -> None:
    async with stage(begins(2, reset), has_u2=True) as on:
        on.u2.handlers[CHAT] = goes_on(1)
        assert await until_asked(on.u1, on.client, stream) == {(TEXT, "m1", "stop")}


@STREAMS
async def test_a_stall_is_made_good(stream: bool) -> None:
    fields = {"timeouts": {"between_events_s": 1.0}}
    async with stage(begins(2, silence), has_u2=True, **fields) as on:
        on.u2.handlers[CHAT] = goes_on(1)
        on.u1.treats_canary_alike = False
        results = []
        while not on.u1.requests:
            results.append(await asked(on.client, stream))
        if stream:
            assert {r for r in results if isinstance(r, tuple)} == {(TEXT, "m1", "stop")}
            assert not [r for r in results if isinstance(r, Exception)]
        else:
            # Slow is not dead: a body that stops is a time-out, not a reason to ask twice.
            assert {r.status_code for r in results if isinstance(r, openai.APIStatusError)} <= {504}


async def asked(client: openai.AsyncOpenAI, stream: bool) -> Any:
    try:
        return await ask(client, stream)
    except openai.APIStatusError as error:
        return error


@STREAMS
async def test_a_malformed_event_is_made_good(stream: bool) -> None:
    async def malformed(exchange: Exchange) -> None:
        if exchange.request.json().get("stream"):
            await exchange.event(b"data: {broken\n\n")
            await exchange.end_stream()

    async def broken_whole(exchange: Exchange) -> None:
        if exchange.request.json().get("stream"):
            await begins(2, malformed)(exchange)
        else:
            await exchange.answer(200, b'{"choices": [')

    async with stage(broken_whole, has_u2=True) as on:
        on.u2.handlers[CHAT] = goes_on(1)
        assert await until_asked(on.u1, on.client, stream) == {(TEXT, "m1", "stop")}


async def test_no_done_after_a_finish_is_a_whole_answer() -> None:
    async def unmarked(exchange: Exchange) -> None:
        await exchange.start_stream()
        for event in answers.chat_events("m1")[:-1]:
            await exchange.event(event)
        await exchange.end_stream()

    async with stage(unmarked) as on:
        answer = await on.gateway.chat("m1", stream=True)
        assert answer.events == answers.chat_events("m1")
        assert len(on.f.requests) == 0


@STREAMS
async def test_context_too_long_goes_to_a_longer_one(stream: bool) -> None:
    told = "This model's maximum context length is 4096 tokens. However, you asked for 9000."
    async with stage(refuses(400, told)) as on:
        assert await ask(on.client, stream) == (TEXT, "f1", "stop")
        assert len(on.u1.requests) == 1
        assert (await on.gateway.health())["backends"]["u1"]["state"] == "up"


@STREAMS
async def test_a_refusal_of_the_content_goes_to_the_client(stream: bool) -> None:
    async with stage(refuses(400, "content policy violation"), has_u2=True) as on:
        on.u2.handlers[CHAT] = on.u1.handlers[CHAT]
        with pytest.raises(openai.BadRequestError, match="content policy"):
            await ask(on.client, stream)
        assert len(on.u1.requests) + len(on.u2.requests) == 1
        assert len(on.f.requests) == 0


def goes_on(sent: int, *, refuses_prefill: bool = False, texts: tuple[str, ...] = ()) -> Handler:
    """Continues after `sent` texts when asked to, as an engine does; else answers as usual."""
    all_texts = texts or tuple(answers.TEXT)

    async def answer(exchange: Exchange) -> None:
        asked = exchange.request.json()
        if asked.get("continue_final_message"):
            assert asked["add_generation_prompt"] is False
            assert asked["messages"][-1] == {
                "role": "assistant",
                "content": "".join(answers.TEXT[:sent]),
            }
            if refuses_prefill:
                await refuses(400, "prefill is not supported")(exchange)
                return
            await exchange.stream(answers.chat_events("m1", all_texts[sent:]))
        elif texts and asked.get("stream"):
            await exchange.stream(answers.chat_events("m1", texts))
        else:
            await answers.usual(exchange)

    return answer


async def test_a_cut_whose_successor_refuses_prefill_is_replayed() -> None:
    async with stage(begins(3, reset), has_u2=True) as on:
        on.u2.handlers[CHAT] = goes_on(2, refuses_prefill=True)
        assert await until_asked(on.u1, on.client, True) == {(TEXT, "m1", "stop")}


async def test_a_cut_that_nobody_can_continue_tells_the_first_failure() -> None:
    async with stage(begins(3, reset), has_u2=True) as on:
        on.u2.handlers[CHAT] = goes_on(2, refuses_prefill=True, texts=("Quite ", "different"))
        failures: list[str] = []
        while not on.u1.requests:
            try:
                await ask(on.client, True)
            except openai.APIError as error:
                failures.append(str(error))
        assert failures
        assert all("'u1'" in told and "prefill" not in told for told in failures)
        assert len(on.f.requests) == 0


@STREAMS
async def test_a_flapping_primary_costs_nobody_an_answer(stream: bool) -> None:
    turns = [0]

    async def flaps(exchange: Exchange) -> None:
        turns[0] += 1
        await (answers.usual if turns[0] % 3 == 0 else refuses(500))(exchange)

    async with stage(flaps) as on:
        for _ in range(20):
            text, name, finish = await ask(on.client, stream)
            assert (text, finish) == (TEXT, "stop")
            assert name in ("m1", "f1")


async def test_the_model_that_answered_is_accounted_for() -> None:
    async with stage(refuses(503)) as on:
        answer = await on.gateway.chat("m1")
        assert answer.json()["model"] == "f1"
        metrics = await on.gateway.metrics()
        assert metrics.total("gateway_backend_attempts_total", backend="f") == 1
        assert metrics.total("gateway_recoveries_total", model="m1", kind="retry") >= 1


async def test_429_of_a_whole_pool_is_waited_for() -> None:
    """All say when they are free again: nobody is asked before."""
    async with stage(
        first_times(1, refuses(429, headers=[("retry-after", "1")])), has_u2=True
    ) as on:
        on.u2.handlers[CHAT] = first_times(1, refuses(429, headers=[("retry-after", "1")]))
        assert await ask(on.client, False) == (TEXT, "m1", "stop")
        assert len(on.u1.requests) + len(on.u2.requests) == 3
        assert len(on.f.requests) == 0


async def test_a_clients_mistakes_do_not_make_a_broken_backend_well() -> None:
    async def breaks(exchange: Exchange) -> None:
        bad = b"bad" in exchange.request.body
        await refuses(400 if bad else 500)(exchange)

    async with stage(breaks) as on:
        for user in ("", "bad") * 3:
            await on.gateway.chat("m1", user=user)
        told = (await on.gateway.health())["backends"]["u1"]
        assert (told["state"], told["breaker"]) != ("up", "closed")


async def test_a_stream_that_a_fallback_model_serves_is_resumed_too() -> None:
    names = ("u1", "f", "g")
    u1, f, g = ScriptedUpstream("m1"), ScriptedUpstream("f1"), ScriptedUpstream("f1")
    config = routes(
        [backend(n, u) for n, u in zip(names, (u1, f, g), strict=True)],
        [model("m1", "u1", fallback_models=["f1"]), model("f1", "f", "g")],
    )
    async with u1, f, g, running_gateway(config) as gateway, openai_client(gateway) as client:
        u1.handlers[CHAT] = refuses(503)
        f.handlers[CHAT] = begins(2, reset)
        g.handlers[CHAT] = goes_on(1)
        assert await until_asked(f, client, True) == {(TEXT, "f1", "stop")}


async def test_a_silent_tokenizer_holds_no_resumption_up() -> None:
    """Without its count the events are counted."""
    async with stage(begins(2, reset), has_u2=True) as on:
        on.u2.handlers["/tokenize"] = silence
        on.u2.handlers[CHAT] = goes_on(1)
        while not on.u1.requests:
            answer = await on.gateway.chat("m1", stream=True, max_tokens=50)
            assert answer.events[-1] == wire.DONE
        asked = [r for r in on.u2.requests if r.path == CHAT and b"continue_final" in r.body]
        assert [r.json()["max_tokens"] for r in asked] == [49]
