"""Hand-made decisions: three backends of a 27B, with what they cost written down."""

from typing import Any

from gateway.config.vocabulary import Tier
from gateway.fleet.health.machine import State
from gateway.fleet.view import UNKNOWN_SPEED, BackendFacts, BackendView, Load, ModelView, Standing
from gateway.observe.trails import Trail, Trails
from gateway.placement.cost import Ask, Price
from gateway.placement.eligible import Need
from gateway.placement.rule import Choice, Option
from gateway.placement.want import Placed, Want

SPEED = UNKNOWN_SPEED._replace(token_s=0.001, fix_s=0.5)


def backend(
    name: str,
    running: int = 0,
    *,
    tier: Tier = Tier.GRAPH,
    standing: Standing = Standing.READY,
    reason: str = "generates",
    **facts: Any,
) -> BackendView:
    state = State.DOWN if standing is Standing.OUT else State.UP
    values: dict[str, Any] = {
        "name": name,
        "served_name": "m",
        "tier": tier,
        "weight": 1.0,
        "hard_limit": 8,
        "max_model_len": 40960,
        "state": state,
        "reason": reason,
        "is_missing": False,
        "node": "n",
        "card": "",
        "is_slow": False,
    } | facts
    known = {name: value for name, value in values.items() if name in BackendFacts._fields}
    load = Load(running, running, 100.0 * running, 0.0, 0.0)
    return BackendView(BackendFacts(**known), running, standing, 1.0, 4, load, SPEED)


def price(own: float, others: float = 0.0, wait: float = 0.0, risk: float = 0.0) -> Price:
    return Price(own + others + wait + risk, own, others, wait, 0.0, risk, True, risk > 50.0)


def option(view: BackendView, uncached: float = 500.0, penalty_s: float = 0.0) -> Option:
    ask = Ask(4000, uncached, 300.0)
    return Option(view, ask, view.cap, view.load.running, 0, penalty_s)


A, B = backend("27b-a", 2), backend("27b-b", 4)
EAGER = backend("27b-e", tier=Tier.EAGER)
DOWN = backend("27b-c", standing=Standing.OUT, reason="it refuses connections")
VIEW = ModelView("qwen3.5-27b", (A, B, DOWN, EAGER))
FULL = ModelView("qwen3.5-27b", (backend("27b-a", 4), B, DOWN, EAGER))


def want(tried: tuple[str, ...] = (), need: Need | None = None) -> Want:
    return Want("id", 100.0, 4000, 300, prefix=list(range(31)), need=need, tried=tried)


def placed(
    chosen: int = 0,
    prices: tuple[Price, ...] = (price(28.0, 3.0), price(30.0, 4.0, 20.0), price(48.0)),
    options: tuple[Option, ...] = (option(A), option(B), option(EAGER)),
    view: ModelView = VIEW,
    reason: str = "",
) -> Placed:
    choice = Choice(chosen, True, prices, reason)
    return Placed(want(), options[chosen].backend, view, (), options, choice)


def nobody(tried: tuple[str, ...] = ("27b-a",), need: Need | None = None) -> Placed:
    view = ModelView("qwen3.5-27b", (A, DOWN))
    return Placed(want(tried, need), None, view, tried)


def whole_story(trails: Trails) -> Trail:
    """A wait, a failed attempt, another one that answers."""
    trail = trails.begin("req-1", "qwen-27b", "app", 100.0, 1_764_741_044.25)
    trail.model = "qwen3.5-27b"
    trail.joined(3, 2.0, 100.0, FULL)
    trail.decided(placed(), 102.1, 5)
    trail.attempted("27b-a", "qwen3.5-27b", 102.1)
    trail.ended("cut", "the connection ended after 3 events.", 103.6)
    options = (option(EAGER),)
    second = placed(0, (price(48.0),), options)._replace(tried=("27b-a", "27b-b"))
    trail.decided(second, 103.6)
    trail.attempted("27b-e", "qwen3.5-27b", 103.7)
    trail.ended("answered", "", 150.0)
    trail.finished(200, None, None, 150.1)
    return trail
