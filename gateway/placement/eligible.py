"""Who may serve this request, and for each other backend why not."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from gateway.fleet.health.machine import State
from gateway.fleet.view import BackendView, ModelView


@dataclass(frozen=True, slots=True)
class Need:
    """What a request needs of a backend: room for so many tokens at least (0 when unknown)."""

    context_tokens: int = 0


class Why(StrEnum):
    """Why a backend may not serve a request."""

    DOWN = "down"
    NAME_MISSING = "name_missing"
    TRIED = "tried"
    CONTEXT_TOO_SHORT = "context_too_short"


@dataclass(frozen=True, slots=True)
class Refused:
    """One backend that may not serve the request, with a text for people."""

    backend: str
    why: Why
    detail: str


def eligible(
    view: ModelView, need: Need, tried: Collection[str]
) -> tuple[list[BackendView], list[Refused]]:
    """The backends that may serve the request, and the others with their reasons."""
    fit: list[BackendView] = []
    refused: list[Refused] = []
    for backend in view.backends:
        reason = _refusal(backend, need, tried)
        if reason is None:
            fit.append(backend)
        else:
            refused.append(reason)
    return fit, refused


def _refusal(backend: BackendView, need: Need, tried: Collection[str]) -> Refused | None:
    if backend.name in tried:
        return Refused(backend.name, Why.TRIED, "it was already asked for this request")
    if backend.state is State.DOWN:
        return Refused(backend.name, Why.DOWN, backend.reason)
    if backend.is_missing:
        return Refused(backend.name, Why.NAME_MISSING, f"it does not serve '{backend.served_name}'")
    limit = backend.max_model_len
    if limit is not None and need.context_tokens > limit:
        return Refused(
            backend.name,
            Why.CONTEXT_TOO_SHORT,
            f"the request needs {need.context_tokens} tokens, its context has {limit}",
        )
    return None
