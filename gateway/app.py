"""The composition root: the one place that knows every part and puts them together."""

import asyncio
import os
import random
import secrets
import sys
from collections.abc import Mapping

from gateway import __version__
from gateway.access.keys import Keyring
from gateway.api.cors import Cors
from gateway.api.dispatch import FrontDoor
from gateway.api.site import build_site
from gateway.api.state import Site
from gateway.clock import Clock
from gateway.config.load import version_hash
from gateway.config.schema import RoutingConfig
from gateway.config.status import ConfigStatus
from gateway.diagnosis.match import first
from gateway.errors import Outcome, Refusal
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
from gateway.store.drains import Drains
from gateway.store.folder import state_folder
from gateway.store.history import History
from gateway.swap import Parts, open_all, put
from gateway.together import Together, open_store
from gateway.upstream.siblings import Siblings
from gateway.words import Words
from gateway.workers.config_news import keep, tell, watch
from gateway.workers.controls import Controls
from gateway.workers.loops import Loops
from gateway.workers.reloading import Reloader
from gateway.workers.stations import Stations
from gateway.workers.supervise import Supervisor


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
        siblings: Siblings | None = None,
    ) -> None:
        self._siblings = siblings or Siblings()
        self.settings = settings
        self.clock = clock
        self.log = log
        now = clock.monotonic_s
        version = version_hash(routing)
        self.fleet = Registry(routing, version, now(), settings.scrape_interval_s)
        self.events = Events(log, clock.wall_s)
        self.metrics = Metrics()
        self.in_flight = InFlight()
        self.trails = Trails()
        self.is_draining = False
        self.is_accepting = True
        self._supervisor = Supervisor(log)
        store = open_store(settings)
        self.together = Together(store, clock, self.events)
        self._halls = Halls(
            self.fleet,
            now,
            random.random,
            lambda error: log.crash("placement_crashed", error),
            lambda live: self._stations.freed(live),
            store,
        )
        self._stations = self._build_stations()
        self._budgets = Budgets(routing.recovery)
        folder = state_folder(settings, environ)
        history = History(folder, settings.config_history)
        self._reloader = self._build_reloader(routing, version, history)
        self.controls = Controls(
            self.fleet,
            self._reloader,
            history,
            Drains(folder),
            waiting=self._halls.waiting,
            tell=self.events.changed,
            look=self._halls.look,
            clock=clock,
        )
        self._parts = self._gathered(environ)
        told = self._halls.waiting, self._status, self.together.figures
        self.metrics.registry.register(FleetCollector(self.fleet, *told))
        self.asgi = self._build()

    def __repr__(self) -> str:
        return f"<Gateway {self.fleet!r} {self.in_flight!r} draining={self.is_draining}>"

    async def start(self) -> None:
        """Opens pools and begins to probe; waits for no backend."""
        trouble = await self.controls.load()
        if trouble is not None:
            self.events.add("warning", "drains_not_read", reason=trouble.en)
        await open_all(self._parts)
        now = self.clock.monotonic_s
        self._supervisor.start("requests", lambda: self.in_flight.watch(now, beat))
        self._supervisor.start("halls", self._halls.watch)
        doubt, supervisor = self._stations.look_now, self._supervisor
        self.together.join(self.fleet, self._halls, self.controls, doubt, supervisor)
        file = self.settings.config_file
        if file is not None:
            await self._reloader.look("start")
            if self.settings.watch_config:
                self._supervisor.start("config", lambda: watch(self._reloader, file))
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
        told = (
            "This gateway was shut down before the answer was complete. Ask again; another one "
            "will answer."
        )
        return self.in_flight.interrupt_all(Refusal(Outcome.DRAINING, told, retry_after_s=1.0))

    async def stop(self) -> None:
        """Ends probing and closes every connection to backends."""
        await self._supervisor.stop()
        await self._stations.close()
        await self.together.leave()
        self.log.event("info", "gateway_stopped")
        await asyncio.to_thread(self.log.close)

    def _build(self) -> FrontDoor:
        settings = self.settings
        salt = secrets.token_bytes(16)
        keys = Keyring(settings.load_client_keys(), salt)
        flow = Flow(
            fleet=self.fleet,
            keys=keys,
            targets=Targets(self._stations.pools, self._stations.keys),
            lessons=Lessons(
                self.fleet,
                self.metrics,
                self.events,
                self.events.changed,
                self._stations.look_now,
                _finding,
            ),
            halls=self._halls,
            budgets=self._budgets,
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
            control=self.controls,
            config_status=self._status,
            is_draining=lambda: self.is_draining,
            waiting=self._halls.waiting,
            store=self.together.report,
            siblings=self._siblings,
            is_admin_open=is_loopback(settings.host),
        )
        cors = Cors(settings.cors_origins) if settings.cors_origins else None
        return FrontDoor(flow, build_site(site), cors, lambda: self.is_accepting)

    def _gathered(self, environ: Mapping[str, str]) -> Parts:
        return Parts(
            self.fleet,
            self._stations,
            self._halls,
            self._budgets,
            self.metrics,
            self.events,
            self.clock,
            environ,
            self.controls,
        )

    def _build_stations(self) -> Stations:
        settings = self.settings
        loops = Loops(
            self.events,
            self.metrics,
            self.clock,
            self._halls.look,
            self.together.is_reader,
            self.together.was_read,
            self.together.recent,
            probe_interval_s=settings.probe_interval_s,
            scrape_interval_s=settings.scrape_interval_s,
        )
        return Stations(
            self._supervisor,
            loops.prober,
            loops.scraper,
            self._gone,
            max_connections=settings.max_connections_per_backend,
            pool_wait_s=settings.pool_wait_s,
            probe_timeout_s=settings.probe_timeout_s,
            retire_s=settings.removed_drain_s,
        )

    def _build_reloader(self, routing: RoutingConfig, version: str, history: History) -> Reloader:
        clock, events = self.clock, self.events
        return Reloader(
            self.settings.config_file,
            routing,
            version,
            put=self._put,
            kept=lambda data, kept, who: keep(history, data, kept, who, clock, events),
            told=lambda result: tell(result, self.metrics, events),
            clock=clock,
        )

    def _status(self) -> ConfigStatus:
        return self._reloader.status

    async def _put(self, routing: RoutingConfig, version: str) -> tuple[Words, ...]:
        return await put(self._parts, routing, version)

    def _gone(self, live: LiveBackend) -> None:
        self.fleet.left(live)
        self.events.add("info", "backend_gone", backend=live.config.name)


def build_gateway(
    settings: Settings,
    routing: RoutingConfig,
    clock: Clock | None = None,
    sink: Sink | None = None,
    environ: Mapping[str, str] | None = None,
    siblings: Siblings | None = None,
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
    environ = os.environ if environ is None else environ
    return Gateway(settings, routing, clock, log, environ, siblings)


def _finding(text: str) -> str | None:
    found = first(text)
    return None if found is None else found.signature.cause.en
