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
class RequestSucceeded:
    """A real request was answered; the client's own errors (4xx) count as answered."""


@dataclass(frozen=True, slots=True)
class RequestFailed:
    """A real request failed by the backend's fault.

    `is_unreachable` is true if not even a connection could be made.
    """

    detail: str
    is_unreachable: bool = False


Evidence = ProbeOk | ProbeFailed | RequestSucceeded | RequestFailed
