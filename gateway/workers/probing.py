"""The loop that probes one backend again and again, and wakes up when a request has doubts."""

import asyncio
from collections.abc import Awaitable, Callable

from gateway.clock import Clock
from gateway.fleet.health.evidence import ProbeFailed, ProbeOk
from gateway.fleet.health.machine import State
from gateway.fleet.live import LiveBackend
from gateway.observe.logs import Log

Probe = Callable[[], Awaitable[ProbeOk | ProbeFailed]]

# A backend that is not up is asked more often, so that it is used soon after it came back.
_LONGEST_GAP_WHEN_DOWN_S = 1.0
# However many requests fail, a backend is not probed more often than this.
_SHORTEST_GAP_S = 0.2


class Prober:
    """Probes one backend every `interval_s`, spread by the draw so that probes do not bunch."""

    def __init__(
        self,
        backend: LiveBackend,
        probe: Probe,
        *,
        interval_s: float,
        clock: Clock,
        draw: Callable[[], float],
        log: Log,
    ) -> None:
        self._backend = backend
        self._probe = probe
        self._interval_s = interval_s
        self._clock = clock
        self._draw = draw
        self._log = log
        self._doubt = asyncio.Event()

    def __repr__(self) -> str:
        return f"<Prober {self._backend.config.name} every {self._interval_s} s>"

    def look_now(self) -> None:
        """Probes soon instead of at the next turn."""
        self._doubt.set()

    async def run(self) -> None:
        """Probes until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(min(_SHORTEST_GAP_S, self._interval_s))
            await self._pause()

    async def look(self) -> None:
        """One probe, taken in and logged where it changes something."""
        self._doubt.clear()
        evidence = await self._probe()
        backend = self._backend
        before = backend.drift
        has_changed = backend.observe(evidence, self._clock.monotonic_s())
        name = backend.config.name
        if has_changed:
            self._log.event(
                "warning" if backend.state is State.DOWN else "info",
                "backend_state",
                backend=name,
                state=backend.state.value,
                reason=backend.health.reason,
            )
        if backend.drift != before:
            for drift in backend.drift:
                self._log.event(
                    "warning", "drift", backend=name, kind=drift.kind.value, detail=drift.message
                )

    async def _pause(self) -> None:
        gap_s = self._interval_s
        if self._backend.state is not State.UP:
            gap_s = min(gap_s, _LONGEST_GAP_WHEN_DOWN_S)
        try:
            async with asyncio.timeout(gap_s * (0.9 + 0.2 * self._draw())):
                await self._doubt.wait()
        except TimeoutError:
            return
