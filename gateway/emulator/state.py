"""What one running backend knows, shared by its routes."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gateway.emulator.driver import Driver
from gateway.emulator.faults import FaultBoard, FaultKind
from gateway.emulator.metrics import Metrics
from gateway.emulator.spec import BackendSpec, EngineSpec


@dataclass(slots=True)
class Recorded:
    """One request that reached the backend."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    model: Any = None
    """What the body's `model` said, as it was."""
    response_id: str | None = None
    """The id of the answer, e.g. `chatcmpl-…`."""
    status: int | None = None
    """Status of the answer; None while there is none."""
    disconnected: bool = False
    """The client left before the answer was complete."""

    def header(self, name: str) -> str | None:
        """The last header called `name` (any case)."""
        wanted = name.lower()
        return next((v for n, v in reversed(self.headers) if n == wanted), None)


@dataclass(slots=True)
class ServerState:
    """The live parts of one backend."""

    spec: BackendSpec
    engine_spec: EngineSpec
    driver: Driver
    metrics: Metrics
    faults: FaultBoard
    kill: Callable[[], None]
    """Make the engine die."""
    dying: bool = False
    """The engine is dead and the port not closed yet: /health says 503."""
    shutting_down: bool = False
    asleep: bool = False
    server_load: int = 0
    requests_seen: int = 0
    disconnects: int = 0
    records: deque[Recorded] = field(default_factory=deque)
    control: list[str] = field(default_factory=list)
    """Private engine paths that were called, in order."""

    def served_names(self) -> tuple[str, ...]:
        """The ids served here; the fault `wrong_name` replaces them."""
        for fault in self.faults.all():
            if fault.kind is FaultKind.WRONG_NAME:
                return (fault.name,)
        return self.spec.served_names

    def snapshot(self) -> dict[str, Any]:
        """State for tests and people, as JSON."""
        engine, totals = self.driver.engine, self.driver.engine.totals
        gauges = self.metrics.gauges
        return {
            "name": self.spec.name,
            "running": engine.running,
            "waiting": engine.waiting,
            "kv_usage_ratio": engine.kv.usage_ratio,
            "gauge_running": gauges.running,
            "gauge_waiting": gauges.waiting,
            "max_running": totals.max_running,
            "steps": totals.steps,
            "generated_tokens": totals.generated_tokens,
            "preemptions": totals.preemptions,
            "prefix_hits_tokens": totals.prefix_hits_tokens,
            "aborted": self.driver.aborted,
            "requests_seen": self.requests_seen,
            "disconnects": self.disconnects,
            "control": list(self.control),
            "requests": [
                {
                    "method": record.method,
                    "path": record.path,
                    "model": record.model,
                    "x_request_id": record.header("x-request-id"),
                    "response_id": record.response_id,
                    "status": record.status,
                    "disconnected": record.disconnected,
                }
                for record in self.records
            ],
        }
