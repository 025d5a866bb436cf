"""The two loops that look at a backend, and where what they see goes."""

import random
from collections.abc import Callable

from gateway.clock import Clock
from gateway.fleet.health.evidence import Activity
from gateway.fleet.health.machine import State
from gateway.fleet.live import LiveBackend
from gateway.observe.events import Events
from gateway.observe.metrics import Metrics
from gateway.upstream.pool import BackendPool
from gateway.upstream.probe import HealthProbe
from gateway.workers.probing import Prober
from gateway.workers.scraping import Scraper


class Loops:
    """Makes the loops of backends; `look` is called when new figures have come.

    `is_reader` says whether this gateway reads a backend's metrics, rather than another one for
    all; `was_read` is told what it read, and `recent` tells what anybody has read a moment ago.
    """

    def __init__(
        self,
        events: Events,
        metrics: Metrics,
        clock: Clock,
        look: Callable[[], None],
        is_reader: Callable[[LiveBackend], bool] = lambda live: True,
        was_read: Callable[[LiveBackend, Activity | None, float], None] = lambda *read: None,
        recent: Callable[[LiveBackend], Activity | None] = lambda live: None,
        *,
        probe_interval_s: float,
        scrape_interval_s: float,
    ) -> None:
        self._events = events
        self._metrics = metrics
        self._clock = clock
        self._look = look
        self._is_reader = is_reader
        self._was_read = was_read
        self._recent = recent
        self._probe_interval_s = probe_interval_s
        self._scrape_interval_s = scrape_interval_s

    def __repr__(self) -> str:
        return f"<Loops every {self._probe_interval_s} s and {self._scrape_interval_s} s>"

    def prober(self, live: LiveBackend, probe: HealthProbe, pool: BackendPool) -> Prober:
        """The loop that judges its health."""
        return Prober(
            live,
            probe,
            pool,
            interval_s=self._probe_interval_s,
            clock=self._clock,
            draw=random.random,
            tell=self._events.changed,
            gave_up=self._requests_moved,
            recent=lambda: self._recent(live),
        )

    def scraper(self, live: LiveBackend, probe: HealthProbe) -> Scraper:
        """The loop that reads its figures."""
        return Scraper(
            live.config.name,
            probe.activity,
            self._scraped(live),
            is_reader=lambda: self._is_reader(live),
            interval_s=self._scrape_interval_s,
            clock=self._clock,
            draw=random.random,
        )

    def _scraped(self, live: LiveBackend) -> Callable[[Activity | None, float, float], None]:
        """Figures go to their backend; then those that wait are looked at."""
        was_told = False

        def take(activity: Activity | None, asked_s: float, answered_s: float) -> None:
            nonlocal was_told
            live.scraped(activity, asked_s, answered_s)
            self._was_read(live, activity, (asked_s + answered_s) / 2.0)
            # As it is called now.
            name = live.config.name
            if activity is not None:
                was_told = False
            else:
                self._metrics.scrape_failed(name)
                if not was_told and live.state in (State.UP, State.DEGRADED):
                    was_told = True
                    reason = "its /metrics cannot be read; only our own requests are counted"
                    self._events.add("warning", "metrics_unreadable", backend=name, reason=reason)
            self._look()

        return take

    def _requests_moved(self, backend: str, count: int, reason: str) -> None:
        self._events.add(
            "warning", "requests_moved", backend=backend, requests=count, reason=reason
        )
