"""Which backend gets a request: eligible ones, the least loaded for its cap first."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from gateway.fleet.health.machine import State
from gateway.fleet.view import BackendView, ModelView
from gateway.placement.eligible import Need, Refused, eligible

Draw = Callable[[], float]
"""A draw from [0, 1), so that chance comes in from outside."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A decision: the backend or None, the load each candidate had, and why others were left out.

    `loads` are requests in flight per sensible slot, after this one, weighted.
    """

    backend: BackendView | None
    loads: tuple[tuple[str, float], ...]
    refused: tuple[Refused, ...]


def choose(view: ModelView, need: Need, tried: Collection[str], draw: Draw) -> Placement:
    """The eligible backend with the fewest requests in flight relative to its cap.

    A backend that is up goes before one that is degraded or unknown, whatever their loads; ties
    go by the draw, so that several gateways do not all pick the first.
    """
    fit, refused = eligible(view, need, tried)
    if not fit:
        return Placement(None, (), tuple(refused))
    loads = [(b, _load(b)) for b in fit]
    best = min((_rank(b), load) for b, load in loads)
    ties = [b for b, load in loads if (_rank(b), load) == best]
    picked = ties[int(draw() * len(ties))] if len(ties) > 1 else ties[0]
    return Placement(picked, tuple([(b.name, load) for b, load in loads]), tuple(refused))


def _load(backend: BackendView) -> float:
    return (backend.in_flight + 1) / (backend.cap * backend.weight)


def _rank(backend: BackendView) -> int:
    return 0 if backend.state is State.UP else 1
