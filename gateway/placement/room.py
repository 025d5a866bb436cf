"""How much room a backend has for a request, and what speaks against it beside its load."""

from typing import Final

from gateway.fleet.view import BackendView, ModelView
from gateway.placement.want import Domain, Kind, Want

# Seconds that speak against a backend beside its load, chosen to outweigh, in this order, a short
# answer on eager, any ordinary answer, a wait, nothing but a tie, and everything.
DOUBTFUL_S: Final = 30.0
SAME_CARD_S: Final = 60.0
SAME_NODE_S: Final = 15.0
NOT_HOME_S: Final = 0.25
BOUND_S: Final = 3600.0
_UNBOUNDED: Final = 1_000_000_000


def cap_now(backend: BackendView) -> int:
    """How many requests the backend may have now, at least 1."""
    share_ratio = backend.share_ratio
    if share_ratio == 1.0:
        return max(1, backend.cap)
    return max(1, int(backend.cap * share_ratio))


def cap_for(backend: BackendView, kind: Kind) -> int:
    """The same for a request of this kind."""
    if kind is Kind.GENERATE:
        return cap_now(backend)
    if kind is Kind.ASK:
        return _UNBOUNDED
    return max(1, int(backend.facts.hard_limit * backend.share_ratio))


def roomy_of(view: ModelView) -> list[BackendView]:
    """Backends with fewer requests than they serve well; without any of ours one may always try."""
    return [
        backend
        for backend in view.backends
        if (load := backend.load).running < cap_now(backend) or load.running <= load.others
    ]


def penalty_of(backend: BackendView, want: Want) -> float:
    """What speaks against a backend: the same card or node as one that failed, or not its home."""
    facts = backend.facts
    penalty_s = max((_nearness_s(facts.node, facts.card, at) for at in want.failed_in), default=0.0)
    if want.home and want.home != facts.name:
        penalty_s += BOUND_S if want.is_bound else NOT_HOME_S
    return penalty_s


def _nearness_s(node: str, card: str, failed_in: Domain) -> float:
    if node != failed_in.node:
        return 0.0
    return SAME_CARD_S if card and card == failed_in.card else SAME_NODE_S
