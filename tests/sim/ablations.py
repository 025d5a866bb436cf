"""The product without one of its parts each, to see what that part is worth."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gateway.fleet.view import ModelView, Speed
from gateway.placement.cost import WEIGHTS
from gateway.placement.marginal import LeastCost
from gateway.placement.order import Order
from gateway.placement.rule import Choice, Draw, Option, Pressure
from tests.sim.dispatch import KnownFleet
from tests.sim.product import GRAPH_STEP_S, Product

_NEVER_FULL: Final = 1_000_000
_PRIOR_TOKEN_S: Final = 1 / 1500
_PRIOR_FIX_S: Final = 0.05


class Blind:
    """The rule, but it sees options that something was taken from."""

    def __init__(self, change: Callable[[Option], Option]) -> None:
        self._change = change
        self._rule = LeastCost()

    def choose(self, options: Sequence[Option], pressure: Pressure, draw: Draw) -> Choice:
        """As `Rule`."""
        return self._rule.choose([self._change(option) for option in options], pressure, draw)


class NeverHolds(Product):
    """Sends at once to where it costs least, as if nothing were ever full."""

    def _view(self, now: float) -> ModelView:
        view = super()._view(now)
        backends = (backend._replace(cap=_NEVER_FULL) for backend in view.backends)
        return ModelView(view.model, tuple(backends))


def _no_prefix(option: Option) -> Option:
    ask = option.ask
    return option._replace(ask=ask._replace(uncached_tokens=ask.prompt_tokens))


def _no_memory(option: Option) -> Option:
    speed = option.backend.speed._replace(kv_tokens=None)
    load = option.backend.load._replace(kv_ratio=None)
    return option._replace(backend=option.backend._replace(speed=speed, load=load))


def _no_speeds(option: Option) -> Option:
    """All engines are thought to be alike, and as fast as before anything was seen."""
    known = option.backend.speed
    steps = tuple(GRAPH_STEP_S if size else 0.0 for size in range(len(known.steps)))
    speed = Speed(steps, known.cap, _PRIOR_TOKEN_S, _PRIOR_FIX_S, known.kv_tokens)
    return option._replace(backend=option.backend._replace(speed=speed))


ABLATIONS: Final[Mapping[str, Callable[[KnownFleet], Product]]] = {
    "others": lambda fleet: Product(fleet, weights=WEIGHTS._replace(others=0.0)),
    "scarcity": lambda fleet: Product(fleet, weights=WEIGHTS._replace(scarcity=0.0)),
    "patience": lambda fleet: Product(fleet, weights=WEIGHTS._replace(patience=0.0)),
    "prefix": lambda fleet: Product(fleet, rule=Blind(_no_prefix)),
    "memory": lambda fleet: Product(fleet, rule=Blind(_no_memory)),
    "speeds": lambda fleet: Product(fleet, rule=Blind(_no_speeds)),
    "hold": NeverHolds,
    "order": lambda fleet: Product(fleet, order=Order.FCFS),
}
"""Makers by the name of what is missing."""
