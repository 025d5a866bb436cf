"""The rule of least marginal cost, which also decides when to wait for a better place."""

from collections.abc import Sequence
from typing import Final

from gateway.placement.cost import WEIGHTS, Price, Weights, price, slot_price
from gateway.placement.rule import Choice, Draw, Option, Pressure

# Costs are estimates: nearer to each other than this they are the same. Chance decides then, so
# that several gateways do not all take the first, and none of several equals is never used.
_EQUAL_S: Final = 0.05
_EQUAL_RATIO: Final = 1.01


class LeastCost:
    """Places a request where it costs least; if that backend is full, it waits for it."""

    __slots__ = ("_weights",)

    def __init__(self, weights: Weights = WEIGHTS) -> None:
        self._weights = weights

    def __repr__(self) -> str:
        return f"<LeastCost {self._weights}>"

    def choose(self, options: Sequence[Option], pressure: Pressure, draw: Draw) -> Choice:
        """As `Rule`; a draw decides between equals, of which one with room is taken."""
        weights = self._weights
        scarce = 0
        for option in options:
            scarce += option.running >= option.cap - 1
        a_slot = slot_price(pressure.held, pressure.mean_held, scarce, weights)
        prices: list[Price] = []
        costs: list[float] = []
        for option in options:
            view = option.backend
            found = price(
                option.ask, view.load, view.speed, option.cap, a_slot, option.reserved, weights
            )
            prices.append(found)
            costs.append(found.total_s / view.facts.weight + option.penalty_s)
        limit = min(costs) * _EQUAL_RATIO + _EQUAL_S
        equals = [index for index, cost in enumerate(costs) if cost <= limit]
        if len(equals) > 1:
            equals = [index for index in equals if prices[index].is_free] or equals
        best = equals[int(draw() * len(equals))] if len(equals) > 1 else equals[0]
        return Choice(best, prices[best].is_free, tuple(prices))
