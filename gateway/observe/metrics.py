"""What /metrics says. Labels come from the routing file or closed lists, never from clients."""

from collections.abc import Callable, Iterable
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gateway.fleet.health.machine import State
from gateway.fleet.registry import Registry
from gateway.observe.counters import Counters, Histograms

UNKNOWN_MODEL: Final = "unknown"
"""The value of `model` for every name that is not configured."""

# From a fast small model's first token to a long answer on a slow card.
_DURATION_BUCKETS_S: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
_TTFT_BUCKETS_S: Final = (0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 80, 160, 300)


class Metrics:
    """The gateway's instruments."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counters(
            "gateway_requests",
            "Requests of clients by model, endpoint and HTTP status; 499: the client left.",
            ["model", "endpoint", "status"],
        )
        self._errors = Counters(
            "gateway_request_errors",
            "Requests that ended in an error, by model and error code.",
            ["model", "code"],
        )
        self._cancelled = Counters(
            "gateway_client_cancelled",
            "Requests whose client left before the answer was complete.",
            ["model"],
        )
        self._attempts = Counters(
            "gateway_backend_attempts", "Requests sent to a backend.", ["backend"]
        )
        self._failures = Counters(
            "gateway_backend_failures",
            "Attempts at a backend that failed, by kind of failure.",
            ["backend", "kind"],
        )
        self._moves = Counters(
            "gateway_recoveries",
            "Attempts beyond the first: `retry` before the client had a part of the answer, "
            "`resume` of a broken stream.",
            ["model", "kind"],
        )
        self._duration = Histograms(
            "gateway_request_duration_seconds",
            "From the request's head to the end of its answer.",
            ["model", "endpoint"],
            _DURATION_BUCKETS_S,
        )
        self._ttft = Histograms(
            "gateway_time_to_first_token_seconds",
            "From the request's head to the first event of a streamed answer.",
            ["model"],
            _TTFT_BUCKETS_S,
        )
        for instrument in (
            self._requests,
            self._errors,
            self._cancelled,
            self._attempts,
            self._failures,
            self._moves,
            self._duration,
            self._ttft,
        ):
            self.registry.register(instrument)

    def request_ended(self, model: str, endpoint: str, status: int, duration_s: float) -> None:
        """Counts one finished request; `model` is a configured name or UNKNOWN_MODEL."""
        self._requests.add(model, endpoint, str(status))
        self._duration.observe(duration_s, model, endpoint)

    def request_failed(self, model: str, code: str) -> None:
        """Counts one error that a client saw, or would have seen; `code` is one of our own."""
        self._errors.add(model, code)

    def client_left(self, model: str) -> None:
        """Counts one request whose client left."""
        self._cancelled.add(model)

    def first_event(self, model: str, ttft_s: float) -> None:
        """Notes the time to the first event of a stream."""
        self._ttft.observe(ttft_s, model)

    def attempt_started(self, backend: str) -> None:
        """Counts one request sent to a backend."""
        self._attempts.add(backend)

    def attempt_failed(self, backend: str, kind: str) -> None:
        """Counts one failed attempt."""
        self._failures.add(backend, kind)

    def moved(self, model: str, kind: str) -> None:
        """Counts one attempt beyond the first; `kind` is retry or resume."""
        self._moves.add(model, kind)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)


class FleetCollector(Collector):
    """Gauges that are read off the fleet when /metrics is asked for."""

    def __init__(self, fleet: Registry, waiting: Callable[[str], int] | None = None) -> None:
        self._fleet = fleet
        self._waiting = waiting

    def collect(self) -> Iterable[Metric]:
        """One sample per backend for load and state, one per configuration."""
        in_flight = GaugeMetricFamily(
            "gateway_in_flight_requests", "Requests at the backend now.", labels=["backend"]
        )
        cap = GaugeMetricFamily(
            "gateway_backend_cap_requests",
            "Requests at once that the backend serves well.",
            labels=["backend"],
        )
        state = GaugeMetricFamily(
            "gateway_backend_state", "1 for the backend's state.", labels=["backend", "state"]
        )
        drift = GaugeMetricFamily(
            "gateway_backend_drift",
            "Differences between the backend and the routing file at its last probe.",
            labels=["backend"],
        )
        breaker = GaugeMetricFamily(
            "gateway_backend_breaker_open",
            "1 while the backend's circuit breaker is not closed.",
            labels=["backend"],
        )
        engine = GaugeMetricFamily(
            "gateway_backend_engine_requests",
            "Requests in the engine at the last look, those of others included.",
            labels=["backend", "state"],
        )
        kv_usage = GaugeMetricFamily(
            "gateway_backend_kv_usage_ratio",
            "Share of the engine's KV cache in use at the last look, 0 to 1.",
            labels=["backend"],
        )
        for name, backend in self._fleet.backends.items():
            seen = backend.progress.activity
            if seen is not None:
                engine.add_metric([name, "running"], seen.running)
                engine.add_metric([name, "waiting"], seen.waiting)
                kv_usage.add_metric([name], seen.kv_usage_ratio)
            breaker.add_metric([name], float(backend.breaker.openings > 0))
            in_flight.add_metric([name], backend.in_flight)
            cap.add_metric([name], backend.cap)
            drift.add_metric([name], len(backend.served.drift))
            for possible in State:
                state.add_metric([name, possible.value], float(backend.state is possible))
        queued = GaugeMetricFamily(
            "gateway_waiting_requests",
            "Requests that wait for a free backend of the model.",
            labels=["model"],
        )
        for model in self._fleet.names.models if self._waiting is not None else ():
            queued.add_metric([model], self._waiting(model) if self._waiting else 0)
        info = GaugeMetricFamily(
            "gateway_config_info", "1 for the routing file in force.", labels=["version"]
        )
        info.add_metric([self._fleet.version], 1)
        return [in_flight, cap, state, breaker, engine, kv_usage, drift, queued, info]
