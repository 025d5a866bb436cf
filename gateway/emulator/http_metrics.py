"""The HTTP families of /metrics, as prometheus-fastapi-instrumentator names them."""

from prometheus_client import CollectorRegistry, Counter, Histogram, Summary

_HIGHR_S = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5),
    *(7.5, 10, 30, 60),
)


class HttpMetrics:
    """What prometheus-fastapi-instrumentator counts in vLLM."""

    _UNCOUNTED = frozenset({"/health", "/metrics", "/load", "/ping", "/version", "/server_info"})

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "http_requests_total",
            "Total number of requests by method, status and handler.",
            ("method", "status", "handler"),
            registry=registry,
        )
        size = (
            "Content length of {} by handler. Only value of header is respected. Otherwise "
            "ignored. No percentile calculated. "
        )
        self._in = Summary(
            "http_request_size_bytes",
            size.format("incoming requests"),
            ("handler",),
            registry=registry,
        )
        self._out = Summary(
            "http_response_size_bytes",
            size.format("outgoing responses"),
            ("handler",),
            registry=registry,
        )
        self._highr = Histogram(
            "http_request_duration_highr_seconds",
            "Latency with many buckets but no API specific labels. Made for more accurate "
            "percentile calculations. ",
            buckets=_HIGHR_S,
            registry=registry,
        )
        self._durations = Histogram(
            "http_request_duration_seconds",
            "Latency with only few buckets by handler. Made to be only used if aggregation by "
            "handler is important. ",
            ("method", "handler"),
            buckets=(0.1, 0.5, 1),
            registry=registry,
        )

    def observe(
        self, method: str, path: str, status: int, sizes: tuple[int, int], seconds: float
    ) -> None:
        """Count one answer on a known route."""
        if path in self._UNCOUNTED:
            return
        self._requests.labels(method, f"{status // 100}xx", path).inc()
        self._in.labels(path).observe(sizes[0])
        self._out.labels(path).observe(sizes[1])
        self._highr.observe(seconds)
        self._durations.labels(method, path).observe(seconds)
