"""Policies of other gateways that look at nothing but load, and holding at the gateway."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from random import Random
from typing import Final

from tests.sim.dispatch import Dispatch, KnownFleet
from tests.sim.requests import KnownRequest, Usage

NOTHING: Final[Sequence[Dispatch]] = ()
BYTES_A_TOKEN: Final = 4


class Counting:
    """Counts what is in flight, and does not look at tokens unless a subclass does."""

    def __init__(self, fleet: KnownFleet) -> None:
        self.fleet = fleet
        self.size = len(fleet.backends)
        self.rng = Random(f"peer/{fleet.seed}")
        self.inflight = [0] * self.size
        self._turn = 0

    def first_token(self, request_id: str, backend: int, now: float) -> None:
        """Of no interest."""
        return

    def tokens(
        self, request_ids: Sequence[str], backend: int, count: int, started: float, now: float
    ) -> None:
        """Of no interest."""
        return

    def finished(
        self, request_id: str, backend: int, now: float, usage: Usage
    ) -> Sequence[Dispatch]:
        """As the protocol."""
        self.inflight[backend] -= 1
        return NOTHING

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
        return NOTHING

    def lowest(self, values: Sequence[float]) -> int:
        """Index of the lowest value; among equals they take turns."""
        self._turn += 1
        order = range(self.size)
        return min(order, key=lambda index: (values[index], (index - self._turn) % self.size))


class Peer(Counting, ABC):
    """Sends at once where `choose` says."""

    @abstractmethod
    def choose(self, request: KnownRequest, now: float) -> int:
        """Index of the backend for this request."""

    def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
        """As the protocol."""
        index = self.choose(request, now)
        self.inflight[index] += 1
        return (Dispatch(request, index),)


class RoundRobin(Peer):
    """One after the other."""

    def choose(self, request: KnownRequest, now: float) -> int:
        """As `Peer`."""
        self._turn += 1
        return self._turn % self.size


class LeastInflight(Peer):
    """The backend with the fewest requests in flight."""

    def choose(self, request: KnownRequest, now: float) -> int:
        """As `Peer`."""
        return self.lowest(self.inflight)


class TwoChoices(Peer):
    """The less busy of two that chance names."""

    def choose(self, request: KnownRequest, now: float) -> int:
        """As `Peer`."""
        first, second = self.rng.sample(range(self.size), 2)
        return first if self.inflight[first] <= self.inflight[second] else second


class LeastKv(Peer):
    """The lowest scraped KV usage, then the fewest in flight."""

    def __init__(self, fleet: KnownFleet) -> None:
        super().__init__(fleet)
        self._usage = [0.0] * self.size

    def choose(self, request: KnownRequest, now: float) -> int:
        """As `Peer`."""
        return self.lowest(
            [usage + 1e-6 * n for usage, n in zip(self._usage, self.inflight, strict=True)]
        )

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
        self._usage[backend] = kv_usage_ratio
        return NOTHING


class TokenWeight(Peer):
    """The example proxy of vLLM-Ascend, prefill and decode on one instance.

    A request weighs the bytes of its body until it has finished, and until its first token also
    the prefill score, once as active tokens and 0.3 times as active KV.
    """

    def __init__(self, fleet: KnownFleet) -> None:
        super().__init__(fleet)
        self._weights = [0.0] * self.size
        self._prefill: dict[str, float] = {}
        self._decode: dict[str, float] = {}

    def choose(self, request: KnownRequest, now: float) -> int:
        """As `Peer`."""
        index = self.lowest(self._weights)
        body = BYTES_A_TOKEN * request.prompt_tokens
        prefill = 1.3 * (0.0345 * body / 4 + 120.07)
        self._decode[request.id] = body
        self._prefill[request.id] = prefill
        self._weights[index] += body + prefill
        return index

    def first_token(self, request_id: str, backend: int, now: float) -> None:
        """As the protocol."""
        self._weights[backend] -= self._prefill.pop(request_id)

    def finished(
        self, request_id: str, backend: int, now: float, usage: Usage
    ) -> Sequence[Dispatch]:
        """As the protocol."""
        self._weights[backend] -= self._decode.pop(request_id)
        return super().finished(request_id, backend, now, usage)


class CentralCapture(Counting):
    """Holds requests, first come first served, while every backend is at its largest capture size.

    An eager backend, or one whose sizes nobody told, is filled up to max_num_seqs.
    """

    def __init__(self, fleet: KnownFleet) -> None:
        super().__init__(fleet)
        self._held: deque[KnownRequest] = deque()
        self._caps = [
            min(backend.max_num_seqs, max(backend.capture_sizes or (backend.max_num_seqs,)))
            for backend in fleet.backends
        ]

    def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
        """As the protocol."""
        self._held.append(request)
        return self._release()

    def finished(
        self, request_id: str, backend: int, now: float, usage: Usage
    ) -> Sequence[Dispatch]:
        """As the protocol."""
        super().finished(request_id, backend, now, usage)
        return self._release()

    def _release(self) -> Sequence[Dispatch]:
        sends: list[Dispatch] = []
        while self._held:
            free = [
                float(n) if n < cap else float("inf")
                for n, cap in zip(self.inflight, self._caps, strict=True)
            ]
            index = self.lowest(free)
            if free[index] == float("inf"):
                break
            self.inflight[index] += 1
            sends.append(Dispatch(self._held.popleft(), index))
        return sends
