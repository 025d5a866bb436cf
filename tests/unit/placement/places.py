"""Backends, views and requests for tables about placement."""

from gateway.config.vocabulary import Tier
from gateway.fleet.health.machine import State
from gateway.fleet.view import BackendFacts, BackendView, Load, ModelView, Speed
from gateway.placement.cost import Ask
from gateway.placement.rule import Option

STEPS = (0.0, 0.10, 0.11, 0.12, 0.13, 0.30, 0.30)
"""A cliff after four."""

SPEED = Speed(STEPS, 4, 0.001, 0.05, None)
ASK = Ask(200, 100.0, 50.0)


def load(running: int, left: float = 0.0, pending_s: float = 0.0, context: float = 0.0) -> Load:
    return Load(running, running, left, pending_s, context)


def backend(
    name: str, running: int = 0, cap: int = 4, weight: float = 1.0, speed: Speed = SPEED
) -> BackendView:
    facts = BackendFacts(name, "m", Tier.GRAPH, weight, 5, None, State.UP, "", False, "", "", False)
    return BackendView(facts, running, cap=cap, load=load(running, 100.0 * running), speed=speed)


def view(*backends: BackendView) -> ModelView:
    return ModelView("m", backends)


def option(one: BackendView, ask: Ask = ASK, penalty_s: float = 0.0) -> Option:
    return Option(one, ask, one.cap, one.load.running, 0, penalty_s)
