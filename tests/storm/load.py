"""Steady load: so many clients for each model, and a record of every request."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import openai

from tests.chaos.ask import Question, ask
from tests.chaos.cases import Oracle
from tests.chaos.judge import Expected, Judgement, Verdict, judge
from tests.storm.fleet import NEW_NAME, RENAMED, ROAMING, STEADY
from tests.storm.timing import Tails, Timed

CLIENTS: Final = ((STEADY, 6), (RENAMED, 3), (NEW_NAME, 3), (ROAMING, 6))
"""Clients that ask at the same time, by the name that they ask for."""
REQUEST_LIMIT_S: Final = 200.0
_STREAM_SHARE: Final = 0.7
_CHAT_SHARE: Final = 0.7


@dataclass(frozen=True, slots=True)
class Record:
    """One request and what became of it; times are monotonic seconds."""

    model: str
    is_stream: bool
    start_s: float
    end_s: float
    events_s: tuple[float, ...]
    judgement: Judgement
    request_id: str | None

    @property
    def is_whole(self) -> bool:
        return self.judgement.verdict is Verdict.WHOLE


class Load:
    """Asks until told to stop."""

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        tails: Tails,
        oracle: Oracle,
        seed: int,
        note: Callable[[Record], None],
    ) -> None:
        self._client = client
        self._tails = tails
        self._oracle = oracle
        self._seed = seed
        self._note = note
        self._chats = oracle.of_kind(is_chat=True)
        self._texts = oracle.of_kind(is_chat=False)
        self._may_ask = asyncio.Event()
        self._may_ask.set()
        self._changed = asyncio.Condition()
        self.is_stopping = False
        self.open = 0
        self.started = 0

    def __repr__(self) -> str:
        return f"<Load {self.started} started, {self.open} open>"

    def start(self, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        """One task for each client."""
        names = [name for name, count in CLIENTS for _ in range(count)]
        return [
            group.create_task(self._run(name, random.Random(f"{self._seed}/{number}")))
            for number, name in enumerate(names)
        ]

    async def pause(self) -> None:
        """Begin no more requests, and wait until the open ones have ended."""
        self._may_ask.clear()
        async with self._changed:
            await self._changed.wait_for(lambda: self.open == 0)

    def resume(self) -> None:
        """Ask again."""
        self._may_ask.set()

    def stop(self) -> None:
        """Ask no more; open requests go on to their end."""
        self.is_stopping = True
        self._may_ask.set()

    async def until_started(self, more: int) -> None:
        """Wait until so many more requests were begun."""
        wanted = self.started + more
        async with self._changed:
            await self._changed.wait_for(lambda: self.started >= wanted)

    async def _run(self, name: str, rng: random.Random) -> None:
        # Not all at the same moment.
        await asyncio.sleep(rng.random())
        while True:
            await self._may_ask.wait()
            if self.is_stopping:
                return
            self.started += 1
            await self._count(1)
            self._note(await self._one(self._question(name, rng)))
            await self._count(-1)

    async def _count(self, change: int) -> None:
        async with self._changed:
            self.open += change
            self._changed.notify_all()

    def _question(self, name: str, rng: random.Random) -> Question:
        cases = self._chats if rng.random() < _CHAT_SHARE else self._texts
        return Question(rng.choice(cases), name, is_stream=rng.random() < _STREAM_SHARE)

    async def _one(self, question: Question) -> Record:
        expected = self._oracle.expected(question.case)
        seen = Timed(question.case.is_chat, question.is_stream)
        start_s = time.monotonic()
        await ask(self._client, question, seen)
        end_s = time.monotonic()
        is_done = self._tails.is_done(seen.request_id) if question.is_stream else True
        return Record(
            question.model,
            question.is_stream,
            start_s,
            end_s,
            tuple(seen.events_s),
            judged(seen, expected, question.model, is_done=is_done),
            seen.request_id,
        )


def judged(seen: Timed, expected: Expected, model: str, *, is_done: bool) -> Judgement:
    """The verdict over an answer; a whole stream must have ended with [DONE] as well."""
    found = judge(seen, expected, model)
    if found.verdict is Verdict.WHOLE and not is_done:
        return Judgement(Verdict.TRUNCATED, "the whole text and a finish, but no [DONE]")
    return found
