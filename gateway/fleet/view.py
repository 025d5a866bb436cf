"""The frozen snapshot of a model's backends that every decision reads."""

from typing import NamedTuple

from gateway.config.vocabulary import Tier
from gateway.fleet.health.machine import State


class BackendFacts(NamedTuple):
    """What is known of one backend, as far as one model is concerned.

    `cap` is the sensible number of requests in flight, `hard_limit` the number the engine runs at
    once. `max_model_len` is in tokens, None when unknown. `is_missing` says that the backend does
    not serve the name this model needs.
    """

    name: str
    served_name: str
    tier: Tier
    weight: float
    cap: int
    hard_limit: int
    max_model_len: int | None
    state: State
    reason: str
    is_missing: bool


class BackendView(NamedTuple):
    """One backend at one moment: its facts and the requests in flight there."""

    facts: BackendFacts
    in_flight: int


class ModelView(NamedTuple):
    """A model's backends at one moment, in the routing file's order."""

    model: str
    backends: tuple[BackendView, ...]
