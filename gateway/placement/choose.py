"""Which backend gets a request: best standing, far from failures, graph first, least loaded."""

from collections.abc import Callable, Collection
from typing import Final, NamedTuple

from gateway.config.vocabulary import Tier
from gateway.fleet.view import BackendFacts, BackendView, ModelView
from gateway.placement.eligible import Need, Refused, is_eligible, refusals

Draw = Callable[[], float]
"""A draw from [0, 1), so that chance comes in from outside."""


class Domain(NamedTuple):
    """Where something failed: a node, and a card on it ("" if unknown)."""

    node: str
    card: str


class Placement(NamedTuple):
    """A decision: the backend, or None and then for each backend why it was refused.

    `is_full` says that even the best one has as many requests as it serves well.
    """

    backend: BackendFacts | None
    refused: tuple[Refused, ...] = ()
    is_full: bool = False


def choose(
    view: ModelView,
    need: Need,
    tried: Collection[str],
    draw: Draw,
    failed_in: Collection[Domain] = (),
) -> Placement:
    """The eligible backend that stands best.

    In this order: its standing; whether it shares a card or node with what failed this request
    before; whether it is a graph backend with room below its cap, else one with room, else one
    without; its load relative to its cap and weight. Ties go by the draw, so that several
    gateways do not all pick the first.
    """
    best: list[BackendView] = []
    best_score = (9, 9, 9, 0.0)
    for backend in view.backends:
        if not is_eligible(backend, need, tried):
            continue
        score = _score(backend, failed_in)
        if not best or score < best_score:
            best, best_score = [backend], score
        elif score == best_score:
            best.append(backend)
    if not best:
        return Placement(None, refusals(view, need, tried))
    picked = best[int(draw() * len(best))] if len(best) > 1 else best[0]
    return Placement(picked.facts, is_full=best_score[2] == _FULL)


_FULL: Final = 2


def _score(backend: BackendView, failed_in: Collection[Domain]) -> tuple[int, int, int, float]:
    """Lower is better."""
    facts = backend.facts
    cap = facts.cap * backend.share_ratio
    if backend.in_flight >= max(1.0, cap):
        tier = _FULL
    else:
        tier = 0 if facts.tier is Tier.GRAPH and not facts.is_slow else 1
    nearness = max([_nearness(facts, domain) for domain in failed_in]) if failed_in else 0
    return backend.standing, nearness, tier, (backend.in_flight + 1) / (cap * facts.weight)


def _nearness(facts: BackendFacts, domain: Domain) -> int:
    """2 on the same card, 1 on the same node, else 0."""
    if facts.node != domain.node:
        return 0
    return 2 if facts.card and facts.card == domain.card else 1
