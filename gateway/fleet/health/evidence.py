"""What can be learnt about a backend's health, as values."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One entry of a backend's /v1/models (vLLM entrypoints/openai/engine/protocol.py)."""

    id: str
    root: str | None = None
    parent: str | None = None
    max_model_len: int | None = None
    owned_by: str | None = None


@dataclass(frozen=True, slots=True)
class ProbeOk:
    """/health answered 200; `cards` is what /v1/models listed, or None if that was unreadable."""

    cards: tuple[ModelCard, ...] | None


class ProbeTrouble(StrEnum):
    """How a probe failed. `REFUSED` is certain: nothing listens; the others may pass."""

    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    STATUS = "status"


@dataclass(frozen=True, slots=True)
class ProbeFailed:
    """/health did not answer 200; `detail` says what happened instead."""

    trouble: ProbeTrouble
    detail: str


@dataclass(frozen=True, slots=True)
class CanaryOk:
    """A generation of our own came back whole, or the engine said that it does not generate."""


@dataclass(frozen=True, slots=True)
class CanaryFailed:
    """A generation of our own failed on an engine without other work."""

    detail: str


@dataclass(frozen=True, slots=True)
class CanaryUnsure:
    """The engine was too busy to say: neither good nor bad."""


Canary = CanaryOk | CanaryFailed | CanaryUnsure


class Severity(StrEnum):
    """How much one failed request says of its backend."""

    SOFT = "soft"
    """It may pass: a limit, a 5xx, a broken stream."""
    UNREACHABLE = "unreachable"
    """Not even a connection could be made."""
    CRASH = "crash"
    """The engine said that it is dead, or failed as dying engines do."""


@dataclass(frozen=True, slots=True)
class RequestSucceeded:
    """A real request was answered; the client's own errors (4xx) count as answered."""


@dataclass(frozen=True, slots=True)
class RequestFailed:
    """A real request failed by the backend's fault."""

    detail: str
    severity: Severity = Severity.SOFT


@dataclass(frozen=True, slots=True)
class Moved:
    """The engine made tokens, or ended its work, since the last look."""


@dataclass(frozen=True, slots=True)
class Hung:
    """The engine has work and stands still for longer than any legal step."""

    detail: str


@dataclass(frozen=True, slots=True)
class DrainBegun:
    """An operator takes the backend out: it finishes what it has."""

    reason: str


@dataclass(frozen=True, slots=True)
class DrainEnded:
    """An operator puts the backend back."""


Evidence = (
    ProbeOk
    | ProbeFailed
    | CanaryOk
    | CanaryFailed
    | CanaryUnsure
    | RequestSucceeded
    | RequestFailed
    | Moved
    | Hung
    | DrainBegun
    | DrainEnded
)


@dataclass(frozen=True, slots=True)
class Activity:
    """What /metrics says of an engine's work; several engines on one port are added up.

    Tokens are counters since the engine's start (vLLM docs, "Metrics": prompt_tokens_total,
    generation_tokens_total). A prompt is counted when its first token is there, whole; while it is
    read in chunks only the KV usage (0 to 1) moves (vllm/v1/metrics/stats.py). With several engines
    the usage is their mean, weighed by capacity. The capacity is None where it can't be told.
    """

    running: float
    waiting: float
    prompt_tokens: float
    generation_tokens: float
    kv_usage_ratio: float | None = None
    preemptions_total: float = 0.0
    kv_capacity_tokens: int | None = None

    @property
    def is_idle(self) -> bool:
        """Whether the engine has no work."""
        return self.running + self.waiting <= 0


@dataclass(frozen=True, slots=True)
class Look:
    """All that one look at a backend showed.

    `heard_s` is when its last byte came on a request of ours (monotonic seconds, -inf for never);
    `is_awaited` tells whether a request of ours waits for it now, `prompt_bytes` how large the
    largest of them is.
    """

    probe: ProbeOk | ProbeFailed
    activity: Activity | None
    heard_s: float
    is_awaited: bool
    prompt_bytes: int = 0
