"""Prometheus' text format, as far as a scraper of vLLM needs it: samples of the wanted families.

Format: prometheus.io/docs/instrumenting/exposition_formats, text format 0.0.4 and 1.0.0;
OpenMetrics bodies differ only in what is skipped here (comments, `# EOF`, exemplars).
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# What follows the name: labels, a value, perhaps a time stamp and an exemplar. Nothing in it is
# tried twice, so that a hostile line costs no more than its length.
_REST: Final = re.compile(
    r"[ \t]*+(?:\{(?P<labels>(?:[^\"}]++|\"(?:[^\"\\]++|\\.)*+\")*+)\}[ \t]*+|(?<=[ \t]))"
    r"(?P<value>[+-]?(?:[0-9.]{1,40}+(?:[eE][+-]?[0-9]{1,4}+)?|[Ii]nf|[Nn]a[Nn]))"
    r"(?:[ \t]++[+-]?[0-9.]{1,40}+)?[ \t]*+(?:#.*)?\r?"
)
_LABEL: Final = re.compile(
    r"[ \t]*+([a-zA-Z_][a-zA-Z0-9_]*+)[ \t]*+=[ \t]*+\"((?:[^\"\\]++|\\.)*+)\"[ \t]*+(?:,|$)"
)
_ESCAPE: Final = re.compile(r"\\(.)")


class Sample(NamedTuple):
    """One line: a name, its labels, its value (may be inf or nan)."""

    name: str
    labels: dict[str, str]
    value: float


def samples(text: str, wanted: tuple[str, ...]) -> Iterator[Sample]:
    """The samples of exactly the families `wanted`, in the order of `wanted`.

    Lines that can't be read are skipped. So is a last line without its line end: the format asks
    for one, and a number that was cut is another number.
    """
    text = "\n" + text
    for name in wanted:
        mark = "\n" + name
        at = text.find(mark)
        while at >= 0:
            begin = at + len(mark)
            at = text.find("\n", begin)
            if at < 0:
                break
            # A longer name that begins alike fails at its next letter.
            found = _REST.fullmatch(text, begin, at)
            sample = None if found is None else _sample(name, found)
            if sample is not None:
                yield sample
            at = text.find(mark, at)


def _sample(name: str, found: re.Match[str]) -> Sample | None:
    labels = _labels(found["labels"] or "")
    if labels is None:
        return None
    try:
        return Sample(name, labels, float(found["value"]))
    except ValueError:
        return None


def _labels(text: str) -> dict[str, str] | None:
    """The labels between the braces; None if they are none."""
    found: dict[str, str] = {}
    at, end = 0, len(text.rstrip(" \t"))
    while at < end:
        label = _LABEL.match(text, at)
        if label is None:
            return None
        value = label[2]
        found[label[1]] = _ESCAPE.sub(_unescape, value) if "\\" in value else value
        at = label.end()
    return found


def _unescape(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]
