"""Putting another routing file in force: all parts of the gateway at once, or none."""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from gateway.clock import Clock
from gateway.config.backend import BackendConfig
from gateway.config.codes import Code
from gateway.config.diff import diff, is_same_server
from gateway.config.diff_words import describe
from gateway.config.schema import RoutingConfig
from gateway.fleet.health.evidence import DrainBegun
from gateway.fleet.live import LiveBackend
from gateway.fleet.registry import Registry
from gateway.flow.budgets import Budgets
from gateway.flow.hold import Halls
from gateway.observe.events import Events
from gateway.observe.metrics import Metrics
from gateway.upstream.keys import read_backend_keys
from gateway.words import Words
from gateway.workers.reloading import Unusable
from gateway.workers.stations import Contexts, Stations, UnusableTls, read_contexts


class Drained(Protocol):
    """The backends that an operator took out, by name."""

    def drain_reason(self, backend: str) -> str | None:
        """Why one is out; None if it is not."""

    def rename(self, renamed: Mapping[str, str]) -> bool:
        """Backends have other names now, by their old ones; whether that concerns any of them."""

    async def save(self) -> None:
        """Keeps them for the next start."""


class Parts(NamedTuple):
    """What follows the routing file, and what operators have taken out of it."""

    fleet: Registry
    stations: Stations
    halls: Halls
    budgets: Budgets
    metrics: Metrics
    events: Events
    clock: Clock
    environ: Mapping[str, str]
    drained: Drained


class _Means(NamedTuple):
    """What is read from elsewhere for a config, before anything is changed.

    `keyless` are the backends whose key can't be read now.
    """

    keys: Mapping[str, bytes]
    keyless: frozenset[str]
    contexts: Contexts


async def open_all(parts: Parts) -> None:
    """Begins with the backends of the file that the gateway starts with."""
    means = await _means(parts, parts.fleet.config)
    for live in parts.fleet.backends.values():
        _come(parts, live, means)


async def put(parts: Parts, config: RoutingConfig, version: str) -> tuple[Words, ...]:
    """Puts `config` in force and says what changed; raises `Unusable` and has changed nothing.

    Keys are read again in any case, so that a reload is how a new key is taken up.
    """
    means = await _means(parts, config)
    fleet = parts.fleet
    if config == fleet.config:
        _rekey(parts, means)
        return ()
    change = diff(fleet.config, config)
    told = describe(change, in_flight_of(fleet), waiting_of(fleet, parts.halls))
    # From here on nothing waits, so that every request sees the old file or the new one whole.
    swap = fleet.apply(config, version, parts.clock.monotonic_s())
    is_drain_renamed = parts.drained.rename(swap.renamed)
    for live in swap.removed:
        parts.stations.retire(live)
    for live in swap.added:
        _come(parts, live, means)
    _rekey(parts, means)
    parts.budgets.apply(config.recovery, fleet.names.models)
    parts.metrics.keep(models=fleet.names.models, backends=fleet.backends)
    parts.events.changed(swap.changes)
    parts.halls.apply()
    if is_drain_renamed:
        await parts.drained.save()
    return told


def in_flight_of(fleet: Registry) -> Mapping[str, int]:
    """Requests in flight by backend."""
    return {name: live.in_flight for name, live in fleet.backends.items()}


def waiting_of(fleet: Registry, halls: Halls) -> Mapping[str, int]:
    """Waiting requests by model."""
    return {name: halls.waiting(name) for name in fleet.names.models}


async def _means(parts: Parts, config: RoutingConfig) -> _Means:
    news = [b for b in config.backends if b.enabled and not _is_open(parts, b)]
    try:
        contexts = await read_contexts(news)
    except UnusableTls as error:
        index = [backend.name for backend in config.backends].index(error.backend)
        raise Unusable(
            Code.TLS_FILES_UNUSABLE,
            f"backends[{index}].tls",
            error.told,
            Words(
                "Name files that exist, that the gateway may read, and that belong together.",
                "请填写存在的、网关有权读取的、且相互匹配的文件。",
            ),
        ) from error
    # Told of last: a file that is refused is tried again and again.
    keys, unset = await asyncio.to_thread(read_backend_keys, config.backends, parts.environ)
    for backend, told in unset:
        parts.events.add("warning", "backend_key_missing", backend=backend, reason=told.en)
    return _Means(keys, frozenset(backend for backend, _ in unset), contexts)


def _is_open(parts: Parts, backend: BackendConfig) -> bool:
    live = parts.fleet.backends.get(backend.name)
    return parts.stations.has(live) and is_same_server(live.config, backend)


def _come(parts: Parts, live: LiveBackend, means: _Means) -> None:
    name = live.config.name
    reason = parts.drained.drain_reason(name)
    if reason is not None:
        live.observe(DrainBegun(reason), parts.clock.monotonic_s())
    parts.stations.open(live, _key(parts, live, means), means.contexts.get(name))


def _rekey(parts: Parts, means: _Means) -> None:
    for live in parts.fleet.backends.values():
        parts.stations.rekey(live, _key(parts, live, means))


def _key(parts: Parts, live: LiveBackend, means: _Means) -> bytes | None:
    """Its key; one that can't be read for the moment stays what it was."""
    name = live.config.name
    return parts.stations.keys.get(live) if name in means.keyless else means.keys.get(name)
