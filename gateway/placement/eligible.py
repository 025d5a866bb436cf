"""Who may serve this request, and for each other backend why not."""

from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple

from gateway.config.vocabulary import Tier
from gateway.fleet.health.machine import State
from gateway.fleet.view import BackendFacts, BackendView, ModelView, Standing


class Need(NamedTuple):
    """What a request needs of a backend.

    Room for so many tokens at least (0 when unknown), a tier if the client asked for one, what its
    prompt holds beside text, and whose key it came with. `is_special` says that any of the last
    three is to be looked at.
    """

    context_tokens: int = 0
    tier: Tier | None = None
    media: frozenset[str] = frozenset()
    key: str = ""
    is_special: bool = False


class Why(StrEnum):
    """Why a backend may not serve a request."""

    DOWN = "down"
    DRAINING = "draining"
    NAME_MISSING = "name_missing"
    TRIED = "tried"
    CONTEXT_TOO_SHORT = "context_too_short"
    TIER = "tier"
    MODALITY = "modality"
    NOT_PERMITTED = "not_permitted"


class Refused(NamedTuple):
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
        and (not need.is_special or _special(facts, need) is None)
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
    special = _special(facts, need)
    if special is not None:
        return special
    return Refused(
        facts.name,
        Why.CONTEXT_TOO_SHORT,
        f"the request needs {need.context_tokens} tokens, its context has {facts.max_model_len}",
    )


def _special(facts: BackendFacts, need: Need) -> Refused | None:
    if need.tier is not None and facts.tier is not need.tier:
        detail = f"its tier is {facts.tier}, the request asks for {need.tier}"
        return Refused(facts.name, Why.TIER, detail)
    if facts.modalities is not None and not need.media <= facts.modalities:
        missing = ", ".join(sorted(need.media - facts.modalities))
        return Refused(facts.name, Why.MODALITY, f"it does not take {missing}")
    if facts.keys is not None and need.key not in facts.keys:
        return Refused(facts.name, Why.NOT_PERMITTED, f"it does not serve the key '{need.key}'")
    return None
