"""Several gateways as one: the store that they share, and the loops that use it."""

import os
import secrets
import socket
from collections.abc import Callable, Mapping
from typing import Any

from gateway.clock import Clock
from gateway.fleet.health.evidence import Activity
from gateway.fleet.live import LiveBackend
from gateway.fleet.registry import Registry
from gateway.flow.hold import Halls
from gateway.observe.events import Events
from gateway.settings import Settings
from gateway.store.redis_store import RedisStore
from gateway.workers.controls import Controls
from gateway.workers.following import Following
from gateway.workers.sharing import Sharing
from gateway.workers.supervise import Supervisor


def open_store(settings: Settings) -> RedisStore | None:
    """The store of the settings; None for a gateway that is alone.

    Raises ValueError for a URL that can't be used. Nothing is sent yet.
    """
    if settings.store_url is None:
        return None
    name = f"{socket.gethostname()[:40]}-{os.getpid()}-{secrets.token_hex(3)}"
    return RedisStore(settings.store_url.get_secret_value(), settings.store_namespace, name)


class Together:
    """What a gateway has to do with others; without a store, nothing."""

    def __init__(self, store: RedisStore | None, clock: Clock, events: Events) -> None:
        self._store = store
        self._clock = clock
        self._events = events
        self._sharing: Sharing | None = None

    def __repr__(self) -> str:
        return f"<Together {self._store!r}>"

    def join(
        self,
        fleet: Registry,
        halls: Halls,
        controls: Controls,
        doubt: Callable[[LiveBackend], None],
        supervisor: Supervisor,
    ) -> None:
        """Begins to share; call it inside the event loop."""
        if self._store is None or halls.shares is None:
            return
        following = Following(self._store, controls)
        controls.follow(following)
        self._sharing = sharing = Sharing(
            self._store,
            fleet,
            halls.shares,
            following,
            halls.lanes,
            waiting=halls.lines,
            look=halls.look,
            doubt=doubt,
            say=self._say,
            clock=self._clock,
        )
        supervisor.start("sharing", sharing.run)
        supervisor.start("places given over", sharing.hear)

    def is_reader(self, live: LiveBackend) -> bool:
        """Whether this gateway reads the backend's metrics itself."""
        return self._sharing is None or self._sharing.is_reader(live)

    def was_read(self, live: LiveBackend, activity: Activity | None, at_s: float) -> None:
        """This gateway has read the backend's metrics."""
        if self._sharing is not None:
            self._sharing.was_read(live, activity, at_s)

    def recent(self, live: LiveBackend) -> Activity | None:
        """What was read of the backend's metrics in the last moments, if it is shared."""
        return None if self._sharing is None else self._sharing.recent(live)

    def report(self) -> Mapping[str, Any]:
        """What /health says of the store and of the other gateways."""
        if self._sharing is None or self._store is None:
            return {"kind": "memory", "status": "ok", "reason": None, "replicas": []}
        return {
            "kind": "redis",
            "address": self._store.shown,
            "status": "ok" if self._store.is_up else "degraded",
            "reason": self._store.trouble or None,
            "replicas": self._sharing.report(),
        }

    def figures(self) -> tuple[bool, int, int, int]:
        """Whether the store is up, round trips and failures so far, gateways with this one."""
        store, sharing = self._store, self._sharing
        if sharing is None or store is None:
            return True, 0, 0, 1
        trips, failures = store.round_trips_total, store.failures_total
        return store.is_up, trips, failures, 1 + len(sharing.replicas)

    async def leave(self) -> None:
        """Tells the others that this gateway goes, and closes the connections."""
        if self._store is not None:
            await self._store.close()

    def _say(self, trouble: str) -> None:
        if trouble:
            told = f"it does not answer ({trouble}); what this gateway knows itself decides"
            self._events.add("warning", "store_down", reason=told)
        else:
            self._events.add("info", "store_up", reason="state is shared with other gateways")
