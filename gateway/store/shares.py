"""Places at backends that several gateways share: claimed before use, given back or given over."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gateway.fleet.live import LiveBackend
from gateway.fleet.peers import NO_PEERS
from gateway.placement.handover import heir
from gateway.store.shared import Claim, SharedStore, StoreError


class Place(NamedTuple):
    """One claimed place."""

    live: LiveBackend
    lease: str
    sequences: int


class Line:
    """How many wait in another gateway's line for a model, and since when here (monotonic)."""

    __slots__ = ("count", "since_s")

    def __init__(self, count: int, since_s: float) -> None:
        self.count = count
        self.since_s = since_s


class Shares:
    """The places that this gateway has, as the others see them.

    `models_at` says which models a backend serves, `oldest_s` since when the first of a model's own
    line waits (monotonic; None if nobody does). `lines` are those of the other gateways, by gateway
    and model, as they told last.
    """

    def __init__(
        self,
        store: SharedStore,
        models_at: Callable[[str], Sequence[str]],
        oldest_s: Callable[[str], float | None],
        now: Callable[[], float],
    ) -> None:
        self._store = store
        self._models_at = models_at
        self._oldest_s = oldest_s
        self._now = now
        self._numbers = itertools.count(1)
        self._places: dict[str, dict[str, int]] = {}
        self.lines: Mapping[str, Mapping[str, Line]] = {}

    def __repr__(self) -> str:
        return f"<Shares {sum(map(len, self._places.values()))} places>"

    def waiting(self, model: str) -> int:
        """How many wait for a model at other gateways, as they told last."""
        found = (lines.get(model) for lines in self.lines.values())
        return sum(max(0, line.count) for line in found if line is not None)

    def held(self, live: LiveBackend) -> tuple[tuple[str, int], ...]:
        """The places that this gateway has at a backend, with their sequences."""
        return tuple(self._places.get(live.key, {}).items())

    async def claim(
        self, live: LiveBackend, model: str, sequences: int, limit: int | None
    ) -> Place | None:
        """A place at the backend; None when others have taken it meanwhile.

        When the store does not answer, what is known here decides, and that has been asked already.
        """
        lease = f"{next(self._numbers)}/{model}"
        place = Place(live, lease, sequences)
        places = self._places.setdefault(live.key, {})
        own = sum(places.values())
        places[lease] = sequences
        try:
            granted = await self._store.claim(Claim(live.key, lease, sequences, limit))
        except StoreError:
            return place
        except BaseException:
            self.release(place)
            raise
        # What is not known to be this gateway's is somebody else's.
        self._take_count(live, max(0, granted.held - own))
        if not granted.is_granted:
            places.pop(lease, None)
            return None
        return place

    def release(self, place: Place) -> None:
        """Gives a place back, to the gateway whose request has waited longest."""
        live = place.live
        if self._places.get(live.key, {}).pop(place.lease, None) is None:
            return
        wake = self._heir(live, place.sequences)
        self._store.release(live.key, place.lease, place.sequences, wake)
        if wake is not None:
            # It is taken already, as far as this gateway is concerned.
            peers = live.work.figures.peers or NO_PEERS
            self._take_count(live, peers.requests + place.sequences)

    def given_over(self, live: LiveBackend) -> None:
        """Another gateway has left a place there to this one."""
        peers = live.work.figures.peers
        if peers is not None and peers.requests:
            self._take_count(live, peers.requests - 1)

    def forget(self, keys: frozenset[str]) -> None:
        """Backends that are gone for good have no places."""
        for key in [key for key, places in self._places.items() if not places]:
            if key not in keys:
                del self._places[key]

    def _take_count(self, live: LiveBackend, requests: int) -> None:
        peers = live.work.figures.peers or NO_PEERS
        if live.work.figures.peers is None or peers.requests != requests:
            streaming = min(peers.streaming, requests)
            taken = peers._replace(requests=requests, streaming=streaming)
            live.work.take_peers(taken, self._now())

    def _heir(self, live: LiveBackend, sequences: int) -> str | None:
        if not self.lines:
            return None
        now = self._now()
        models = self._models_at(live.config.name)
        own = [self._oldest_s(model) for model in models]
        since_s = min((at_s for at_s in own if at_s is not None), default=None)
        others = {
            gateway: {m: now - line.since_s for m, line in lines.items() if line.count > 0}
            for gateway, lines in self.lines.items()
        }
        name = heir(models, None if since_s is None else now - since_s, others)
        if name is not None:
            for model in models:
                line = self.lines[name].get(model)
                if line is not None and line.count > 0:
                    line.count -= sequences
                    break
        return name
