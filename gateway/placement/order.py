"""Who of those that wait is looked at first; nobody can be passed for ever."""

from typing import Final

from gateway.config.vocabulary import Order

__all__ = ["AGEING", "MOST_EXCESS_S", "MOST_PRIORITY", "PRIORITY_STEP_S", "Order", "rank_s"]

AGEING: Final = 0.3
"""Seconds of rank that a second of waiting is worth."""

PRIORITY_STEP_S: Final = 20.0
"""Seconds of rank that one step of priority is worth; a lower number goes first."""

MOST_PRIORITY: Final = 10
MOST_EXCESS_S: Final = 60.0


def rank_s(
    order: Order, service_s: float, waited_s: float, priority: int, excess_s: float = 0.0
) -> float:
    """The rank of a waiting request in seconds; the lowest is looked at first.

    `service_s` is what its answer is thought to take, `excess_s` how much more its key was served
    than others. Every term is bounded but the one that grows with the wait, so whoever waits
    longer than (service + excess + priorities) / 0.3 is before all that come later.
    """
    step = min(max(priority, -MOST_PRIORITY), MOST_PRIORITY)
    if order is Order.FCFS:
        return step * PRIORITY_STEP_S - waited_s
    rank = service_s + step * PRIORITY_STEP_S - AGEING * waited_s
    if order is Order.FAIR:
        rank += min(max(excess_s, 0.0), MOST_EXCESS_S)
    return rank
