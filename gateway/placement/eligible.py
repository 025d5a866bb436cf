"""Who may serve this request, and for each other backend why not."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from gateway.fleet.health.machine import State
from gateway.fleet.view import BackendView, ModelView, Standing


@dataclass(frozen=True, slots=True)
class Need:
    """What a request needs of a backend: room for so many tokens at least (0 when unknown)."""

    context_tokens: int = 0


class Why(StrEnum):
    """Why a backend may not serve a request."""

    DOWN = "down"
    DRAINING = "draining"
    NAME_MISSING = "name_missing"
    TRIED = "tried"
    CONTEXT_TOO_SHORT = "context_too_short"


@dataclass(frozen=True, slots=True)
class Refused:
    """One backend that may not serve the request, with a text for people."""

    backend: str
    why: Why
    detail: str


def is_eligible(backend: BackendView, need: Need, tried: Collection[str]) -> bool:
    """Whether the backend may serve the request: the same as having no refusal."""
    facts = backend.facts
    length = facts.max_model_len
    return (
        backend.standing is not Standing.OUT
        and not facts.is_missing
        and facts.name not in tried
        and (length is None or need.context_tokens <= length)
    )


def refusals(view: ModelView, need: Need, tried: Collection[str]) -> tuple[Refused, ...]:
    """For each backend that may not serve the request, the first reason."""
    found = (_refusal(backend, need, tried) for backend in view.backends)
    return tuple(refused for refused in found if refused is not None)


def _refusal(backend: BackendView, need: Need, tried: Collection[str]) -> Refused | None:
    if is_eligible(backend, need, tried):
        return None
    facts = backend.facts
    if facts.name in tried:
        return Refused(facts.name, Why.TRIED, "it was already asked for this request")
    if backend.standing is Standing.OUT:
        why = Why.DRAINING if facts.state is State.DRAINING else Why.DOWN
        return Refused(facts.name, why, facts.reason)
    if facts.is_missing:
        detail = f"it does not serve '{facts.served_name}'"
        return Refused(facts.name, Why.NAME_MISSING, detail)
    return Refused(
        facts.name,
        Why.CONTEXT_TOO_SHORT,
        f"the request needs {need.context_tokens} tokens, its context has {facts.max_model_len}",
    )
