"""The frozen snapshot of a model's backends that every decision reads."""

from enum import IntEnum
from typing import Final, NamedTuple

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

    `hard_limit` is the number of requests that the engine runs at once. `max_model_len` is in
    tokens, None when unknown. `is_missing` says that the backend does
    not serve the name this model needs. `node` and `card` are its fault domains, `card` "" if it
    is not known. `is_slow` says that it does not keep what its tier promises. `modalities` are what
    it takes beside text and `keys` whom it serves, None for everything and everybody.
    """

    name: str
    served_name: str
    tier: Tier
    weight: float
    hard_limit: int
    max_model_len: int | None
    state: State
    reason: str
    is_missing: bool
    node: str
    card: str
    is_slow: bool
    modalities: frozenset[str] | None = None
    keys: frozenset[str] | None = None


class Load(NamedTuple):
    """What one backend has to do for us at one moment.

    `running` sequences are there, those of others included, `streaming` of ours past their prompt.
    `left_tokens` are those that their answers are thought to still have, `pending_s` the seconds of
    prompts not yet read, and `context_tokens` what all of it takes of the KV memory so far.
    """

    running: int
    streaming: int
    left_tokens: float
    pending_s: float
    context_tokens: float
    others: int = 0
    """Of those running, the ones that are not ours."""
    kv_ratio: float | None = None
    """The share of its KV memory in use as the engine tells it, None if it does not."""


class Speed(NamedTuple):
    """What was learnt of one backend.

    `steps` are seconds a decode step takes by batch size, from 0 to max_num_seqs + 1; `cap` is the
    largest batch that it serves well. A prompt takes `token_s` for each token and `fix_s` beside.
    `kv_tokens` is its KV memory, None when unknown.
    """

    steps: tuple[float, ...]
    cap: int
    token_s: float
    fix_s: float
    kv_tokens: int | None


NO_LOAD: Final = Load(0, 0, 0.0, 0.0, 0.0)
UNKNOWN_SPEED: Final = Speed((0.0, 0.06, 0.06), 1, 1 / 1500, 0.05, None)


class BackendView(NamedTuple):
    """One backend at one moment.

    `share_ratio` is the part of its cap that it may get now, below 1 while its load rises after a
    recovery. `cap` is how many requests it serves well, by what was learnt or configured;
    `in_flight` counts those of others as well, `load` our own.
    """

    facts: BackendFacts
    in_flight: int
    standing: Standing = Standing.READY
    share_ratio: float = 1.0
    cap: int = 1
    load: Load = NO_LOAD
    speed: Speed = UNKNOWN_SPEED


class ModelView(NamedTuple):
    """A model's backends at one moment, in the routing file's order."""

    model: str
    backends: tuple[BackendView, ...]
