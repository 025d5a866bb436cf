"""Reading a Prometheus text as numbers."""

from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families


@dataclass(frozen=True, slots=True)
class Samples:
    """All samples of one scrape: (name, labels, value)."""

    samples: tuple[tuple[str, dict[str, str], float], ...]

    @classmethod
    def parse(cls, text: str) -> "Samples":
        return cls(
            tuple(
                (sample.name, dict(sample.labels), sample.value)
                for family in text_string_to_metric_families(text)
                for sample in family.samples
            )
        )

    def total(self, name: str, **labels: str) -> float:
        """The sum over the series of `name` that carry these labels; 0 without any."""
        return sum(
            value
            for found, have, value in self.samples
            if found == name and labels.items() <= have.items()
        )

    def names(self) -> set[str]:
        return {name for name, _, _ in self.samples}

    def __len__(self) -> int:
        return len(self.samples)
