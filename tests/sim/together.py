"""Several gateways of the product that share a store: claims at once, all else a moment later."""

from collections.abc import Sequence
from math import floor
from operator import itemgetter
from random import Random
from typing import Final, NamedTuple

from gateway.fleet.peers import PeerWork
from gateway.placement.handover import heir
from gateway.placement.want import Want
from tests.sim.dispatch import Dispatch, KnownFleet
from tests.sim.product import Product
from tests.sim.requests import KnownRequest, Usage
from tests.sim.several import Several

EVERY_S: Final = 0.4
"""Seconds between two bulletins, as in `gateway.workers.sharing`."""

DELAY_S: Final = 0.25
"""How old a bulletin is when the others hear it: each gateway asks at moments of its own."""

_Prompt = tuple[str, tuple[int, ...], int]


class _Bulletin(NamedTuple):
    """What one gateway tells, by backend."""

    works: list[PeerWork]
    steps: list[tuple[float, float, float] | None]
    readings: list[tuple[float, float, int] | None]


class _Told(NamedTuple):
    """What all of them told at one moment."""

    tick: int
    bulletins: list[_Bulletin]
    prompts: list[list[_Prompt]]


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

    def told(self, now: float) -> _Bulletin:
        """Its work at each backend, and what it has learnt there."""
        loads = [work.own_load(now) for work in self._works]
        return _Bulletin(
            [
                PeerWork(
                    one.running, one.streaming, one.left_tokens, one.pending_s, one.context_tokens
                )
                for one in loads
            ],
            [work.decode.lesson for work in self._works],
            [work.prefill.lesson for work in self._works],
        )

    def news(self) -> list[_Prompt]:
        """The prompts that it has sent where since the last bulletin."""
        indexes = self._indexes.items()
        return [(name, *one) for name, index in indexes for one in index.take_news()]

    def hear(
        self,
        bulletins: Sequence[_Bulletin],
        prompts: Sequence[_Prompt],
        now: float,
    ) -> None:
        """What the others told: work is added up, of lessons the one from the most counts."""
        for backend, work in enumerate(self._works):
            steps = [told.steps[backend] for told in bulletins]
            step = max((s for s in steps if s is not None), key=itemgetter(2), default=None)
            readings = [told.readings[backend] for told in bulletins]
            reading = max((r for r in readings if r is not None), key=itemgetter(2), default=None)
            work.decode.hear(step and step[:2])
            work.prefill.hear(reading and reading[:2])
            at = [told.works[backend] for told in bulletins]
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
    """Each request comes to a gateway that chance draws, whatever conversation it belongs to."""

    def __init__(self, fleet: KnownFleet, count: int) -> None:
        self._shared = [0] * len(fleet.backends)
        self._sharers = [Sharer(fleet, self._shared) for _ in range(count)]
        super().__init__(self._sharers)
        self._tick = -1
        self._unheard: list[_Told] = []
        self._rng = Random(f"gateway/{fleet.seed}")

    def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
        """As the protocol."""
        sent = self._tell(now)
        self._owner[request.id] = gateway = self._rng.choice(self._sharers)
        return [*sent, *gateway.arrived(request, now)]

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
        figures = (backend, running, waiting, kv_usage_ratio, preemptions_total, now)
        return [*self._tell(now), *super().scraped(*figures)]

    def _tell(self, now: float) -> list[Dispatch]:
        """Bulletins of the moments that passed since the last event, and those now heard.

        Between two events nothing changes but progress, so what is there now was there then.
        """
        newest = floor(now / EVERY_S)
        heard = floor((now - DELAY_S) / EVERY_S)
        for tick in sorted({heard, newest}):
            if tick > self._tick:
                self._tick = tick
                bulletins = [one.told(now) for one in self._sharers]
                prompts = [one.news() for one in self._sharers]
                self._unheard.append(_Told(tick, bulletins, prompts))
        sent: list[Dispatch] = []
        while self._unheard and self._unheard[0].tick <= heard:
            sent += self._hear(self._unheard.pop(0), now)
        return sent

    def _hear(self, told: _Told, now: float) -> list[Dispatch]:
        """Each hears the others; then everybody looks."""
        for number, sharer in enumerate(self._sharers):
            rest = [one for n, one in enumerate(told.bulletins) if n != number]
            prompts = [p for n, many in enumerate(told.prompts) if n != number for p in many]
            sharer.hear(rest, prompts, now)
        return [send for one in self._sharers for send in one.look(now)]
