"""Which backend gets a request: eligible ones, the least loaded for its cap first."""

from collections.abc import Callable, Collection
from typing import NamedTuple

from gateway.fleet.health.machine import State
from gateway.fleet.view import BackendFacts, BackendView, ModelView
from gateway.placement.eligible import Need, Refused, is_eligible, refusals

Draw = Callable[[], float]
"""A draw from [0, 1), so that chance comes in from outside."""


class Placement(NamedTuple):
    """A decision: the backend, or None and then for each backend why it was refused."""

    backend: BackendFacts | None
    refused: tuple[Refused, ...] = ()


def choose(view: ModelView, need: Need, tried: Collection[str], draw: Draw) -> Placement:
    """The eligible backend with the fewest requests in flight relative to its cap.

    A backend that is up goes before one that is degraded or unknown, whatever their loads; ties
    go by the draw, so that several gateways do not all pick the first.
    """
    best: list[BackendView] = []
    best_score = (2, 0.0)
    for backend in view.backends:
        if not is_eligible(backend.facts, need, tried):
            continue
        score = _score(backend)
        if not best or score < best_score:
            best, best_score = [backend], score
        elif score == best_score:
            best.append(backend)
    if not best:
        return Placement(None, refusals(view, need, tried))
    picked = best[int(draw() * len(best))] if len(best) > 1 else best[0]
    return Placement(picked.facts)


def _score(backend: BackendView) -> tuple[int, float]:
    """Lower is better: whether it is known to be up, then its load with this request."""
    facts = backend.facts
    rank = 0 if facts.state is State.UP else 1
    return rank, (backend.in_flight + 1) / (facts.cap * facts.weight)
