"""What the gateway has for each backend: connections, key, probes and the loops that look at it."""

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeGuard

from gateway.config.backend import BackendConfig
from gateway.fleet.live import LiveBackend
from gateway.upstream.origin import Origin
from gateway.upstream.pool import BackendPool
from gateway.upstream.probe import HealthProbe
from gateway.upstream.tls import build_context
from gateway.upstream.tls_of import tls_of
from gateway.words import Words
from gateway.workers.probing import Prober
from gateway.workers.scraping import Scraper
from gateway.workers.supervise import Supervisor

_CLOSE_LIMIT_S: Final = 5.0

Contexts = Mapping[str, ssl.SSLContext]
"""TLS contexts of https backends by name."""

ProberOf = Callable[[LiveBackend, HealthProbe, BackendPool], Prober]
ScraperOf = Callable[[LiveBackend, HealthProbe], Scraper]


class UnusableTls(ValueError):  # noqa: N818
    """The TLS files of a backend can't be used; the text says which and why."""

    def __init__(self, backend: str, error: Exception) -> None:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.told = Words(
            f"the TLS files of backend '{backend}' can't be used: {told}",
            f"后端 '{backend}' 的 TLS 文件无法使用：{told}",
        )
        super().__init__(self.told.en)
        self.backend = backend


async def read_contexts(backends: Iterable[BackendConfig]) -> Contexts:
    """The TLS contexts of the https backends among these; raises `UnusableTls`."""
    return await asyncio.to_thread(_read_contexts, tuple(backends))


def _read_contexts(backends: tuple[BackendConfig, ...]) -> Contexts:
    found: dict[str, ssl.SSLContext] = {}
    for backend in backends:
        tls = tls_of(backend)
        if tls is None or not backend.enabled:
            continue
        try:
            found[backend.name] = build_context(tls)
        except (OSError, ValueError) as error:
            raise UnusableTls(backend.name, error) from error
    return found


@dataclass(slots=True)
class _Station:
    """One backend's parts; `is_idle` is set once a retiring backend has no requests."""

    pool: BackendPool
    probe: HealthProbe
    prober: Prober
    is_idle: asyncio.Event = field(default_factory=asyncio.Event)
    is_retiring: bool = False


class Stations:
    """The stations of all backends, those included that leave but still have requests.

    `pools` and `keys` are read for every request. `gone` is called when the last of a retired
    backend is closed. Once they are closed nothing is begun any more.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        prober_of: ProberOf,
        scraper_of: ScraperOf,
        gone: Callable[[LiveBackend], None],
        *,
        max_connections: int,
        pool_wait_s: float,
        probe_timeout_s: float,
        retire_s: float,
    ) -> None:
        self.pools: dict[LiveBackend, BackendPool] = {}
        self.keys: dict[LiveBackend, bytes] = {}
        self._stations: dict[LiveBackend, _Station] = {}
        self._is_closed = False
        self._supervisor = supervisor
        self._prober_of = prober_of
        self._scraper_of = scraper_of
        self._gone = gone
        self._max_connections = max_connections
        self._pool_wait_s = pool_wait_s
        self._probe_timeout_s = probe_timeout_s
        self._retire_s = retire_s

    def __repr__(self) -> str:
        return f"<Stations of {len(self._stations)} backends>"

    def has(self, live: LiveBackend | None) -> TypeGuard[LiveBackend]:
        """Whether the backend has been opened, and is not gone yet."""
        return live in self._stations

    def open(self, live: LiveBackend, key: bytes | None, context: ssl.SSLContext | None) -> None:
        """Begins to look at a backend that came, or came back before it was gone."""
        if self._is_closed:
            return
        known = self._stations.get(live)
        if known is not None and known.is_retiring:
            self._supervisor.end(_loop("retire", live))
        # A pool whose closing has begun takes no requests any more.
        pool = self._pool(live) if known is None or known.pool.is_closed else known.pool
        probe = self._probe(live, key, context)
        prober = self._prober_of(live, probe, pool)
        self._stations[live] = _Station(pool, probe, prober)
        self.pools[live] = pool
        self._set_key(live, key)
        self._supervisor.start(_loop("probe", live), prober.run)
        self._supervisor.start(_loop("scrape", live), self._scraper_of(live, probe).run)

    def rekey(self, live: LiveBackend, key: bytes | None) -> None:
        """Its key was read again."""
        station = self._stations.get(live)
        if station is not None and self.keys.get(live) != key:
            self._set_key(live, key)
            station.probe.rekey(key)

    def retire(self, live: LiveBackend) -> None:
        """Looks at it no more; once its requests are done, or their time is over, it is closed."""
        station = self._stations.get(live)
        if station is None:
            return
        station.is_retiring = True
        self._supervisor.end(_loop("probe", live))
        self._supervisor.end(_loop("scrape", live))
        self._supervisor.start(_loop("retire", live), lambda: self._retire(live, station))

    def freed(self, live: LiveBackend) -> None:
        """A slot of the backend was given back."""
        if live.in_flight == 0:
            station = self._stations.get(live)
            if station is not None and station.is_retiring:
                station.is_idle.set()

    def look_now(self, live: LiveBackend) -> None:
        """There are doubts about the backend."""
        station = self._stations.get(live)
        if station is not None and not station.is_retiring:
            station.prober.look_now()

    async def close(self) -> None:
        """Closes every connection; the loops have been ended before."""
        self._is_closed = True
        stations, self._stations = list(self._stations.values()), {}
        closing = [station.probe.close() for station in stations]
        closing += [station.pool.close(_CLOSE_LIMIT_S) for station in stations]
        await asyncio.gather(*closing)

    async def _retire(self, live: LiveBackend, station: _Station) -> None:
        await station.probe.close()
        if live.in_flight:
            # What is left when its time is over breaks off, and goes on elsewhere if it can.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._retire_s):
                    await station.is_idle.wait()
        await station.pool.close(0.0)
        if self._stations.get(live) is station:
            del self._stations[live], self.pools[live]
            self.keys.pop(live, None)
            self._gone(live)

    def _set_key(self, live: LiveBackend, key: bytes | None) -> None:
        if key is None:
            self.keys.pop(live, None)
        else:
            self.keys[live] = key

    def _pool(self, live: LiveBackend) -> BackendPool:
        return BackendPool(
            Origin.parse(live.config.base_url, tls_of(live.config)),
            max_connections=self._max_connections,
            pool_wait_s=self._pool_wait_s,
        )

    def _probe(
        self, live: LiveBackend, key: bytes | None, context: ssl.SSLContext | None
    ) -> HealthProbe:
        tls = tls_of(live.config)
        return HealthProbe(
            live.config.base_url,
            key,
            # Without TLS any context will do; httpx would read all system certificates.
            context or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            None if tls is None else tls.server_name,
            self._probe_timeout_s,
        )


def _loop(what: str, live: LiveBackend) -> str:
    """The name of a loop; a backend may get another name, and another one its old name."""
    return f"{what} {live.config.base_url} {id(live):x}"
