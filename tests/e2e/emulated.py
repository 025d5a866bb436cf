"""One public model on several emulated backends, for tests of where requests are placed."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from gateway.emulator.fleet import EmulatedFleet
from gateway.emulator.presets import preset
from gateway.emulator.server import EmulatedBackend
from gateway.emulator.spec import BackendSpec
from tests.support.fleet import spec
from tests.support.gateway import GatewayClient, running_gateway
from tests.support.routing import Tree, backend, model, routes
from tests.support.waiting import eventually

SIZES: Final = [1, 4]
CAP: Final = 4


def graph(name: str, **fields: Any) -> BackendSpec:
    """An engine that has captured 1 and 4."""
    return spec(name, "m", **{"time_scale": 10.0, **fields})


def eager(name: str, **fields: Any) -> BackendSpec:
    """Its twin without graphs."""
    return graph(name, engine="310p-9b-eager", **fields)


def small(name: str, kv_tokens: int, **fields: Any) -> BackendSpec:
    """A graph engine with little KV memory."""
    engine = replace(preset("310p-9b-graph"), kv_tokens=kv_tokens)
    return BackendSpec(
        name=name,
        engine=engine,
        served_names=("m",),
        **{"time_scale": 10.0, "max_model_len": kv_tokens // 2, **fields},
    )


def entry(one: EmulatedBackend, **fields: Any) -> Tree:
    """A backend as the routing file tells of it."""
    engine = one.live.engine_spec
    told: Tree = {"served_name": "m", "max_num_seqs": engine.max_num_seqs}
    if engine.capture_sizes:
        told["capture_sizes"] = list(engine.capture_sizes)
    else:
        told["tier"] = "eager"
    return backend(one.spec.name, one.url, **{**told, **fields})


@asynccontextmanager
async def placing(
    *specs: BackendSpec,
    model_fields: Mapping[str, Any] | None = None,
    fields: Mapping[str, Any] | None = None,
    entry_fields: Mapping[str, Any] | None = None,
    **settings: Any,
) -> AsyncIterator[tuple[GatewayClient, EmulatedFleet]]:
    """The model `pub` on all of them; no request but the test's runs there."""
    async with EmulatedFleet(specs) as fleet:
        entries = [entry(one, **(entry_fields or {})) for one in fleet.backends]
        public = model("pub", *(one.spec.name for one in fleet.backends), **(model_fields or {}))
        tree = {"health": {"canary": False}, **(fields or {})}
        settings = {"scrape_interval_s": 0.2, "probe_interval_s": 0.5, **settings}
        async with running_gateway(routes(entries, [public], **tree), **settings) as gateway:
            yield gateway, fleet


def most_running(fleet: EmulatedFleet) -> dict[str, int]:
    """The largest batch that each engine has had."""
    return {b.spec.name: b.live.driver.engine.totals.max_running for b in fleet.backends}


def served(fleet: EmulatedFleet) -> dict[str, int]:
    """How many generations each backend was asked for."""
    return {
        b.spec.name: sum(one.method == "POST" for one in b.live.records) for b in fleet.backends
    }


async def until_running(fleet: EmulatedFleet, name: str, least: int = 1) -> None:
    """Wait until an engine has so many requests in its batch."""

    async def runs() -> bool:
        return fleet[name].live.driver.engine.running >= least

    await eventually(runs)


async def until_state(gateway: GatewayClient, name: str, *wanted: str) -> None:
    """Wait until a backend is in one of these states."""

    async def is_there() -> bool:
        return (await gateway.health())["backends"][name]["state"] in wanted

    await eventually(is_there)


async def leave(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Have these clients leave. `wait_for` may swallow a cancellation, so it is said again."""
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=0.05)
