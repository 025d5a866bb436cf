"""Counters and histograms as plain numbers, read when /metrics is asked for.

The event loop is their only writer, so they need none of the locks that cost prometheus_client's
own instruments several microseconds a request.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector


class Counters(Collector):
    """A counter with labels; `add` with the values of the labels in order."""

    def __init__(self, name: str, text: str, labels: Sequence[str]) -> None:
        self._name = name
        self._text = text
        self._labels = tuple(labels)
        self._values: dict[tuple[str, ...], int] = {}

    def add(self, *labels: str) -> None:
        """One more of these labels."""
        self._values[labels] = self._values.get(labels, 0) + 1

    def keep(self, label: str, values: Collection[str]) -> None:
        """Forgets the series whose `label` has none of these values; does nothing without it."""
        if label in self._labels:
            at = self._labels.index(label)
            self._values = {k: v for k, v in self._values.items() if k[at] in values}

    def collect(self) -> Iterable[Metric]:
        """The samples."""
        family = CounterMetricFamily(self._name, self._text, labels=self._labels)
        for labels, value in self._values.items():
            family.add_metric(labels, value)
        return [family]


class Histograms(Collector):
    """A histogram in seconds with labels and fixed upper bounds."""

    def __init__(
        self, name: str, text: str, labels: Sequence[str], bounds_s: Sequence[float]
    ) -> None:
        self._name = name
        self._text = text
        self._labels = tuple(labels)
        self._bounds_s = tuple(bounds_s)
        self._buckets: dict[tuple[str, ...], list[int]] = {}
        self._sums_s: dict[tuple[str, ...], float] = {}

    def observe(self, seconds: float, *labels: str) -> None:
        """One more value of these labels."""
        buckets = self._buckets.get(labels)
        if buckets is None:
            buckets = self._buckets[labels] = [0] * (len(self._bounds_s) + 1)
            self._sums_s[labels] = 0.0
        buckets[bisect_left(self._bounds_s, seconds)] += 1
        self._sums_s[labels] += seconds

    def keep(self, label: str, values: Collection[str]) -> None:
        """Forgets the series whose `label` has none of these values; does nothing without it."""
        if label in self._labels:
            at = self._labels.index(label)
            self._buckets = {k: v for k, v in self._buckets.items() if k[at] in values}
            self._sums_s = {k: v for k, v in self._sums_s.items() if k[at] in values}

    def collect(self) -> Iterable[Metric]:
        """The samples, with cumulated buckets."""
        family = HistogramMetricFamily(self._name, self._text, labels=self._labels)
        names = [*(_text(bound) for bound in self._bounds_s), "+Inf"]
        for labels, buckets in self._buckets.items():
            total = 0
            cumulated: list[tuple[str, float]] = []
            for name, count in zip(names, buckets, strict=True):
                total += count
                cumulated.append((name, total))
            family.add_metric(labels, cumulated, self._sums_s[labels])
        return [family]


def _text(bound: float) -> str:
    return repr(float(bound))
