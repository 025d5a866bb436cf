"""A driver of the emulator in the test's loop, and reading what it hands out."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gateway.emulator import tokens
from gateway.emulator.driver import Driver, Run
from gateway.emulator.engine import Engine
from gateway.emulator.generation import Generation, Limits
from gateway.emulator.records import Sequence, StepResult, Token
from gateway.emulator.spec import EngineSpec, StepCosts
from tests.support.waiting import LIMIT_S, Changes

COSTS = StepCosts(0.05, 0.002, 0.2, 0.003, prefill_tokens_per_s=2000)
FAST = 2000.0
ENDLESS = 1_000_000


class Watch:
    """Sees what the driver tells, and lets a test wait for it."""

    def __init__(self) -> None:
        self.changes = Changes()
        self.submitted: list[str] = []
        self.steps: list[StepResult] = []
        self.told_at: list[float] = []
        self.aborts = 0

    def on_submit(self, sequence: Sequence, prompt_tokens: int) -> None:
        assert prompt_tokens == sequence.request.prompt_tokens
        self.submitted.append(sequence.request.id)

    def on_step(self, result: StepResult, engine: Engine) -> None:
        self.steps.append(result)
        self.told_at.append(asyncio.get_running_loop().time())
        self.changes.notify()

    def on_abort(self) -> None:
        self.aborts += 1

    async def next_step(self) -> None:
        """Wait until one more step has ended."""
        seen = len(self.steps)
        await self.changes.until(lambda: len(self.steps) > seen)


@contextmanager
def driving(**fields: Any) -> Iterator[tuple[Driver, Watch]]:
    watch = Watch()
    scale = fields.pop("scale", FAST)
    spec = EngineSpec(COSTS, **{"capture_sizes": (1, 4), "block_size": 16, **fields})
    driver = Driver(Engine(spec), scale, watch)
    try:
        yield driver, watch
    finally:
        driver.close()


def submit(driver: Driver, *prompts: str, max_tokens: int = 20) -> Run:
    requests: list[tuple[list[int], Generation]] = []
    for prompt in prompts:
        ids = tokens.encode(prompt)
        requests.append((ids, Generation(ids, Limits(max_tokens, ignore_eos=True))))
    return driver.submit(requests)


async def read(run: Run, ends: int = 1) -> list[tuple[int, Token]]:
    """Tokens of a run until `ends` of its choices are over."""
    found: list[tuple[int, Token]] = []
    async with asyncio.timeout(LIMIT_S):
        while ends:
            found.append(await run.next())
            ends -= found[-1][1].finish is not None
    return found


def text_of(found: list[tuple[int, Token]], index: int = 0) -> str:
    return "".join(token.text for choice, token in found if choice == index)
