"""The composition root: the one place that knows every part and puts them together."""

import asyncio
import os
import random
import secrets
import ssl
import sys
from collections.abc import Callable, Mapping

from gateway import __version__
from gateway.access.keys import Keyring
from gateway.api.cors import Cors
from gateway.api.dispatch import FrontDoor
from gateway.api.site import build_site
from gateway.api.state import Site
from gateway.clock import Clock
from gateway.config.backend import BackendConfig
from gateway.config.load import version_hash
from gateway.config.schema import RoutingConfig
from gateway.diagnosis.match import first
from gateway.errors import Outcome, Refusal
from gateway.fleet.health.evidence import Activity
from gateway.fleet.health.machine import State
from gateway.fleet.live import LiveBackend
from gateway.fleet.registry import Registry
from gateway.flow.budgets import Budgets
from gateway.flow.handle import Flow
from gateway.flow.hold import Halls
from gateway.flow.inflight import InFlight
from gateway.flow.learn import Lessons
from gateway.flow.relay import beat
from gateway.flow.request_ids import RequestIds
from gateway.flow.target import Targets
from gateway.observe.events import Events
from gateway.observe.fleet_gauges import FleetCollector
from gateway.observe.lines import LineWriter
from gateway.observe.logs import Log, Sink
from gateway.observe.metrics import Metrics
from gateway.observe.trails import Trails
from gateway.settings import Settings, is_loopback
from gateway.upstream.keys import read_backend_keys
from gateway.upstream.origin import Origin
from gateway.upstream.pool import BackendPool
from gateway.upstream.probe import HealthProbe
from gateway.upstream.tls import build_context
from gateway.upstream.tls_of import tls_of
from gateway.workers.probing import Prober
from gateway.workers.scraping import Scraper
from gateway.workers.supervise import Supervisor

_CLOSE_LIMIT_S = 5.0


class Gateway:
    """A gateway with all its parts. `asgi` is its application; start it inside the event loop.

    Life: `start`, then `begin_drain` (not ready any more), `refuse_new`, `interrupt_all`, `stop`.
    """

    def __init__(
        self,
        settings: Settings,
        routing: RoutingConfig,
        clock: Clock,
        log: Log,
        environ: Mapping[str, str],
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.log = log
        self.fleet = Registry(
            routing, version_hash(routing), clock.monotonic_s(), settings.scrape_interval_s
        )
        self.events = Events(log, clock.wall_s)
        self.metrics = Metrics()
        self.in_flight = InFlight()
        self._halls = Halls(
            self.fleet,
            clock.monotonic_s,
            random.random,
            lambda error: log.crash("placement_crashed", error),
        )
        self.trails = Trails()
        self.metrics.registry.register(FleetCollector(self.fleet, self._halls.waiting))
        self.is_draining = False
        self.is_accepting = True
        self._backend_keys, unset = read_backend_keys(self.fleet, environ)
        for backend, what in unset:
            log.event("warning", "backend_key_missing", backend=backend, detail=what)
        self._supervisor = Supervisor(log)
        self._probers: dict[str, Prober] = {}
        self._probes: list[HealthProbe] = []
        self._pools: dict[str, BackendPool] = {}
        self.asgi = self._build()

    def __repr__(self) -> str:
        return f"<Gateway {self.fleet!r} {self.in_flight!r} draining={self.is_draining}>"

    async def start(self) -> None:
        """Opens pools and begins to probe; waits for no backend."""
        for name, live in self.fleet.backends.items():
            pool = self._pools[name] = self._pool(live.config)
            probe = await self._probe(live.config)
            self._probes.append(probe)
            prober = Prober(
                live,
                probe,
                pool,
                interval_s=self.settings.probe_interval_s,
                canary_idle_s=self.fleet.config.health.canary_idle_s,
                clock=self.clock,
                draw=random.random,
                tell=self.events.changed,
                gave_up=self._requests_moved,
            )
            self._probers[name] = prober
            self._supervisor.start(f"probe {name}", prober.run)
            scraper = Scraper(
                name,
                probe.activity,
                self._scraped(live),
                interval_s=self.settings.scrape_interval_s,
                clock=self.clock,
                draw=random.random,
            )
            self._supervisor.start(f"scrape {name}", scraper.run)
        now = self.clock.monotonic_s
        self._supervisor.start("requests", lambda: self.in_flight.watch(now, beat))
        self._supervisor.start("halls", self._halls.watch)
        self.log.event(
            "info",
            "gateway_started",
            version=__version__,
            config_version=self.fleet.version,
            models=list(self.fleet.names.models),
            backends=list(self.fleet.backends),
        )

    def begin_drain(self) -> None:
        """Not ready any more; what comes is still served."""
        self.is_draining = True

    def refuse_new(self) -> None:
        """New requests are refused from now on."""
        self.is_accepting = False

    def interrupt_all(self) -> int:
        """Ends every running request with an error; returns how many there were."""
        return self.in_flight.interrupt_all(
            Refusal(
                Outcome.DRAINING,
                "This gateway was shut down before the answer was complete. Ask again; another "
                "one will answer.",
                retry_after_s=1.0,
            )
        )

    async def stop(self) -> None:
        """Ends probing and closes every connection to backends."""
        await self._supervisor.stop()
        closing = [p.close() for p in self._probes]
        closing += [pool.close(_CLOSE_LIMIT_S) for pool in self._pools.values()]
        await asyncio.gather(*closing)
        self.log.event("info", "gateway_stopped")
        await asyncio.to_thread(self.log.close)

    def _build(self) -> FrontDoor:
        settings = self.settings
        salt = secrets.token_bytes(16)
        keys = Keyring(settings.load_client_keys(), salt)
        flow = Flow(
            fleet=self.fleet,
            keys=keys,
            targets=Targets(self._pools, self._backend_keys),
            lessons=Lessons(
                self.fleet,
                self.metrics,
                self.events,
                self.events.changed,
                self._look_now,
                _finding,
            ),
            halls=self._halls,
            budgets=Budgets(self.fleet.config.recovery),
            in_flight=self.in_flight,
            ids=RequestIds(secrets.token_hex(6)),
            metrics=self.metrics,
            trails=self.trails,
            log=self.log,
            clock=self.clock,
            draw=random.random,
            max_body_bytes=settings.max_body_bytes,
        )
        site = Site(
            fleet=self.fleet,
            keys=keys,
            admin_keys=Keyring(settings.load_admin_keys(), salt),
            metrics=self.metrics,
            events=self.events,
            log=self.log,
            clock=self.clock,
            version=__version__,
            created_s=int(self.clock.wall_s()),
            trails=self.trails,
            is_draining=lambda: self.is_draining,
            waiting=self._halls.waiting,
            is_admin_open=is_loopback(settings.host),
        )
        cors = Cors(settings.cors_origins) if settings.cors_origins else None
        return FrontDoor(flow, build_site(site), cors, lambda: self.is_accepting)

    def _pool(self, backend: BackendConfig) -> BackendPool:
        return BackendPool(
            Origin.parse(backend.base_url, tls_of(backend)),
            max_connections=self.settings.max_connections_per_backend,
            pool_wait_s=self.settings.pool_wait_s,
        )

    async def _probe(self, backend: BackendConfig) -> HealthProbe:
        tls = tls_of(backend)
        # Without TLS any context will do; httpx would read all system certificates for its own.
        context = (
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            if tls is None
            else await asyncio.to_thread(build_context, tls)
        )
        return HealthProbe(
            backend.base_url,
            self._backend_keys.get(backend.name),
            context,
            None if tls is None else tls.server_name,
            self.settings.probe_timeout_s,
        )

    def _scraped(self, live: LiveBackend) -> Callable[[Activity | None, float, float], None]:
        """Figures go to their backend; then those that wait are looked at."""
        name = live.config.name
        was_told = False

        def take(activity: Activity | None, asked_s: float, answered_s: float) -> None:
            nonlocal was_told
            live.scraped(activity, asked_s, answered_s)
            if activity is not None:
                was_told = False
            else:
                self.metrics.scrape_failed(name)
                if not was_told and live.state in (State.UP, State.DEGRADED):
                    was_told = True
                    reason = "its /metrics cannot be read; only our own requests are counted"
                    self.events.add("warning", "metrics_unreadable", backend=name, reason=reason)
            self._halls.look()

        return take

    def _requests_moved(self, backend: str, count: int, reason: str) -> None:
        self.events.add("warning", "requests_moved", backend=backend, requests=count, reason=reason)

    def _look_now(self, backend: str) -> None:
        prober = self._probers.get(backend)
        if prober is not None:
            prober.look_now()


def build_gateway(
    settings: Settings,
    routing: RoutingConfig,
    clock: Clock | None = None,
    sink: Sink | None = None,
    environ: Mapping[str, str] | None = None,
) -> Gateway:
    """A gateway for a routing file; lines go to standard output unless `sink` is given.

    Raises OSError or ValueError when a file of keys can't be used.
    """
    clock = clock or Clock()
    log = Log(
        sink or LineWriter(sys.stdout.buffer),
        clock.wall_s,
        form=settings.log_format.value,
        level=settings.log_level.value,
        is_access_on=settings.access_log,
    )
    return Gateway(settings, routing, clock, log, os.environ if environ is None else environ)


def _finding(text: str) -> str | None:
    found = first(text)
    return None if found is None else found.signature.cause.en
