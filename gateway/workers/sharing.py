"""The loop that tells other gateways what this one has, and takes in what they have."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

import msgspec
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from gateway.clock import Clock
from gateway.fleet.bulletin import (
    Bulletin,
    Waiting,
    best_lesson,
    bulletin_of,
    combined,
    newest_figures,
    read_bulletin,
    warning,
)
from gateway.fleet.health.evidence import Activity
from gateway.fleet.live import LiveBackend
from gateway.fleet.registry import Registry
from gateway.store.shared import Exchange, Held, SharedStore, StoreError, places
from gateway.store.shares import Line, Shares
from gateway.workers.following import Following

EVERY_S: Final = 0.4
"""Seconds between two exchanges."""

_REMEMBERED_S: Final = 1.0
_RECENT_S: Final = 2.0
_SAME_S: Final = 0.1
# A third of the time that a lease lives.
_RENEW_S: Final = 1.0
_RETRY_FIRST_S: Final = 0.1
_RETRY_LONGEST_S: Final = 1.0

# 64 KB; what does not fit is not told: it only costs the reading of a prompt that was known.
_MOST_BLOCKS: Final = 8192

_Prompt = tuple[str, tuple[int, ...], int]
_PROMPTS: Final = msgspec.msgpack.Decoder(list[_Prompt])


class Prompts(Protocol):
    """What is thought to be in the caches of the backends."""

    def news(self) -> list[_Prompt]:
        """What this gateway has sent where since the last time: backend, blocks, tail."""

    def hear(self, key: str, blocks: Sequence[int], tail_tokens: int) -> None:
        """Another gateway has sent this prompt there."""


class Sharing:
    """Exchanges bulletins with the other gateways, as long as it runs.

    `waiting` says who waits here by model; `look` is called when something may have come free;
    `doubt` with each backend that another gateway warns of; `say` when the store goes or comes
    back, with the reason, "" for up.
    """

    def __init__(
        self,
        store: SharedStore,
        fleet: Registry,
        shares: Shares,
        following: Following,
        prompts: Prompts,
        *,
        waiting: Callable[[float], Mapping[str, Waiting]],
        look: Callable[[], None],
        doubt: Callable[[LiveBackend], None],
        say: Callable[[str], None],
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._store = store
        self._fleet = fleet
        self._shares = shares
        self._following = following
        self._prompts = prompts
        self._waiting = waiting
        self._look = look
        self._doubt = doubt
        self._say = say
        self._clock = clock
        self._sleep = sleep
        self._read: dict[LiveBackend, tuple[Activity, float]] = {}
        self._elsewhere: set[LiveBackend] = set()
        self._heard: dict[LiveBackend, tuple[Activity, float]] = {}
        self._renewed_s = float("-inf")
        self._warned: dict[LiveBackend, str] = {}
        self._was_up = True
        self._up_s = float("-inf")
        self.replicas: Mapping[str, Bulletin] = {}

    def __repr__(self) -> str:
        return f"<Sharing with {len(self.replicas)} gateways by {self._store!r}>"

    def is_reader(self, live: LiveBackend) -> bool:
        """Whether this gateway reads the backend's metrics itself, and not another one for all."""
        return live not in self._elsewhere

    def recent(self, live: LiveBackend) -> Activity | None:
        """What was read of the backend's metrics in the last moments, here or elsewhere."""
        read = self._read.get(live) or self._heard.get(live)
        if read is None or self._clock.monotonic_s() - read[1] > _RECENT_S:
            return None
        return read[0]

    def was_read(self, live: LiveBackend, activity: Activity | None, at_s: float) -> None:
        """This gateway has read the backend's metrics, or failed to (None)."""
        if activity is not None:
            self._read[live] = (activity, at_s)

    def report(self) -> list[dict[str, Any]]:
        """The other gateways, for /health; nobody while the store is down."""
        if not self._store.is_up:
            return []
        return [
            {
                "gateway": name,
                "config_version": one.config,
                "refused_version": one.refused or None,
                "in_flight": one.running,
                "waiting": sum(count for count, _ in one.waiting.values()),
            }
            for name, one in sorted(self.replicas.items())
        ]

    async def run(self) -> None:
        """Exchanges until cancelled; what fails is tried again less often, with jitter."""
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(StoreError),
            wait=wait_random_exponential(multiplier=_RETRY_FIRST_S, max=_RETRY_LONGEST_S),
            before_sleep=self._failed,
            sleep=self._sleep,
        )
        while True:
            async for attempt in retrying:
                with attempt:
                    await self.exchange()
            await self._sleep(EVERY_S)

    async def hear(self) -> None:
        """Takes the places that other gateways give over, until cancelled."""
        await self._store.listen(self._given_over)

    async def exchange(self) -> None:
        """One exchange; raises `StoreError` when it failed."""
        now = self._clock.monotonic_s()
        backends = list(self._fleet.backends.values())
        refused = self._following.refused
        waiting, version = self._waiting(now), self._fleet.version
        bulletin = bulletin_of(backends, waiting, version, refused, now, self._read)
        is_due = now - self._renewed_s >= _RENEW_S
        # Those that left the routing file finish what they have.
        lives = [*backends, *self._fleet.leaving] if is_due else []
        held = [Held(live.key, self._shares.held(live)) for live in lives]
        told = await self._store.exchange(bulletin, self._news(), held)
        own = {one.server: places(one) for one in held}
        self._take(told, own, self._clock.monotonic_s())
        if not self._was_up:
            self._say("")
        self._was_up = True
        await self._following.follow(told)

    def _failed(self, state: RetryCallState | None) -> None:
        """Goes on alone: first by what was known a moment ago, then by the engines' figures."""
        self.check_silence(self._clock.monotonic_s())

    def check_silence(self, now: float) -> None:
        """Notes that the store is down."""
        if self._was_up and not self._store.is_up:
            self._was_up = False
            self._say(self._store.trouble)
        self._elsewhere.clear()
        self._renewed_s = float("-inf")
        if now - self._up_s > _REMEMBERED_S:
            self._shares.lines = {}
            for live in self._fleet.backends.values():
                if live.work.figures.peers is not None:
                    live.work.take_peers(None, now)

    def _news(self) -> bytes:
        """The prompts that this gateway has sent where, as many as fit."""
        found: list[_Prompt] = []
        room = _MOST_BLOCKS
        for prompt in self._prompts.news():
            room -= len(prompt[1])
            if room < 0:
                break
            found.append(prompt)
        return msgspec.msgpack.encode(found) if found else b""

    def _hear(self, data: bytes) -> None:
        with suppress(msgspec.DecodeError):
            for key, blocks, tail_tokens in _PROMPTS.decode(data):
                self._prompts.hear(key, blocks, tail_tokens)

    def _take(self, told: Exchange, own: Mapping[str, int], now: float) -> None:
        self._up_s = now
        if own:
            self._renewed_s = now
            self._elsewhere.clear()
        found = {name: read_bulletin(data) for name, data in told.bulletins.items()}
        peers = {name: bulletin for name, bulletin in found.items() if bulletin is not None}
        self.replicas = peers
        self._shares.lines = {
            name: {m: Line(count, now - age_s) for m, (count, age_s) in one.waiting.items()}
            for name, one in peers.items()
            if one.waiting
        }
        for data in told.prompts:
            self._hear(data)
        for live in self._fleet.backends.values():
            seen, others = told.backends.get(live.key), None
            if seen is not None:
                others = max(0, seen.held - own.get(live.key, 0))
                if not seen.is_scraper:
                    self._elsewhere.add(live)
                    self._read.pop(live, None)
            live.replicas = len(peers) + 1
            live.work.take_peers(combined(live.key, others, peers.values()), now)
            if live in self._elsewhere:
                self._take_figures(live, peers, now)
            self._take_words(live, peers)
        stay = set(self._fleet.backends.values())
        for known in (self._heard, self._warned, self._read):
            for gone in [live for live in known if live not in stay]:
                known.pop(gone, None)
        self._shares.forget(frozenset(live.key for live in stay))
        self._look()

    def _take_figures(self, live: LiveBackend, peers: Mapping[str, Bulletin], now: float) -> None:
        """What another gateway has read of the engine's metrics, once."""
        found = newest_figures(live.key, peers.values())
        if found is None:
            return
        activity, at_s = found[0], now - found[1]
        before = self._heard.get(live)
        self._heard[live] = (activity, at_s)
        # Told again and again until there are newer ones; the clocks of two gateways agree roughly.
        if before is None or at_s - before[1] > _SAME_S:
            live.scraped(activity, at_s, at_s)

    def _take_words(self, live: LiveBackend, peers: Mapping[str, Bulletin]) -> None:
        """What others have learnt of the backend, and what they warn of."""
        step, prompt = best_lesson(live.key, peers.values())
        live.work.decode.hear(step)
        live.work.prefill.hear(prompt)
        warned = warning(live.key, peers)
        if warned != self._warned.get(live, ""):
            self._warned[live] = warned
            live.warned = warned
            if warned:
                self._doubt(live)

    def _given_over(self, key: str) -> None:
        for live in self._fleet.backends.values():
            if live.key == key:
                self._shares.given_over(live)
                self._look()
