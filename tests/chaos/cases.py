"""The questions of a chaos run and the answers that are known beforehand."""

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import httpx

from tests.chaos.judge import Expected

CASES: Final = 120
SHORTEST_TOKENS: Final = 40
_MAX_TOKENS: Final = range(44, 121)
_SOURCES: Final = 600
"""Questions tried at most; a model that stops early gives no case."""
_AT_ONCE: Final = 16

_SUBJECTS: Final = (
    "the weather in Harbin",
    "graph capture",
    "上海的地铁",
    "a slow printer",
    "prime numbers",
    "长江三峡",
    "the history of paper",
    "两块显卡的区别",
    "lost luggage",
    "how bridges age",
)
_ORDERS: Final = (
    "Tell me about {}.",
    "请介绍一下{}。",
    "Explain {} to a child.",
    "What is new about {}?",
    "写一段关于{}的话。",
    "Give three facts about {}.",
)
_SYSTEM: Final = "You are a patient assistant. 请认真回答。"


@dataclass(frozen=True, slots=True)
class Case:
    """One question: a chat of these turns (user, assistant, user, ...) or the text of a prompt."""

    is_chat: bool
    turns: tuple[str, ...]
    max_tokens: int
    system: str | None = None

    @property
    def path(self) -> str:
        return "/chat/completions" if self.is_chat else "/completions"

    def fields(self) -> dict[str, Any]:
        """The body's fields that make the answer."""
        if not self.is_chat:
            return {"prompt": self.turns[0], "max_tokens": self.max_tokens}
        roles = ("user", "assistant")
        said = [{"role": roles[i % 2], "content": turn} for i, turn in enumerate(self.turns)]
        if self.system is not None:
            said.insert(0, {"role": "system", "content": self.system})
        return {"messages": said, "max_tokens": self.max_tokens}


class Oracle:
    """The cases of a run with their answers."""

    def __init__(self, answers: Mapping[Case, Expected]) -> None:
        self._answers = dict(answers)
        self.cases: Sequence[Case] = tuple(self._answers)

    def __repr__(self) -> str:
        return f"<Oracle {len(self.cases)} cases>"

    def expected(self, case: Case) -> Expected:
        """The answer of `case`; KeyError if it was never asked beforehand."""
        found = self._answers.get(case)
        if found is None:
            raise KeyError(f"no answer is known for {case!r}")
        return found

    def of_kind(self, *, is_chat: bool) -> list[Case]:
        """The cases of one endpoint."""
        return [case for case in self.cases if case.is_chat is is_chat]

    def spoiled(self) -> "Oracle":
        """The same with every answer changed in its last character, to prove the judge."""
        changed = {
            case: replace(answer, text=answer.text[:-1] + "#")
            for case, answer in self._answers.items()
        }
        return Oracle(changed)


def questions(seed: int) -> Iterator[Case]:
    """Endless different questions; the same ones for the same seed."""
    rng = random.Random(seed)
    number = 0
    while True:
        number += 1
        subject, order = rng.choice(_SUBJECTS), rng.choice(_ORDERS)
        text = f"{order.format(subject)} ({number})"
        most = rng.choice(_MAX_TOKENS)
        is_chat = number % 5 < 3
        turns: tuple[str, ...] = (text,)
        if is_chat and rng.random() < 0.3:
            turns = (f"{number}?", "Yes, go on.", text)
        system = _SYSTEM if is_chat and rng.random() < 0.4 else None
        yield Case(is_chat, turns, most, system)


async def ask_beforehand(base_url: str, model: str, seed: int, wanted: int = CASES) -> Oracle:
    """The oracle, from a backend that has no faults; RuntimeError if it says too little."""
    answers: dict[Case, Expected] = {}
    source = questions(seed)
    async with httpx.AsyncClient(base_url=base_url, trust_env=False, timeout=60) as client:
        for _ in range(_SOURCES // _AT_ONCE):
            batch = [next(source) for _ in range(_AT_ONCE)]
            found = await asyncio.gather(*(ask(client, case, model) for case in batch))
            pairs = zip(batch, found, strict=True)
            answers |= {c: a for c, a in pairs if a.completion_tokens >= SHORTEST_TOKENS}
            if len(answers) >= wanted:
                return Oracle(dict(list(answers.items())[:wanted]))
    raise RuntimeError(f"only {len(answers)} of {wanted} questions have a long enough answer")


async def ask(client: httpx.AsyncClient, case: Case, model: str) -> Expected:
    """The answer of one backend, asked without a stream and without the gateway."""
    reply = await client.post(f"/v1{case.path}", json={"model": model, **case.fields()})
    reply.raise_for_status()
    body = reply.json()
    choice = body["choices"][0]
    text = choice["message"]["content"] if case.is_chat else choice["text"]
    return Expected(text, choice["finish_reason"], body["usage"]["completion_tokens"])
