"""What an engine's own metrics add to what we reckon: memory, strangers, and what is underrated."""

from typing import Final, NamedTuple

from gateway.fleet.health.evidence import Activity
from gateway.fleet.peers import PeerWork
from gateway.fleet.telemetry.freshness import Gauges, Scrapes

_BIAS_A_PREEMPTION: Final = 1.2
_MOST_BIAS: Final = 2.0
_BIAS_FADES: Final = 0.995
# Blocks are rounded up, estimates err; what goes beyond that is not ours, or not true.
_TRUSTED_RATIO: Final = 0.1
_MOST_KV_TOKENS: Final = 10**10
_RESTARTS_APART_S: Final = 60.0


class News(NamedTuple):
    """What a scrape brought: whether there is anything new, a restart, a preemption."""

    is_new: bool
    is_restarted: bool = False
    is_preempted: bool = False


NO_NEWS: Final = News(is_new=False)


class Figures:
    """The newest figures of one engine.

    `kv_tokens` is its KV memory, None when unknown. `bias` is by how much contexts are larger than
    they are reckoned, as preemptions tell; `excess_tokens` of the memory are taken by nobody known.
    """

    __slots__ = ("_restarted_at_s", "_scrapes", "bias", "excess_tokens", "kv_tokens", "peers")

    def __init__(self, kv_tokens: int | None, interval_s: float) -> None:
        self._scrapes = Scrapes(interval_s)
        self._restarted_at_s = float("-inf")
        self.kv_tokens = kv_tokens
        self.bias = 1.0
        self.excess_tokens = 0.0
        self.peers: PeerWork | None = None
        """What other gateways have there now; None while that is not known."""

    def __repr__(self) -> str:
        return f"<Figures {self._scrapes.last} peers {self.peers}>"

    @property
    def last(self) -> Gauges | None:
        """The newest figures, however old; None before the first time."""
        return self._scrapes.last

    def at(self, now: float) -> Gauges | None:
        """The newest figures; None if they are too old, and then nothing is known."""
        return self._scrapes.gauges_at(now)

    def is_blind(self, now: float) -> bool:
        """Whether nothing tells what others have there: neither gateways nor the engine."""
        return self.peers is None and self.at(now) is None

    def strangers(self, now: float, limit: int) -> int:
        """Requests there that no known gateway has sent; `limit` is max_num_seqs."""
        peers = None if self.peers is None else self.peers.requests
        return self._scrapes.foreign_at(now, limit, peers)

    @property
    def is_shared(self) -> bool:
        """Whether strangers were there at the last scrape: then the batch's size is not known."""
        last = self._scrapes.last
        if last is None:
            return False
        return (last.foreign if self.peers is None else last.strange(self.peers.requests)) > 0

    def take(self, activity: Activity | None, asked_s: float, answered_s: float, own: int) -> News:
        """Takes one scrape in; None for figures that could not be read: the old ones go stale."""
        before = self._scrapes.last
        peers = None if self.peers is None else self.peers.requests
        self._scrapes = self._scrapes.take(activity, asked_s, answered_s, own, peers)
        gauges = self._scrapes.last
        if activity is None or gauges is None or gauges is before:
            return NO_NEWS
        if gauges.kv_capacity_tokens is not None:
            self.kv_tokens = min(gauges.kv_capacity_tokens, _MOST_KV_TOKENS)
        if gauges.is_restarted and answered_s - self._restarted_at_s > _RESTARTS_APART_S:
            self._restarted_at_s = answered_s
            return News(is_new=True, is_restarted=True)
        if before is not None and gauges.preemptions_total > before.preemptions_total:
            self.bias = min(_MOST_BIAS, self.bias * _BIAS_A_PREEMPTION)
            return News(is_new=True, is_preempted=True)
        self.bias = 1.0 + (self.bias - 1.0) * _BIAS_FADES
        return News(is_new=True)

    def reckon_excess(self, context_tokens: float, *, has_strangers: bool) -> None:
        """What the memory holds beyond the contexts that are known, at the last scrape."""
        self.excess_tokens = 0.0
        gauges = self._scrapes.last
        if self.kv_tokens is None or gauges is None:
            return
        most = self.kv_tokens * (1.0 if has_strangers else _TRUSTED_RATIO)
        used = (gauges.kv_pressure_ratio or 0.0) * self.kv_tokens
        theirs = 0.0 if self.peers is None else self.peers.context_tokens
        self.excess_tokens = min(most, max(0.0, used - self.bias * context_tokens - theirs))
