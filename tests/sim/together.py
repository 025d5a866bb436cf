"""Several gateways of the product that share a store: claims at once, all else a moment later."""

from collections.abc import Sequence
from typing import Final

from gateway.fleet.peers import PeerWork
from gateway.placement.handover import heir
from gateway.placement.want import Want
from tests.sim.dispatch import Dispatch, KnownFleet
from tests.sim.product import Product
from tests.sim.requests import KnownRequest, Usage
from tests.sim.several import Several

EVERY_S: Final = 0.4
"""Seconds between two bulletins, as in `gateway.workers.sharing`."""


class Sharer(Product):
    """One of them. `shared` has the exact number of requests at each backend."""

    def __init__(self, fleet: KnownFleet, shared: list[int]) -> None:
        super().__init__(fleet, is_shared=True)
        self._shared = shared

    @property
    def oldest_s(self) -> float | None:
        """When the first of its line came; None if nobody waits."""
        return self._lane.oldest_s if len(self._lane) else None

    def finished(
        self, request_id: str, backend: int, now: float, usage: Usage
    ) -> Sequence[Dispatch]:
        """Books the end; who gets the place is decided by the caller."""
        self._shared[backend] -= 1
        self._book_end(request_id, backend, now, usage)
        return ()

    def look(self, now: float) -> list[Dispatch]:
        """Places whom it can: decides, claims, and waits on where others were quicker."""
        return list(self._place(now))

    def give_over(self, backend: int, now: float) -> None:
        """A place of its own is another gateway's now."""
        work = self._works[backend]
        peers = work.figures.peers or PeerWork()
        work.take_peers(peers._replace(requests=peers.requests + 1), now)

    def take_over(self, backend: int, now: float) -> None:
        """Another gateway has left a place to this one."""
        self._take_count(backend, now)

    def told(self, now: float) -> list[PeerWork]:
        """Its bulletin: its work at each backend."""
        loads = [work.own_load(now) for work in self._works]
        return [
            PeerWork(one.running, one.streaming, one.left_tokens, one.pending_s, one.context_tokens)
            for one in loads
        ]

    def news(self) -> list[tuple[str, tuple[int, ...], int]]:
        """The prompts that it has sent where since the last bulletin."""
        indexes = self._indexes.items()
        return [(name, *one) for name, index in indexes for one in index.take_news()]

    def hear(
        self,
        bulletins: Sequence[Sequence[PeerWork]],
        prompts: Sequence[tuple[str, tuple[int, ...], int]],
        now: float,
    ) -> None:
        """What the others told: their work is added up."""
        for backend, work in enumerate(self._works):
            at = [told[backend] for told in bulletins]
            work.take_peers(PeerWork(*(sum(values) for values in zip(*at, strict=True))), now)
        for name, blocks, tail in prompts:
            self._indexes[name].hear(blocks, tail)

    def _place(self, now: float) -> Sequence[Dispatch]:
        sent: list[Dispatch] = []
        lost: list[Want] = []
        for placed in self._lane.plan(lambda: self._view(now), now, self._draw):
            assert placed.backend is not None
            backend = self._numbers[placed.backend.facts.name]
            limit = max(1, placed.cap - placed.load.others)
            is_free = not self._shared[backend] or self._shared[backend] + 1 <= limit
            self._take_count(backend, now)
            if is_free:
                self._shared[backend] += 1
                sent.append(self.send(placed, now))
            else:
                lost.append(placed.want)
        for want in lost:
            self._lane.join(want)
        return sent

    def _take_count(self, backend: int, now: float) -> None:
        """What a claim tells: how many the others have, exactly."""
        work = self._works[backend]
        others = max(0, self._shared[backend] - len(work))
        peers = work.figures.peers or PeerWork()
        streaming = min(peers.streaming, others)
        work.take_peers(peers._replace(requests=others, streaming=streaming), now)


class Together(Several):
    """Requests come to the gateways in turn."""

    def __init__(self, fleet: KnownFleet, count: int) -> None:
        self._shared = [0] * len(fleet.backends)
        self._sharers = [Sharer(fleet, self._shared) for _ in range(count)]
        super().__init__(self._sharers)
        self._told_s = float("-inf")

    def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
        """As the protocol."""
        return [*self._tell(now), *super().arrived(request, now)]

    def finished(
        self, request_id: str, backend: int, now: float, usage: Usage
    ) -> Sequence[Dispatch]:
        """The place goes to whoever has waited longest."""
        sent = self._tell(now)
        owner = self._owner[request_id]
        assert isinstance(owner, Sharer)
        owner.finished(request_id, backend, now, usage)
        others = {
            str(number): {"m": now - since_s}
            for number, one in enumerate(self._sharers)
            if one is not owner and (since_s := one.oldest_s) is not None
        }
        own_s = None if owner.oldest_s is None else now - owner.oldest_s
        name = heir(["m"], own_s, others)
        if name is not None:
            owner.give_over(backend, now)
            other = self._sharers[int(name)]
            other.take_over(backend, now)
            return [*sent, *other.look(now)]
        return [*sent, *owner.look(now)]

    def _tell(self, now: float) -> list[Dispatch]:
        """Bulletins, when it is time for them; then everybody looks."""
        if now - self._told_s < EVERY_S:
            return []
        self._told_s = now
        told = [one.told(now) for one in self._sharers]
        news = [one.news() for one in self._sharers]
        for number, one in enumerate(self._sharers):
            rest = [t for n, t in enumerate(told) if n != number]
            prompts = [p for n, many in enumerate(news) if n != number for p in many]
            one.hear(rest, prompts, now)
        return [send for one in self._sharers for send in one.look(now)]
