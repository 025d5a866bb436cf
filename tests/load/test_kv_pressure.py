"""Little KV memory and long prompts: nobody fails, and engines hardly ever recompute."""

import asyncio
from typing import Any

import pytest

from gateway.emulator import tokens
from gateway.emulator.fleet import EmulatedFleet
from gateway.emulator.lengths import length_mark
from tests.e2e.emulated import CAP, most_running, placing, served, small
from tests.support import wire
from tests.support.gateway import GatewayClient

KV_TOKENS = 40_000
PREEMPTIONS_AT_MOST = 6
"""Of all engines together in one test: a storm has hundreds."""


def prompt(number: int, size_tokens: int) -> str:
    """A text of about so many tokens that shares no beginning with others."""
    words = "the quick brown fox jumps over the lazy dog and then it sleeps "
    per_turn = len(tokens.encode(words))
    return f"Document {number}: " + words * (size_tokens // per_turn)


async def ask(gateway: GatewayClient, number: int, size_tokens: int, **fields: Any) -> None:
    """One request that must be answered to its end."""
    messages = [{"role": "user", "content": prompt(number, size_tokens)}]
    answer = await gateway.chat("pub", messages=messages, **fields)
    assert answer.status == 200, answer.body[:500]
    assert answer.is_complete
    if fields.get("stream"):
        assert answer.events[-1] == wire.DONE
        assert not any(b'"error"' in event for event in answer.events)


def preemptions(fleet: EmulatedFleet) -> int:
    return sum(b.live.driver.engine.totals.preemptions for b in fleet.backends)


@pytest.mark.parametrize("knows", [True, False], ids=["figures", "no-figures"])
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_prompts_of_thousands_of_tokens(stream: bool, knows: bool) -> None:
    """Three or four of them are more than an engine holds, whether it tells its capacity or not."""
    specs = [small(name, KV_TOKENS, time_scale=40.0) for name in ("a", "b")]
    interval_s = 0.2 if knows else 600.0
    async with placing(*specs, scrape_interval_s=interval_s) as (gateway, fleet):
        sizes = [7000 + 2000 * (n % 4) for n in range(32)]
        fields = {"stream": stream, "max_tokens": 700, "ignore_eos": True}
        asked = [ask(gateway, n, size, **fields) for n, size in enumerate(sizes)]
        await asyncio.gather(*asked)
        # Without figures nobody can know; the cap alone keeps it low then.
        at_most = PREEMPTIONS_AT_MOST * (1 if knows else 3)
        assert preemptions(fleet) <= at_most, preemptions(fleet)
        assert max(most_running(fleet).values()) <= CAP
        assert min(served(fleet).values()) >= 8, served(fleet)


async def test_answers_that_grow_far_beyond_what_is_thought() -> None:
    """No limit is set and answers are much longer than those before; memory fills from within."""
    specs = [small(name, KV_TOKENS, time_scale=60.0, length_marks=True) for name in ("a", "b")]

    async def one(gateway: GatewayClient, number: int, answer_tokens: int) -> None:
        text = f"{prompt(number, 5000)} {length_mark(answer_tokens)}"
        messages = [{"role": "user", "content": text}]
        answer = await gateway.chat("pub", messages=messages, stream=True)
        assert answer.status == 200
        assert answer.events[-1] == wire.DONE

    async with placing(*specs) as (gateway, fleet):
        await asyncio.gather(*(one(gateway, n, 30) for n in range(10)))
        await asyncio.gather(*(one(gateway, 100 + n, 1500) for n in range(32)))
        assert preemptions(fleet) <= 2 * PREEMPTIONS_AT_MOST, preemptions(fleet)


async def test_one_that_fills_an_engine_is_not_passed_for_ever() -> None:
    """A very long prompt fits only alone; small ones keep coming."""
    specs = [small(name, KV_TOKENS, time_scale=40.0) for name in ("a", "b")]
    async with placing(*specs) as (gateway, fleet):
        stop = asyncio.Event()

        async def small_ones(lane: int) -> None:
            number = 1000 * lane
            while not stop.is_set():
                number += 1
                await ask(gateway, number, 3000, max_tokens=60, stream=number % 2 == 0)

        lanes = [asyncio.create_task(small_ones(lane)) for lane in range(1, 13)]
        await asyncio.sleep(0.5)
        try:
            async with asyncio.timeout(60.0):
                await asyncio.gather(
                    *(ask(gateway, n, 18_000, max_tokens=100, stream=True) for n in range(2))
                )
        finally:
            stop.set()
            await asyncio.gather(*lanes)
        assert preemptions(fleet) <= PREEMPTIONS_AT_MOST, preemptions(fleet)


async def test_conversations_share_what_is_cached() -> None:
    """Turns of a few conversations, each with the whole history: cached blocks are counted once."""
    specs = [small(name, KV_TOKENS, time_scale=40.0) for name in ("a", "b")]
    async with placing(*specs) as (gateway, fleet):

        async def conversation(number: int) -> None:
            messages = [{"role": "user", "content": prompt(number, 4000)}]
            for turn in range(4):
                answer = await gateway.chat("pub", messages=messages, max_tokens=40)
                assert answer.status == 200, answer.body[:500]
                said = answer.json()["choices"][0]["message"]["content"]
                messages += [
                    {"role": "assistant", "content": said},
                    {"role": "user", "content": f"And then, {turn}?"},
                ]

        await asyncio.gather(*(conversation(number) for number in range(30)))
        assert preemptions(fleet) <= 2 * PREEMPTIONS_AT_MOST, preemptions(fleet)
