"""Reports about streams: what is relayed, and how a broken one looks to a client."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import openai
import pytest

from tests.support import answers, names, wire
from tests.support.clients import openai_client
from tests.support.gateway import CHAT, GatewayClient, running_gateway
from tests.support.routing import one_model
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import eventually

MESSAGES: Any = [{"role": "user", "content": "hi"}]
Ending = Callable[[Exchange], Awaitable[None]]


async def by_reset(exchange: Exchange) -> None:
    exchange.reset()


async def by_fin(exchange: Exchange) -> None:
    exchange.close()


async def by_clean_end(exchange: Exchange) -> None:
    await exchange.end_stream()


async def by_done_without_finish(exchange: Exchange) -> None:
    await exchange.event(wire.DONE)
    await exchange.end_stream()


async def by_half_an_event(exchange: Exchange) -> None:
    await exchange.event(b'data: {"id":"chatcmpl-1","choices":[{"del')
    await exchange.end_stream()


ENDINGS: list[Ending] = [by_reset, by_fin, by_clean_end, by_done_without_finish, by_half_an_event]


def cut_after_three(ending: Ending) -> Callable[[Exchange], Awaitable[None]]:
    async def cut(exchange: Exchange) -> None:
        await exchange.start_stream()
        for one in answers.chat_events("m1")[:4]:
            await exchange.event(one)
        await ending(exchange)

    return cut


async def failures(gateway: GatewayClient) -> float:
    return (await gateway.metrics()).total(names.BACKEND_FAILURES, backend="u1")


@pytest.mark.case("stream-cut-1")
@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.__name__)
@pytest.mark.parametrize("public", ["m1", "alias"])
async def test_stream_cut_1(ending: Ending, public: str) -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, public)) as gateway:
        u1.handlers[CHAT] = cut_after_three(ending)
        before = await failures(gateway)
        async with openai_client(gateway) as client:
            stream = await client.chat.completions.create(
                model=public, messages=MESSAGES, stream=True
            )
            texts = []
            with pytest.raises(openai.APIError):
                async for part in stream:
                    texts.append(part.choices[0].delta.content)  # noqa: PERF401 - it raises
            await stream.close()
        assert texts == ["", "Hello", " from", " the"]

        async def is_counted() -> bool:
            return await failures(gateway) == before + 1

        await eventually(is_counted)
        raw = await gateway.chat(public, stream=True)
        assert (raw.status, raw.is_complete) == (200, True)
        assert b"[DONE]" not in raw.body
        assert raw.events[:4] == answers.chat_events(public)[:4]
        assert len(raw.events) == 5
        assert wire.event_json(raw.events[4])["error"]["code"] == "backend_stream_cut"
        await gateway.until_idle()


@pytest.mark.case("stream-usage-1")
async def test_stream_usage_1() -> None:
    variants: list[dict[str, Any]] = [
        {"stream": True, "stream_options": {"include_usage": True}},
        {"stream": True, "stream_options": {}},
        {"stream": True, "stream_options": None},
        {"stream": True},
        {"stream": False},
    ]
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        for fields in variants:
            answer = await gateway.chat("m1", **fields)
            assert answer.status == 200
            sent = u1.requests[-1].json()
            assert ("stream_options" in sent) == ("stream_options" in fields)
            assert sent.get("stream_options") == fields.get("stream_options")
            if not fields["stream"]:
                continue
            wants = bool((fields.get("stream_options") or {}).get("include_usage"))
            assert answer.events == answers.chat_events("m1", usage=wants)
            assert (b'"choices":[]' in answer.events[-2]) == wants
            assert answer.events[-1] == wire.DONE


@pytest.mark.case("stream-text-1")
@pytest.mark.parametrize("public", ["m1", "别名"])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
async def test_stream_text_1(public: str, line_end: bytes) -> None:
    text = "你好，世界🙂"

    def stream_bytes(model: str) -> bytes:
        return b"".join(answers.chat_events(model, [text])).replace(b"\n", line_end)

    async def dribble(exchange: Exchange) -> None:
        await exchange.start_stream()
        whole = b"".join(wire.chunk(stream_bytes("m1")[at : at + 1]) for at in range(size))
        step = 1 if line_end == b"\n" else 3
        for at in range(0, len(whole), step):
            await exchange.write(whole[at : at + step])
            await asyncio.sleep(0)
        await exchange.end_stream()

    size = len(stream_bytes("m1"))
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, public)) as gateway:
        u1.handlers[CHAT] = dribble
        answer = await gateway.chat(public, stream=True)
        assert answer.is_complete
        assert answer.body == stream_bytes(public)
        assert "\ufffd" not in answer.body.decode()
        assert text in answer.body.decode()


@pytest.mark.case("stream-frame-1")
@pytest.mark.parametrize("public", ["m1", "alias"])
@pytest.mark.parametrize("size_mib", [3, 7])
async def test_stream_frame_1(public: str, size_mib: int) -> None:
    arguments = "x" * (size_mib << 20)
    call = {"index": 0, "function": {"arguments": arguments}}

    def events(model: str) -> list[bytes]:
        big = answers.chat_event(model, {"tool_calls": [call]})
        return [big, *answers.chat_events(model)]

    async def big(exchange: Exchange) -> None:
        await exchange.start_stream()
        for one in events("m1"):
            for at in range(0, len(one), 65536):
                await exchange.event(one[at : at + 65536])
        await exchange.end_stream()

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, public)) as gateway:
        u1.handlers[CHAT] = big
        answer = await gateway.chat(public, stream=True)
        # Compared by parts: a failing comparison of megabytes takes minutes to show.
        assert len(answer.body) == len(b"".join(events(public)))
        assert (answer.body == b"".join(events(public))) is True
        assert answer.events[-1] == wire.DONE


async def test_an_event_over_the_cap_ends_in_an_error_event() -> None:
    """An event that never ends must not be kept for ever."""

    async def endless(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.event(answers.chat_event("m1", {"content": "a"}))
        await exchange.event(b'data: {"choices":"')
        while exchange.upstream.bytes_written < 200 << 20:
            await exchange.event(b"x" * (1 << 20))

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, "alias")) as gateway:
        u1.handlers[CHAT] = endless
        answer = await gateway.chat("alias", stream=True)
        assert answer.is_complete
        assert "error" in wire.event_json(answer.events[-1])
        assert b"[DONE]" not in answer.events[-1]
        assert u1.bytes_written < 200 << 20


@pytest.mark.case("stream-keep-1")
@pytest.mark.parametrize("public", ["m1", "alias"])
async def test_stream_keep_1(public: str) -> None:
    deltas: list[dict[str, Any]] = [
        {"reasoning": "a"},
        {"reasoning_content": "b"},
        {"x_new": 1},
        {"content": "c"},
    ]

    def events(model: str) -> list[bytes]:
        plain = [answers.chat_event(model, delta) for delta in deltas]
        return [*plain, answers.chat_event(model, {}, "stop"), wire.DONE]

    async def new_fields(exchange: Exchange) -> None:
        await exchange.stream(events("m1"))

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, public)) as gateway:
        u1.handlers[CHAT] = new_fields
        answer = await gateway.chat(public, stream=True)
        assert answer.events == events(public)
        got = [wire.event_json(one)["choices"][0]["delta"] for one in answer.events[:4]]
        assert got == deltas


@pytest.mark.parametrize("public", ["m1", "alias"])
async def test_comments_and_odd_lines_are_relayed(public: str) -> None:
    def events(model: str) -> list[bytes]:
        plain = answers.chat_events(model)
        return [
            b": keep-alive\n\n",
            plain[0],
            b": keep-alive\n\n",
            b"id: 7\nretry: 10\n" + plain[1],
            *plain[2:],
        ]

    async def odd(exchange: Exchange) -> None:
        await exchange.stream(events("m1"))

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, public)) as gateway:
        u1.handlers[CHAT] = odd
        assert (await gateway.chat(public, stream=True)).events == events(public)


async def test_a_public_name_inside_text_stays() -> None:
    text = 'the "model":"m1" of m1, {"model":"m1"}'

    async def says_name(exchange: Exchange) -> None:
        await exchange.stream(answers.chat_events("m1", [text]))

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, "alias")) as gateway:
        u1.handlers[CHAT] = says_name
        answer = await gateway.chat("alias", stream=True)
        assert answer.events == answers.chat_events("alias", [text])
