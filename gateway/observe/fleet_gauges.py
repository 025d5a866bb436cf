"""Gauges that are read off the fleet when /metrics is asked for."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gateway.config.problems import Severity
from gateway.config.status import ConfigStatus
from gateway.fleet.health.machine import State
from gateway.fleet.live import LiveBackend
from gateway.fleet.registry import Registry


class FleetCollector(Collector):
    """Samples of load, state and what was learnt, by backend and by model."""

    def __init__(
        self,
        fleet: Registry,
        waiting: Callable[[str], int] | None = None,
        status: Callable[[], ConfigStatus] | None = None,
        store: Callable[[], tuple[bool, int, int, int]] | None = None,
    ) -> None:
        self._fleet = fleet
        self._waiting = waiting
        self._status = status
        self._store = store

    def collect(self) -> Iterable[Metric]:
        """All of them, as they are now."""
        yield from _load(self._fleet)
        yield from _state(self._fleet)
        yield from _engine(self._fleet)
        yield from _learnt(self._fleet)
        queued = _gauge(
            "gateway_waiting_requests", "Requests that wait for a free backend.", "model"
        )
        for model in self._fleet.names.models if self._waiting is not None else ():
            queued.add_metric([model], self._waiting(model) if self._waiting else 0)
        yield queued
        yield from _shared((True, 0, 0, 1) if self._store is None else self._store())
        yield from _config(self._fleet.version, None if self._status is None else self._status())


def _gauge(name: str, told: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, told, labels=labels)


def _shared(figures: tuple[bool, int, int, int]) -> Iterator[Metric]:
    is_up, round_trips_total, failures_total, gateways = figures
    up = _gauge(
        "gateway_store_up", "1 while the store that gateways share answers, or none is set."
    )
    up.add_metric([], float(is_up))
    trips = CounterMetricFamily(
        "gateway_store_round_trips", "Times that something was sent to the store and awaited."
    )
    trips.add_metric([], round_trips_total)
    failed = CounterMetricFamily(
        "gateway_store_failures",
        "Times that the store did not answer in time or refused; what the gateway knew decided.",
    )
    failed.add_metric([], failures_total)
    replicas = _gauge("gateway_replicas", "Gateways that share the store, this one included.")
    replicas.add_metric([], gateways)
    yield from (up, trips, failed, replicas)


def _config(version: str, status: ConfigStatus | None) -> Iterator[Metric]:
    info = _gauge(
        "gateway_config_info",
        "1 for the routing file in force; `by` put it there.",
        "version",
        "by",
    )
    loaded = _gauge(
        "gateway_config_loaded_timestamp_seconds",
        "When the routing file in force was taken, in seconds since 1970.",
    )
    refused = _gauge(
        "gateway_config_refused",
        "1 while the routing file on disk can't be used and an older one is in force.",
    )
    problems = _gauge(
        "gateway_config_refused_problems", "Errors of the refused routing file, by code.", "code"
    )
    if status is not None:
        info.add_metric([version, status.by], 1)
        loaded.add_metric([], status.loaded_at_s)
        refused.add_metric([], float(status.is_refused))
        codes = Counter(p.code.value for p in status.refused if p.severity is Severity.ERROR)
        for code, count in codes.items():
            problems.add_metric([code], count)
    yield from (info, loaded, refused, problems)


def _load(fleet: Registry) -> Iterator[Metric]:
    in_flight = _gauge("gateway_in_flight_requests", "Requests at the backend now.", "backend")
    cap = _gauge(
        "gateway_backend_cap_requests", "Requests at once that the backend serves well.", "backend"
    )
    for name, backend in fleet.backends.items():
        in_flight.add_metric([name], backend.in_flight)
        cap.add_metric([name], backend.cap)
    leaving = Counter[str]()
    for backend in fleet.leaving:
        leaving[backend.config.name] += backend.in_flight
    leaves = _gauge(
        "gateway_leaving_requests",
        "Requests at a backend that the routing file has no more.",
        "backend",
    )
    for name, count in leaving.items():
        leaves.add_metric([name], count)
    yield from (in_flight, leaves, cap)


def _state(fleet: Registry) -> Iterator[Metric]:
    state = _gauge("gateway_backend_state", "1 for the backend's state.", "backend", "state")
    drift = _gauge(
        "gateway_backend_drift",
        "Differences between the backend and the routing file at its last probe.",
        "backend",
    )
    breaker = _gauge(
        "gateway_backend_breaker_open",
        "1 while the backend's circuit breaker is not closed.",
        "backend",
    )
    for name, backend in fleet.backends.items():
        breaker.add_metric([name], float(backend.breaker.openings > 0))
        drift.add_metric([name], len(backend.served.drift))
        for possible in State:
            state.add_metric([name, possible.value], float(backend.state is possible))
    yield from (state, breaker, drift)


def _engine(fleet: Registry) -> Iterator[Metric]:
    engine = _gauge(
        "gateway_backend_engine_requests",
        "Requests in the engine at the last look, those of others included.",
        "backend",
        "state",
    )
    kv_usage = _gauge(
        "gateway_backend_kv_usage_ratio",
        "Share of the engine's KV cache in use at the last look, 0 to 1.",
        "backend",
    )
    for name, backend in fleet.backends.items():
        seen = backend.work.figures.last or backend.progress.activity
        if seen is not None:
            engine.add_metric([name, "running"], seen.running)
            engine.add_metric([name, "waiting"], seen.waiting)
            if seen.kv_usage_ratio is not None:
                kv_usage.add_metric([name], seen.kv_usage_ratio)
    yield from (engine, kv_usage)


def _learnt(fleet: Registry) -> Iterator[Metric]:
    step = _gauge(
        "gateway_backend_step_seconds",
        "Learnt seconds of a decode step by batch: alone, at the cap, at max_num_seqs.",
        "backend",
        "batch",
    )
    prompt = _gauge(
        "gateway_backend_prompt_tokens_per_second",
        "Learnt speed of reading prompts that are not cached.",
        "backend",
    )
    answer = _gauge("gateway_model_answer_tokens", "Learnt mean length of answers.", "model")
    for name, backend in fleet.backends.items():
        speed = backend.work.speed()
        prompt.add_metric([name], 1.0 / speed.token_s)
        for batch, size in _batches(backend):
            step.add_metric([name, batch], speed.steps[size])
    for name, lessons in fleet.lessons.items():
        answer.add_metric([name], lessons.lengths.left_tokens(0, None))
    yield from (step, prompt, answer)


def _batches(backend: LiveBackend) -> tuple[tuple[str, int], ...]:
    speed = backend.work.speed()
    return (("alone", 1), ("cap", speed.cap), ("limit", len(speed.steps) - 2))
