"""The frozen snapshot of a model's backends that every decision reads."""

from enum import IntEnum
from typing import NamedTuple

from gateway.config.vocabulary import Tier
from gateway.fleet.health.machine import State


class Standing(IntEnum):
    """How good a backend is to be asked now; lower is better."""

    READY = 0
    DOUBTFUL = 1
    """It may serve, but something speaks against it or nothing is known yet."""
    LAST_RESORT = 2
    """Only if nothing else is left: it may be well, and asking it is better than refusing."""
    OUT = 3


class BackendFacts(NamedTuple):
    """What is known of one backend, as far as one model is concerned.

    `cap` is the sensible number of requests in flight, `hard_limit` the number the engine runs at
    once. `max_model_len` is in tokens, None when unknown. `is_missing` says that the backend does
    not serve the name this model needs. `node` and `card` are its fault domains, `card` "" if it
    is not known. `is_slow` says that it does not keep what its tier promises.
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
    node: str
    card: str
    is_slow: bool


class BackendView(NamedTuple):
    """One backend at one moment.

    `share_ratio` is the part of its cap that it may get now, below 1 while its load rises after a
    recovery.
    """

    facts: BackendFacts
    in_flight: int
    standing: Standing = Standing.READY
    share_ratio: float = 1.0


class ModelView(NamedTuple):
    """A model's backends at one moment, in the routing file's order."""

    model: str
    backends: tuple[BackendView, ...]
