"""What an attempt taught about its backend goes to the fleet, the counters and the log."""

from collections.abc import Callable

from gateway.fleet.health.evidence import RequestFailed, RequestSucceeded
from gateway.fleet.registry import Registry
from gateway.fleet.view import BackendFacts
from gateway.observe.logs import Log
from gateway.observe.metrics import Metrics
from gateway.recovery.classify import Failure, Kind


class Lessons:
    """Notes how attempts ended. `on_doubt` is told the backend that should be probed now."""

    __slots__ = ("_fleet", "_log", "_metrics", "_on_doubt")

    def __init__(
        self, fleet: Registry, metrics: Metrics, log: Log, on_doubt: Callable[[str], None]
    ) -> None:
        self._fleet = fleet
        self._metrics = metrics
        self._log = log
        self._on_doubt = on_doubt

    def begun(self, backend: str) -> None:
        """A request goes to the backend."""
        self._metrics.attempt_started(backend)

    def succeeded(self, backend: str, now: float) -> None:
        """The backend gave a whole answer."""
        if self._fleet.backends[backend].health.is_well:
            return
        if self._fleet.observe(backend, RequestSucceeded(), now):
            self._log.event("info", "backend_state", backend=backend, state="up")

    def failed(self, backend: BackendFacts, failure: Failure, request_id: str, now: float) -> None:
        """An attempt failed; the client's own faults say nothing about the backend."""
        if failure.kind is Kind.CLIENT_ERROR:
            self.succeeded(backend.name, now)
            return
        self._metrics.attempt_failed(backend.name, failure.kind.value)
        self._log.event(
            "warning",
            "attempt_failed",
            backend=backend.name,
            kind=failure.kind.value,
            detail=failure.message,
            request_id=request_id,
        )
        if failure.kind is Kind.NAME_DRIFT:
            self._fleet.backends[backend.name].refuse_name(backend.served_name, now)
        if failure.is_backends_fault:
            evidence = RequestFailed(failure.message, failure.kind is Kind.UNREACHABLE)
            self._fleet.observe(backend.name, evidence, now)
        if failure.kind is not Kind.POOL_EXHAUSTED:
            self._on_doubt(backend.name)
