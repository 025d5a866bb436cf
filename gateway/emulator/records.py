"""What goes into the engine and what comes out of it."""

from dataclasses import dataclass
from typing import Final, Protocol

from gateway.emulator.kv import BlockHashes, GivenBlockHashes
from gateway.emulator.steps import StepLoad


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token. `finish` ends the request (`stop`, `length`)."""

    id: int
    text: str = ""
    finish: str | None = None
    stop_reason: str | None = None


class TokenSource(Protocol):
    """Where a request's tokens come from."""

    def next_token(self) -> Token:
        """The next token of this request."""
        ...


class FixedLength:
    """A source for simulations: `length` tokens (at least one) without content."""

    __slots__ = ("_left",)

    _MORE = Token(0)
    _LAST = Token(0, finish="length")

    def __init__(self, length: int) -> None:
        self._left = max(1, length)

    def next_token(self) -> Token:
        """The next of `length` tokens."""
        self._left -= 1
        return self._MORE if self._left > 0 else self._LAST


NO_HASHES: Final[BlockHashes] = GivenBlockHashes(())
"""Content that no other request shares."""


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """What the engine is asked to do. Ids must be unique among requests inside the engine."""

    id: str
    prompt_tokens: int
    source: TokenSource
    hashes: BlockHashes = NO_HASHES


class Sequence:
    """A request inside the engine."""

    __slots__ = (
        "arrived",
        "blocks",
        "cached_tokens",
        "computed",
        "first_scheduled",
        "first_token",
        "generated",
        "preemptions",
        "published",
        "request",
        "total",
    )

    def __init__(self, request: EngineRequest, now: float) -> None:
        self.request = request
        self.arrived = now
        self.total = request.prompt_tokens
        """Prompt plus generated tokens."""
        self.computed = 0
        """Tokens whose KV is in memory (or will be when the running step ends)."""
        self.generated = 0
        self.cached_tokens = 0
        """Prompt tokens found in the prefix cache at the first admission."""
        self.blocks: list[int] = []
        self.published = 0
        self.preemptions = 0
        self.first_scheduled: float | None = None
        self.first_token: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step that has begun: which sequences compute how many tokens, and how long it takes."""

    started: float
    duration_s: float
    load: StepLoad
    graph: bool
    scheduled: tuple[tuple[Sequence, int], ...]
    preempted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step that has ended; its tokens exist from `ended` on."""

    started: float
    ended: float
    duration_s: float
    load: StepLoad
    graph: bool
    tokens: tuple[tuple[str, Token], ...]
    """Request id and its new token, in batch order."""
    first_tokens: tuple[Sequence, ...]
    """Sequences whose first token this step made."""
    finished: tuple[Sequence, ...]
    preempted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EngineTotals:
    """Counters since the engine was made."""

    preemptions: int
    prefix_queries_tokens: int
    prefix_hits_tokens: int
    prefill_tokens: int
    generated_tokens: int
    steps: int
    max_running: int
