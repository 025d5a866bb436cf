"""Policies of other gateways that look at sessions and prefixes."""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from tests.sim.dispatch import Dispatch, KnownFleet
from tests.sim.peers import NOTHING, Peer
from tests.sim.requests import KnownRequest, Usage

LLMD_PREFIX_WEIGHT: Final = 3.0
LLMD_QUEUE_WEIGHT: Final = 2.0
LLMD_KV_WEIGHT: Final = 2.0


class PrefixIndex:
    """Which blocks were sent to a backend, the least recently used dropped first."""

    __slots__ = ("_blocks", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._blocks: OrderedDict[int, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._blocks)

    def matched(self, prefix: Sequence[int]) -> int:
        """How many blocks from the start are known."""
        for index, key in enumerate(prefix):
            if key not in self._blocks:
                return index
        return len(prefix)

    def add(self, prefix: Sequence[int]) -> None:
        """Remember these blocks, the first one the longest."""
        for key in reversed(prefix):
            self._blocks[key] = None
            self._blocks.move_to_end(key)
        while len(self._blocks) > self._limit:
            self._blocks.popitem(last=False)


class PrefixPeer(Peer):
    """A peer with an index a backend, as large as the backend's memory."""

    def __init__(self, fleet: KnownFleet) -> None:
        super().__init__(fleet)
        self.indexes = [
            PrefixIndex(backend.kv_tokens // backend.block_tokens) for backend in fleet.backends
        ]

    def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
        """As the protocol."""
        sends = super().arrived(request, now)
        self.indexes[sends[0].backend].add(request.prefix)
        return sends


def _hashed(text: str, size: int) -> list[int]:
    """Backends in the order in which rendezvous hashing prefers them for `text`."""
    weights = [blake2b(f"{text}/{index}".encode(), digest_size=8).digest() for index in range(size)]
    return sorted(range(size), key=weights.__getitem__, reverse=True)


class SessionHash(Peer):
    """A session always goes to the same backend."""

    def choose(self, request: KnownRequest, now: float) -> int:
        """As `Peer`."""
        return _hashed(request.session, self.size)[0]


class SessionBounded(Peer):
    """As `SessionHash`, but no backend gets more than 1.25 times its share."""

    def choose(self, request: KnownRequest, now: float) -> int:
        """As `Peer`."""
        limit = 1.25 * (sum(self.inflight) + 1) / self.size
        order = _hashed(request.session, self.size)
        fitting = (index for index in order if self.inflight[index] + 1 <= max(1.0, limit))
        return next(fitting, order[0])


class CacheAware(PrefixPeer):
    """The cache-aware rule of the SGLang router: prefix, unless the load is out of balance."""

    def __init__(
        self,
        fleet: KnownFleet,
        threshold: float = 0.3,
        balance_abs: int = 64,
        balance_rel: float = 1.5,
    ) -> None:
        super().__init__(fleet)
        self._threshold = threshold
        self._balance_abs = balance_abs
        self._balance_rel = balance_rel

    def choose(self, request: KnownRequest, now: float) -> int:
        """As `Peer`."""
        most, fewest = max(self.inflight), min(self.inflight)
        if most - fewest > self._balance_abs and most > self._balance_rel * fewest:
            return self.lowest(self.inflight)
        matched = [index.matched(request.prefix) for index in self.indexes]
        best = max(range(self.size), key=lambda index: (matched[index], -self.inflight[index]))
        if request.prefix and matched[best] / len(request.prefix) > self._threshold:
            return best
        return self.lowest([float(len(index)) for index in self.indexes])


def cache_aware_tuned(fleet: KnownFleet) -> CacheAware:
    """With thresholds for backends that run few requests."""
    return CacheAware(fleet, threshold=0.3, balance_abs=2, balance_rel=1.2)


class ScoredEndpoints(PrefixPeer):
    """The scoring of llm-d: prefix, queue and KV, weighed 3 : 2 : 2, from scraped metrics."""

    def __init__(self, fleet: KnownFleet) -> None:
        super().__init__(fleet)
        self._waiting = [0] * self.size
        self._usage = [0.0] * self.size

    def choose(self, request: KnownRequest, now: float) -> int:
        """As `Peer`."""
        most, fewest = max(self._waiting), min(self._waiting)
        blocks = max(1, len(request.prefix))
        costs: list[float] = []
        for index in range(self.size):
            queue = (most - self._waiting[index]) / (most - fewest) if most > fewest else 1.0
            score = (
                LLMD_PREFIX_WEIGHT * self.indexes[index].matched(request.prefix) / blocks
                + LLMD_QUEUE_WEIGHT * queue
                + LLMD_KV_WEIGHT * (1.0 - self._usage[index])
            )
            costs.append(-score)
        return self.lowest(costs)

    def scraped(
        self,
        backend: int,
        running: int,
        waiting: int,
        kv_usage_ratio: float,
        preemptions_total: int,
        now: float,
    ) -> Sequence[Dispatch]:
        """As the protocol."""
        self._waiting[backend] = waiting
        self._usage[backend] = kv_usage_ratio
        return NOTHING


class ActiveBlocks(PrefixPeer):
    """The cost of Dynamo's KV router: uncached blocks of the prompt plus active blocks."""

    def __init__(self, fleet: KnownFleet) -> None:
        super().__init__(fleet)
        self._active = [0.0] * self.size
        self._blocks: dict[str, float] = {}

    def choose(self, request: KnownRequest, now: float) -> int:
        """As `Peer`."""
        blocks = request.prompt_tokens / request.block_tokens
        costs = [
            max(0.0, blocks - self.indexes[index].matched(request.prefix)) + self._active[index]
            for index in range(self.size)
        ]
        index = self.lowest(costs)
        self._active[index] += blocks
        self._blocks[request.id] = blocks
        return index

    def finished(
        self, request_id: str, backend: int, now: float, usage: Usage
    ) -> Sequence[Dispatch]:
        """As the protocol."""
        self._active[backend] -= self._blocks.pop(request_id)
        return super().finished(request_id, backend, now, usage)
