"""Every policy that the simulation knows, by name; a new one only needs a line here."""

from collections.abc import Mapping
from typing import Final

from tests.sim.dispatch import Maker
from tests.sim.peers import (
    CentralCapture,
    LeastInflight,
    LeastKv,
    RoundRobin,
    TokenWeight,
    TwoChoices,
)
from tests.sim.prefix_peers import (
    ActiveBlocks,
    CacheAware,
    ScoredEndpoints,
    SessionBounded,
    SessionHash,
    cache_aware_tuned,
)
from tests.sim.product import Product
from tests.sim.several import several
from tests.sim.together import Together

POLICIES: Final[Mapping[str, Maker]] = {
    "round_robin": RoundRobin,
    "least_inflight": LeastInflight,
    "two_choices": TwoChoices,
    "least_kv": LeastKv,
    "session_hash": SessionHash,
    "session_bounded": SessionBounded,
    "cache_aware": CacheAware,
    "cache_aware_tuned": cache_aware_tuned,
    "scored_endpoints": ScoredEndpoints,
    "active_blocks": ActiveBlocks,
    "token_weight": TokenWeight,
    "central_capture": CentralCapture,
    "product": Product,
}
"""Makers by name."""

CLAIRVOYANT: Final = "clairvoyant"
"""Not a `Maker`: it is made from the truth, see `tests.sim.clairvoyant`."""


def maker_of(name: str) -> Maker:
    """The maker called `name`; `name@3` stands for three gateways that share nothing.

    `product@3+store` are three that share a store.
    """
    if name.startswith("product@") and name.endswith("+store"):
        gateways = int(name.removeprefix("product@").removesuffix("+store"))
        return lambda fleet: Together(fleet, gateways)
    plain, _, count = name.partition("@")
    return several(POLICIES[plain], int(count)) if count else POLICIES[plain]
