"""Prometheus' text format, as far as a scraper of vLLM needs it: samples of the wanted families.

Format: prometheus.io/docs/instrumenting/exposition_formats, text format 0.0.4; OpenMetrics bodies
differ only in what is skipped here (comments, `# EOF`, exemplars).
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_SAMPLE: Final = re.compile(
    r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)"
    r"(?:\{(?P<labels>(?:[^\"}]|\"(?:[^\"\\]|\\.)*\")*)\})?"
    r"[ \t]+(?P<value>[^ \t]+)"
)
_LABEL: Final = re.compile(r"\s*+([a-zA-Z_][a-zA-Z0-9_]*+)\s*+=\s*+\"((?:[^\"\\]|\\.)*+)\"\s*+,?")
_ESCAPE: Final = re.compile(r"\\(.)")


class Sample(NamedTuple):
    """One line: a name, its labels, its value (may be inf or nan)."""

    name: str
    labels: dict[str, str]
    value: float


def samples(text: str, wanted: tuple[str, ...]) -> Iterator[Sample]:
    """The samples whose names begin with one of `wanted`; lines that can't be read are skipped."""
    for line in text.split("\n"):
        if not line.startswith(wanted):
            continue
        found = _SAMPLE.match(line)
        if found is None:
            continue
        try:
            value = float(found["value"])
        except ValueError:
            continue
        yield Sample(found["name"], _labels(found["labels"]), value)


def _labels(text: str | None) -> dict[str, str]:
    if not text:
        return {}
    found: dict[str, str] = {}
    at = 0
    # Label by label, so that text that is none ends it at once.
    while (label := _LABEL.match(text, at)) is not None:
        found[label[1]] = _ESCAPE.sub(_unescape, label[2])
        at = label.end()
    return found


def _unescape(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]
