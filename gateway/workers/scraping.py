"""The loop that reads one backend's /metrics every second, for the figures that decisions use."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from gateway.clock import Clock
from gateway.fleet.health.evidence import Activity

_LEAST_TIMEOUT_S: Final = 1.0
# Each pause is drawn from so much less to so much more than its length.
_JITTER: Final = 0.1
# A single failure is no reason to look away; a backend that has no /metrics is asked now and then.
_FAILURES_AT_FULL_PACE: Final = 2
_LONGEST_PAUSE_S: Final = 30.0
_SHORTEST_PAUSE_S: Final = 0.05

Read = Callable[[], Awaitable[Activity | None]]
Take = Callable[[Activity | None, float, float], None]


class Scraper:
    """Reads one backend's figures about every `interval_s` and hands them to `take`.

    `take` is given the activity and when it was asked for and answered (monotonic seconds); None
    for one that failed, which says nothing about health: that is for the prober to judge.

    While `is_reader` says no, another gateway does it for all.

    One request is under way at a time. Each pause is reckoned from now, so that none is made up
    for, and is at least half as long as the answer took, so that a slow server has a rest.
    `timeout_s` is the interval, at least 1 s, unless given: giving up earlier would make a busy
    server render the same page again, and so the figures of the slowest server that is still read
    are never older than two intervals, and one lost answer of a quick one does not make them stale.
    """

    def __init__(
        self,
        name: str,
        read: Read,
        take: Take,
        *,
        is_reader: Callable[[], bool] = lambda: True,
        interval_s: float = 1.0,
        timeout_s: float | None = None,
        clock: Clock,
        draw: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._name = name
        self._read = read
        self._take = take
        self._is_reader = is_reader
        self._interval_s = interval_s
        self._timeout_s = max(_LEAST_TIMEOUT_S, interval_s) if timeout_s is None else timeout_s
        self._clock = clock
        self._draw = draw
        self._sleep = sleep
        self._failures = 0

    def __repr__(self) -> str:
        return f"<Scraper {self._name} every {self._interval_s} s, {self._failures} failures>"

    async def run(self) -> None:
        """Scrapes until cancelled, beginning anywhere within the first interval."""
        await self._sleep(self._interval_s * self._draw())
        while True:
            took_s = await self.scrape() if self._is_reader() else 0.0
            await self._sleep(self._pause_s(took_s))

    async def scrape(self) -> float:
        """One scrape; returns the seconds it took.

        Errors of the connection are failures of the backend; any other error is ours and is raised.
        """
        asked_s = self._clock.monotonic_s()
        activity: Activity | None = None
        try:
            async with asyncio.timeout(self._timeout_s):
                activity = await self._read()
        except OSError:
            # TimeoutError is one of them. The figures that there are grow old.
            activity = None
        answered_s = self._clock.monotonic_s()
        self._failures = self._failures + 1 if activity is None else 0
        self._take(activity, asked_s, answered_s)
        return answered_s - asked_s

    def _pause_s(self, took_s: float) -> float:
        jitter = 1.0 + _JITTER * (2.0 * self._draw() - 1.0)
        doublings = min(10, max(0, self._failures - _FAILURES_AT_FULL_PACE))
        longest_s = max(self._interval_s, _LONGEST_PAUSE_S / (1.0 + _JITTER))
        gap_s = jitter * min(longest_s, self._interval_s * 2.0**doublings)
        # A process that was stopped meanwhile has not waited for the server.
        took_s = min(max(0.0, took_s), self._timeout_s)
        return max(gap_s - took_s, took_s / 2.0, _SHORTEST_PAUSE_S)
