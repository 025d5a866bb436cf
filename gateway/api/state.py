"""What the routes of the site need to answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.access.keys import Keyring
from gateway.api.control import Control
from gateway.clock import Clock
from gateway.config.status import ConfigStatus
from gateway.fleet.registry import Registry
from gateway.observe.events import Events
from gateway.observe.logs import Log
from gateway.observe.metrics import Metrics
from gateway.observe.trails import Trails
from gateway.upstream.siblings import Siblings

NO_SIBLINGS: Final = Siblings()


def alone() -> Mapping[str, Any]:
    """The store of a gateway that is alone."""
    return {"kind": "memory", "status": "ok", "reason": None, "replicas": []}


@dataclass(frozen=True, slots=True)
class Site:
    """The parts of the gateway that models, health, metrics and administration show.

    `created_s` is when this gateway took its routing file, in seconds since 1970. `is_draining`
    tells whether it shuts down, `waiting` how many requests of a model wait for a free backend,
    `store` how the store and the other gateways are. `siblings` are the other workers of this one.
    """

    fleet: Registry
    keys: Keyring
    admin_keys: Keyring
    metrics: Metrics
    events: Events
    log: Log
    clock: Clock
    version: str
    created_s: int
    control: Control
    config_status: Callable[[], ConfigStatus]
    is_draining: Callable[[], bool]
    waiting: Callable[[str], int]
    is_admin_open: bool
    trails: Trails
    store: Callable[[], Mapping[str, Any]] = alone
    siblings: Siblings = NO_SIBLINGS
