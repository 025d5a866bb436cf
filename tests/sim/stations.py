"""Engines as the simulated world drives them: begin something, look in between, end it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.emulator.engine import Engine
from gateway.emulator.kv import GivenBlockHashes
from gateway.emulator.records import EngineRequest, Step, Token
from gateway.emulator.spec import EngineSpec
from tests.sim.requests import SimRequest


@dataclass(frozen=True, slots=True)
class Done:
    """What an engine did between two looks."""

    started: float
    ended: float
    first: Sequence[str]
    """Requests that got their first token at `ended`."""
    more: Sequence[str]
    """Requests that got `count` more tokens."""
    count: int
    finished: Sequence[str]
    preempted: Sequence[str] = ()


class Countdown:
    """Tokens without content, and how many of them are left."""

    __slots__ = ("left",)

    MORE = Token(0)
    LAST = Token(0, finish="length")

    def __init__(self, length: int) -> None:
        self.left = max(1, length)

    def next_token(self) -> Token:
        """The next token."""
        self.left -= 1
        return self.MORE if self.left > 0 else self.LAST


def engine_request(request: SimRequest) -> EngineRequest:
    """A request as the engine takes it."""
    return EngineRequest(
        id=request.id,
        prompt_tokens=request.prompt_tokens,
        source=Countdown(request.output_tokens),
        hashes=GivenBlockHashes(request.hashes),
    )


class Station(Protocol):
    """An engine in virtual time."""

    engine: Engine

    def submit(self, request: SimRequest, now: float) -> None:
        """Put a request into the engine's queue; what runs may now end earlier (see `ends`)."""
        ...

    def begin(self, now: float) -> None:
        """Begin what comes next, if there is anything; nothing may be running."""
        ...

    @property
    def ends(self) -> float | None:
        """When what runs will end, None when nothing runs."""
        ...

    def look(self, now: float) -> Done | None:
        """What has been done since the last look, without ending what runs."""
        ...

    def end(self) -> Done:
        """End what runs, at the time `ends`."""
        ...


class StepStation:
    """The emulator's engine, step by step: slow, and right by definition."""

    def __init__(self, spec: EngineSpec) -> None:
        self.engine = Engine(spec)
        self._step: Step | None = None

    def submit(self, request: SimRequest, now: float) -> None:
        """As the protocol."""
        self.engine.submit(engine_request(request), now)

    def begin(self, now: float) -> None:
        """As the protocol."""
        self._step = self.engine.begin_step(now)

    @property
    def ends(self) -> float | None:
        """As the protocol."""
        step = self._step
        return None if step is None else step.started + step.duration_s

    def look(self, now: float) -> Done | None:
        """Nothing: a step's tokens come at its end."""
        return None

    def end(self) -> Done:
        """As the protocol."""
        step = self._step
        if step is None:
            raise RuntimeError("nothing runs")
        self._step = None
        return finish(self.engine, step)


def finish(engine: Engine, step: Step) -> Done:
    """Finish one step of the emulator's engine."""
    result = engine.finish_step(step)
    first = [sequence.request.id for sequence in result.first_tokens]
    return Done(
        started=result.started,
        ended=result.ended,
        first=first,
        more=[name for name, _ in result.tokens if name not in first],
        count=1,
        finished=[sequence.request.id for sequence in result.finished],
        preempted=result.preempted,
    )
