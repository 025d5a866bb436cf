"""The rule of least marginal cost, which also decides when to wait for a better place."""

from collections.abc import Sequence

from gateway.placement.cost import WEIGHTS, Weights, price, slot_price
from gateway.placement.rule import Choice, Draw, Option, Pressure


class LeastCost:
    """Places a request where it costs least; if that backend is full, it waits for it."""

    __slots__ = ("_weights",)

    def __init__(self, weights: Weights = WEIGHTS) -> None:
        self._weights = weights

    def __repr__(self) -> str:
        return f"<LeastCost {self._weights}>"

    def choose(self, options: Sequence[Option], pressure: Pressure, draw: Draw) -> Choice:
        """As `Rule`; a draw decides between equals."""
        weights = self._weights
        scarce = 0
        for option in options:
            scarce += option.backend.load.running >= option.cap - 1
        a_slot = slot_price(pressure.held, pressure.mean_held, scarce, weights)
        prices = []
        best, least, equals = 0, float("inf"), 1
        for index, option in enumerate(options):
            view = option.backend
            found = price(
                option.ask, view.load, view.speed, option.cap, a_slot, option.reserved, weights
            )
            prices.append(found)
            cost = found.total_s / view.facts.weight + option.penalty_s
            if cost < least:
                best, least, equals = index, cost, 1
            elif cost == least:
                equals += 1
                if draw() * equals < 1.0:
                    best = index
        return Choice(best, prices[best].is_free, tuple(prices))
