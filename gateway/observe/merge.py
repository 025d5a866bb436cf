"""The metrics of several worker processes as those of one gateway."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

# Each worker knows its own part of these; of all other gauges each knows the whole.
_ADDED: Final = (
    "gateway_in_flight_requests",
    "gateway_leaving_requests",
    "gateway_waiting_requests",
)
_TALLIES: Final = ("counter", "histogram")
_ENDS: Final = "_created"


def merged(texts: Sequence[bytes]) -> bytes:
    """Counters, histograms and loads added up; of other gauges the largest."""
    if len(texts) == 1:
        return texts[0]
    registry = CollectorRegistry()
    registry.register(_Merged([text.decode("utf-8") for text in texts]))
    return generate_latest(registry)


class _Merged(Collector):
    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    def collect(self) -> Iterator[Metric]:
        """One family for each name."""
        families: dict[str, Metric] = {}
        values: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
        for text in self._texts:
            for family in text_string_to_metric_families(text):
                families.setdefault(
                    family.name, Metric(family.name, family.documentation, family.type)
                )
                found = values.setdefault(family.name, {})
                is_added = family.type in _TALLIES or family.name in _ADDED
                for sample in family.samples:
                    key = (sample.name, tuple(sample.labels.items()))
                    before = found.get(key)
                    is_sum = is_added and not sample.name.endswith(_ENDS)
                    if before is None:
                        found[key] = sample.value
                    else:
                        found[key] = before + sample.value if is_sum else max(before, sample.value)
        for name, family in families.items():
            for (sample_name, labels), value in values[name].items():
                family.add_sample(sample_name, dict(labels), value)
            yield family
