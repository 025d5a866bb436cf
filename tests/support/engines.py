"""Engines in virtual time: small memory, round costs, requests in one line."""

from typing import Any

from gateway.emulator.engine import Engine
from gateway.emulator.kv import TokenBlockHashes
from gateway.emulator.records import EngineRequest, FixedLength, Sequence, StepResult, Token
from gateway.emulator.spec import EngineSpec, StepCosts

COSTS = StepCosts(0.1, 0.01, 0.5, 0.05, prefill_tokens_per_s=100)


class Counting:
    """A source that grows the id list, as a generation does, and says numbers from 1000 up."""

    def __init__(self, ids: list[int], length: int) -> None:
        self._ids = ids
        self._left = length
        self._next = 1000

    def next_token(self) -> Token:
        token, self._next, self._left = self._next, self._next + 1, self._left - 1
        self._ids.append(token)
        return Token(token, finish=None if self._left else "length")


def engine(**fields: Any) -> Engine:
    return Engine(EngineSpec(COSTS, **{"capture_sizes": (1, 4), "block_size": 4, **fields}))


def submit(
    one: Engine, name: str, prompt: list[int], length: int, now: float = 0.0, *, grow: bool = False
) -> Sequence:
    ids = list(prompt)
    source = Counting(ids, length) if grow else FixedLength(length)
    hashes = TokenBlockHashes(ids, one.spec.block_size)
    return one.submit(EngineRequest(name, len(prompt), source, hashes), now)


def run(one: Engine, now: float = 0.0, limit: int = 5000) -> list[StepResult]:
    """All steps until the engine is idle."""
    results: list[StepResult] = []
    while not one.idle:
        result = one.step(now)
        assert result is not None
        now = result.ended
        results.append(result)
        assert len(results) < limit
    return results


def tokens_of(results: list[StepResult]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for result in results:
        for name, token in result.tokens:
            found.setdefault(name, []).append(token.id)
    return found


def finished(results: list[StepResult]) -> list[str]:
    return [sequence.request.id for result in results for sequence in result.finished]
