"""Clients that stream, again and again, and compare every answer with what it must be."""

import asyncio
import itertools
import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tests.replicas.stage import HOST, MODEL
from tests.support.rawclient import RawConnection

_PROMPTS: Final = 12
_LIMIT_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One request: when it began, its first event and its end, and what was wrong with it."""

    start_s: float
    first_s: float | None
    end_s: float
    wrong: str


class Said(NamedTuple):
    """What a stream has said: its text, whether it ended as it must, and its error."""

    text: str
    is_done: bool
    error: str


class Load:
    """So many clients over so many ports; each asks again when it is done."""

    def __init__(self, ports: Sequence[int], clients: int, tokens: int, seed: int) -> None:
        self._ports = list(ports)
        self._clients = clients
        self._tokens = tokens
        self._seed = seed
        self._expected: dict[int, str] = {}
        self._is_over = False
        self.answers: list[Answer] = []
        self.open = 0

    async def learn(self, engine_port: int) -> None:
        """Asks an engine itself what the answers must be."""
        asked = (self._ask(engine_port, number) for number in range(_PROMPTS))
        for number, (said, _) in enumerate(await asyncio.gather(*asked)):
            if not said.is_done or not said.text:
                raise RuntimeError(f"the engine itself does not answer: {said}")
            self._expected[number] = said.text

    async def run(self, until: Callable[[], bool]) -> None:
        """Asks until `until` says that it is time, then lets the open ones end."""
        async with asyncio.TaskGroup() as group:
            for number in range(self._clients):
                group.create_task(self._client(number, until))

    def between(self, start_s: float, end_s: float) -> list[Answer]:
        """Answers that were asked for in this time."""
        return [one for one in self.answers if start_s <= one.start_s < end_s]

    async def _client(self, number: int, until: Callable[[], bool]) -> None:
        rng = random.Random(f"{self._seed}/{number}")
        ports = itertools.cycle(self._ports[number % len(self._ports) :] + self._ports)
        port = next(ports)
        await asyncio.sleep(2.0 * rng.random())
        while not until():
            self.open += 1
            self.answers.append(await self._one(port, rng.randrange(_PROMPTS)))
            self.open -= 1

    async def _one(self, port: int, prompt: int) -> Answer:
        start_s = time.monotonic()
        try:
            async with asyncio.timeout(_LIMIT_S):
                said, first_s = await self._ask(port, prompt)
        except (OSError, AssertionError, ValueError) as error:
            # A connection that is refused, reset, or has bytes that are no HTTP.
            return Answer(start_s, None, time.monotonic(), f"{type(error).__name__}: {error}"[:300])
        wrong = said.error
        if not wrong and not said.is_done:
            wrong = "the stream ended early"
        if not wrong and said.text != self._expected[prompt]:
            wrong = f"another text: {said.text[:80]!r}"
        return Answer(start_s, first_s, time.monotonic(), wrong)

    async def _ask(self, port: int, prompt: int) -> tuple[Said, float | None]:
        body = json.dumps(
            {
                "model": MODEL,
                "messages": [{"role": "user", "content": f"Tell me about number {prompt}."}],
                "max_tokens": self._tokens,
                "ignore_eos": True,
                "stream": True,
            }
        ).encode()
        async with RawConnection(HOST, port) as connection:
            headers = [("Content-Type", "application/json")]
            await connection.request("POST", "/v1/chat/completions", headers, body)
            answer = await connection.read_head()
            first_s = None
            while await connection.read_piece(answer):
                if first_s is None and b'"content":"' in answer.pieces[-1][1]:
                    first_s = answer.pieces[-1][0]
            if answer.status != 200:
                return Said(
                    "", is_done=False, error=f"{answer.status}: {answer.body[:200]!r}"
                ), None
            return _read(answer.body), first_s


def _read(body: bytes) -> Said:
    text, is_done, error = [], False, ""
    for line in body.decode("utf-8").splitlines():
        data = line.removeprefix("data: ")
        if data == line or data == "[DONE]":
            is_done = is_done or data == "[DONE]"
            continue
        event = json.loads(data)
        if "error" in event:
            error = str(event["error"])[:200]
        text += [c["delta"].get("content") or "" for c in event.get("choices", [])]
    return Said("".join(text), is_done, error)


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The value that so many percent do not pass; None without any."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else None
