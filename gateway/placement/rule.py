"""The seam between a model's line and the rule that places its requests."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from gateway.fleet.view import BackendView
from gateway.placement.cost import Ask, Price

Draw = Callable[[], float]
"""A draw from [0, 1), so that chance comes in from outside."""


class Option(NamedTuple):
    """One backend that may serve the request.

    `cap` is how many requests it may have now and `running` how many count against that,
    `reserved` how many wait for it already, and `penalty_s` what speaks against it beside its load.
    """

    backend: BackendView
    ask: Ask
    cap: int
    running: int
    reserved: int = 0
    penalty_s: float = 0.0

    @property
    def has_room(self) -> bool:
        """Whether it serves well what it has and this request; alone it may always run."""
        running = self.running
        return running <= self.backend.load.others or running + self.ask.sequences <= self.cap


class Pressure(NamedTuple):
    """How many requests wait for the model now and of late, and how many were placed so far."""

    held: int = 0
    mean_held: float = 0.0
    placed_total: int = 0


class Choice(NamedTuple):
    """The option that was chosen and whether it can be had now; `prices` in the options' order.

    Rules that do not price leave `prices` empty and say in `reason` what they went by.
    """

    chosen: int
    is_free: bool
    prices: tuple[Price, ...] = ()
    reason: str = ""


class Rule(Protocol):
    """A pure rule of placement; it has no state but its settings."""

    def choose(self, options: Sequence[Option], pressure: Pressure, draw: Draw) -> Choice:
        """The best of the options, of which there is at least one."""
        ...
