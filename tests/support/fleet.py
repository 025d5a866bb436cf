"""A gateway over emulated backends, in the test's own loop."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gateway.emulator.fleet import EmulatedFleet
from gateway.emulator.presets import preset
from gateway.emulator.spec import BackendSpec
from tests.support.gateway import GatewayClient, running_gateway
from tests.support.routing import backend, model, routes

# Fast enough for a suite, slow enough that a stream can be watched.
TIME_SCALE = 20.0


def spec(name: str, served_name: str, engine: str = "310p-9b-graph", **fields: Any) -> BackendSpec:
    """One emulated backend."""
    return BackendSpec(
        name=name,
        engine=preset(engine),
        served_names=(served_name,),
        **{"time_scale": TIME_SCALE, **fields},
    )


@asynccontextmanager
async def gateway_over(
    *specs: BackendSpec, **settings: Any
) -> AsyncIterator[tuple[GatewayClient, EmulatedFleet]]:
    """One public model `public-NAME` for each backend, with the alias `alias-NAME`."""
    async with EmulatedFleet(specs) as fleet:
        entries = [
            backend(b.spec.name, b.url, served_name=b.spec.served_names[0]) for b in fleet.backends
        ]
        models = [
            model(f"public-{b.spec.name}", b.spec.name, aliases=[f"alias-{b.spec.name}"])
            for b in fleet.backends
        ]
        async with running_gateway(routes(entries, models), **settings) as gateway:
            yield gateway, fleet
