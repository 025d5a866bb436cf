"""The loop that looks at one backend again and again, and wakes up when a request has doubts."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from gateway.clock import Clock
from gateway.fleet.change import Change
from gateway.fleet.health.evidence import Activity, Canary, CanaryFailed, Look, ProbeFailed, ProbeOk
from gateway.fleet.health.machine import State
from gateway.fleet.health.progress import is_stale
from gateway.fleet.live import LiveBackend

# A backend that is not up is asked more often, so that it is used soon after it came back.
_LONGEST_GAP_WHEN_DOWN_S: Final = 1.0
# However many requests fail, a backend is not looked at more often than this.
_SHORTEST_GAP_S: Final = 0.2
# A request that has had no byte for so long, at a backend that refuses connections, gets none.
_SILENT_WHEN_GONE_S: Final = 1.0
# An engine that can't generate is asked less and less often.
_LONGEST_CANARY_PAUSE_S: Final = 30.0


class Probe(Protocol):
    """The ways to ask a backend how it is."""

    async def look(self) -> ProbeOk | ProbeFailed:
        """/health and /v1/models."""

    async def activity(self) -> Activity | None:
        """The counters of /metrics."""

    async def canary(self, served_name: str, limit_s: float) -> Canary:
        """A generation of two tokens."""


class Requests(Protocol):
    """The requests that are with the backend now."""

    def hearing(self) -> tuple[bool, float]:
        """Whether one waits for bytes, and the seconds since one moved on."""

    def give_up(self, reason: str, silent_s: float) -> int:
        """Fails those without a byte for so long; returns how many."""


class Prober:
    """Looks at one backend every `interval_s`, spread by the draw so that looks do not bunch.

    `tell` is given every change; `gave_up` the number of requests taken from a dead backend.
    """

    def __init__(
        self,
        backend: LiveBackend,
        probe: Probe,
        requests: Requests,
        *,
        interval_s: float,
        clock: Clock,
        draw: Callable[[], float],
        tell: Callable[[Sequence[Change]], None],
        gave_up: Callable[[str, int, str], None],
        recent: Callable[[], Activity | None] = lambda: None,
    ) -> None:
        self._backend = backend
        self._probe = probe
        self._requests = requests
        self._interval_s = interval_s
        self._clock = clock
        self._draw = draw
        self._tell = tell
        self._gave_up = gave_up
        self._recent = recent
        self._doubt = asyncio.Event()
        self._canary_s = clock.monotonic_s()
        self._failed_canaries = 0

    def __repr__(self) -> str:
        return f"<Prober {self._backend.config.name} every {self._interval_s} s>"

    def look_now(self) -> None:
        """Looks soon instead of at the next turn."""
        self._doubt.set()

    async def run(self) -> None:
        """Looks until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(min(_SHORTEST_GAP_S, self._interval_s))
            await self._pause()

    async def look(self) -> None:
        """One look, and a canary where only that can tell more."""
        self._doubt.clear()
        probed, activity = await asyncio.gather(self._probe.look(), self._activity())
        now = self._clock.monotonic_s()
        is_awaited, silent_s = self._requests.hearing()
        backend = self._backend
        prompt_bytes = max(backend.prompt_bytes.values(), default=0)
        look = Look(probed, activity, now - silent_s, is_awaited, prompt_bytes)
        self._tell(backend.look(look, now))
        self.take_from_the_dead()
        if isinstance(probed, ProbeOk) and self._is_canary_due(activity, now):
            await self._ask_canary()

    async def _activity(self) -> Activity | None:
        """The counters; those that another gateway has read a moment ago will do."""
        return self._recent() or await self._probe.activity()

    def take_from_the_dead(self) -> None:
        """Ends what waits for a backend that was judged hung or down, so that it can move."""
        backend = self._backend
        if not backend.is_certainly_down:
            return
        # One that shuts down in good order may still finish what it streams.
        silent_s = 0.0 if backend.is_hung else _SILENT_WHEN_GONE_S
        count = self._requests.give_up(backend.reason, silent_s)
        if count:
            self._gave_up(backend.config.name, count, backend.reason)

    def _is_canary_due(self, activity: Activity | None, now: float) -> bool:
        """A canary never goes to a busy engine, nor to one whose requests prove as much."""
        backend = self._backend
        health = backend.health
        if not health.has_canary or health.state is State.DRAINING:
            return False
        if backend.in_flight or (activity is not None and not activity.is_idle):
            return False
        if health.judged is State.UP and not backend.breaker.openings:
            quiet_since_s = max(self._canary_s, backend.last_request_s)
            return now - quiet_since_s >= backend.health_rules.canary_idle_s
        if backend.breaker.openings and now < backend.breaker.until_s:
            return False
        if self._failed_canaries and now - self._canary_s < self._pause_after_failed_canary_s():
            return False
        return health.judged in (State.STARTING, State.DEGRADED, State.UP) or backend.is_hung

    async def _ask_canary(self) -> None:
        backend = self._backend
        result = await self._probe.canary(backend.config.served_name, backend.longest_step_s)
        now = self._canary_s = self._clock.monotonic_s()
        self._failed_canaries = self._failed_canaries + 1 if isinstance(result, CanaryFailed) else 0
        self._tell(backend.observe(result, now))
        self.take_from_the_dead()

    def _pause_after_failed_canary_s(self) -> float:
        return min(_LONGEST_CANARY_PAUSE_S, 0.5 * 2.0 ** min(self._failed_canaries, 10))

    async def _pause(self) -> None:
        gap_s = self._interval_s
        backend = self._backend
        is_in_doubt = is_stale(backend.progress, self._clock.monotonic_s(), 1.5 * gap_s)
        if backend.state is not State.UP or backend.health.probe_failures or is_in_doubt:
            gap_s = min(gap_s, _LONGEST_GAP_WHEN_DOWN_S)
        try:
            async with asyncio.timeout(gap_s * (0.9 + 0.2 * self._draw())):
                await self._doubt.wait()
        except TimeoutError:
            return
