"""Steady load: so many clients, each asking one question after the other."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import openai

from tests.chaos.ask import Question, ask
from tests.chaos.cases import Oracle
from tests.chaos.fleet import LARGE, SMALL
from tests.chaos.judge import Expected, Judgement, Observed, Verdict, judge, usage_is_off

CLIENTS: Final = {SMALL: 12, LARGE: 8}
"""Clients that ask at the same time, by model."""
REQUEST_LIMIT_S: Final = 300.0
"""Far above what the gateway may need, so that it is the gateway that gives up and says so."""
_STREAM_SHARE: Final = 0.65
_CHAT_SHARE: Final = 0.6
_USAGE_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Record:
    """One request and what became of it; times are monotonic seconds."""

    question: Question
    start_s: float
    end_s: float
    seen: Observed
    expected: Expected
    judgement: Judgement
    is_usage_off: bool


class Load:
    """Asks until told to stop, and keeps a record of every request."""

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        oracle: Oracle,
        seed: int,
        note: Callable[[Record], None],
    ) -> None:
        self._client = client
        self._oracle = oracle
        self._seed = seed
        self._note = note
        self._stopping = False
        self._is_one_more = asyncio.Condition()
        self._chats = oracle.of_kind(is_chat=True)
        self._texts = oracle.of_kind(is_chat=False)
        self._open: dict[int, float] = {}
        self.started = 0
        self.ended = 0
        self.usage_off = 0
        self.verdicts: Counter[Verdict] = Counter()

    def __repr__(self) -> str:
        return f"<Load {self.started} started, {self.ended} ended, {dict(self.verdicts)}>"

    def start(self, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        """One task for each client."""
        models = [model for model, count in CLIENTS.items() for _ in range(count)]
        return [
            group.create_task(self._run(model, random.Random(f"{self._seed}/{number}")))
            for number, model in enumerate(models)
        ]

    def stop(self) -> None:
        """Begin no more requests; those under way go on to their end."""
        self._stopping = True

    async def until_started(self, total: int) -> None:
        """Wait until so many requests in all were begun."""
        async with self._is_one_more:
            await self._is_one_more.wait_for(lambda: self.started >= total)

    def has_open_since(self, moment_s: float) -> bool:
        """Whether a request that was begun before this moment has no end yet."""
        return any(begun_s <= moment_s for begun_s in self._open.values())

    async def _run(self, model: str, rng: random.Random) -> None:
        # Not all at the same moment.
        await asyncio.sleep(rng.random())
        while not self._stopping:
            self.started += 1
            number = self.started
            self._open[number] = time.monotonic()
            async with self._is_one_more:
                self._is_one_more.notify_all()
            record = await self._one(self._question(model, rng))
            del self._open[number]
            self.ended += 1
            self.usage_off += record.is_usage_off
            self.verdicts[record.judgement.verdict] += 1
            self._note(record)

    def _question(self, model: str, rng: random.Random) -> Question:
        cases = self._chats if rng.random() < _CHAT_SHARE else self._texts
        return Question(
            rng.choice(cases),
            model,
            is_stream=rng.random() < _STREAM_SHARE,
            wants_usage=rng.random() < _USAGE_SHARE,
        )

    async def _one(self, question: Question) -> Record:
        expected = self._oracle.expected(question.case)
        start_s = time.monotonic()
        seen = await ask(self._client, question)
        judgement = judge(seen, expected, question.model)
        is_off = judgement.verdict is Verdict.WHOLE and usage_is_off(
            seen, expected, is_asked_for=question.is_usage_asked_for
        )
        end_s = time.monotonic()
        return Record(question, start_s, end_s, seen, expected, judgement, is_off)
