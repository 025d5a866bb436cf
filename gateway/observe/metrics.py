"""What /metrics says. Labels come from the routing file or closed lists, never from clients."""

from collections.abc import Collection, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest

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
        self._instruments: list[Counters | Histograms] = []
        self._requests = self._counters(
            "gateway_requests",
            "Requests of clients by model, endpoint and HTTP status; 499: the client left.",
            ["model", "endpoint", "status"],
        )
        self._errors = self._counters(
            "gateway_request_errors",
            "Requests that ended in an error, by model and error code.",
            ["model", "code"],
        )
        self._cancelled = self._counters(
            "gateway_client_cancelled",
            "Requests whose client left before the answer was complete.",
            ["model"],
        )
        self._attempts = self._counters(
            "gateway_backend_attempts", "Requests sent to a backend.", ["backend"]
        )
        self._failures = self._counters(
            "gateway_backend_failures",
            "Attempts at a backend that failed, by kind of failure.",
            ["backend", "kind"],
        )
        self._moves = self._counters(
            "gateway_recoveries",
            "Attempts beyond the first: `retry` before the client had a part of the answer, "
            "`resume` of a broken stream.",
            ["model", "kind"],
        )
        self._scrape_failures = self._counters(
            "gateway_backend_scrape_failures",
            "Looks at a backend's /metrics that brought no figures.",
            ["backend"],
        )
        self._duration = self._histograms(
            "gateway_request_duration_seconds",
            "From the request's head to the end of its answer.",
            ["model", "endpoint"],
            _DURATION_BUCKETS_S,
        )
        self._ttft = self._histograms(
            "gateway_time_to_first_token_seconds",
            "From the request's head to the first event of a streamed answer.",
            ["model"],
            _TTFT_BUCKETS_S,
        )
        self._reloads = self._counters(
            "gateway_config_reloads",
            "Readings of the routing file that brought news, by result: applied, refused, or "
            "unchanged after it had been refused.",
            ["result"],
        )

    def _counters(self, name: str, text: str, labels: Sequence[str]) -> Counters:
        counters = Counters(name, text, labels)
        self.registry.register(counters)
        self._instruments.append(counters)
        return counters

    def _histograms(
        self, name: str, text: str, labels: Sequence[str], bounds_s: Sequence[float]
    ) -> Histograms:
        histograms = Histograms(name, text, labels, bounds_s)
        self.registry.register(histograms)
        self._instruments.append(histograms)
        return histograms

    def keep(self, models: Collection[str], backends: Collection[str]) -> None:
        """Forgets the series of models and backends that the routing file has no more."""
        models = {*models, UNKNOWN_MODEL}
        for instrument in self._instruments:
            instrument.keep("model", models)
            instrument.keep("backend", backends)

    def reloaded(self, result: str) -> None:
        """Counts a reading of the routing file."""
        self._reloads.add(result)

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

    def scrape_failed(self, backend: str) -> None:
        """Counts a look at a backend's /metrics that brought no figures."""
        self._scrape_failures.add(backend)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)
