"""Latencies of calm and of stormy phases, from the clients' records. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from tests.storm.load import Record


class Phase(NamedTuple):
    """A stretch of time with reloads or without, in monotonic seconds."""

    start_s: float
    end_s: float
    is_storm: bool

    def holds(self, start_s: float, end_s: float) -> bool:
        """Whether something lies wholly within."""
        return self.start_s <= start_s and end_s <= self.end_s


@dataclass(frozen=True, slots=True)
class Pair:
    """One latency, calm and stormy, in seconds."""

    calm: tuple[float, ...]
    storm: tuple[float, ...]

    @property
    def ratio_p99(self) -> float | None:
        calm = percentile(self.calm, 99)
        storm = percentile(self.storm, 99)
        return None if not calm or storm is None else storm / calm

    @property
    def added_p99_s(self) -> float | None:
        calm, storm = percentile(self.calm, 99), percentile(self.storm, 99)
        return None if calm is None or storm is None else storm - calm


@dataclass(frozen=True, slots=True)
class Latencies:
    """Time to the first event, gaps between events, and whole requests."""

    first_event: Pair
    gap: Pair
    whole: Pair


def latencies(
    records: Iterable[Record], phases: Sequence[Phase], models: frozenset[str]
) -> Latencies:
    """From whole answers of these models; what crosses the border of a phase counts nowhere."""
    first: tuple[list[float], list[float]] = ([], [])
    gap: tuple[list[float], list[float]] = ([], [])
    whole: tuple[list[float], list[float]] = ([], [])
    for record in records:
        if record.model not in models or not record.is_whole:
            continue
        _sort_in(whole, phases, record.start_s, record.end_s)
        if record.is_stream and record.events_s:
            _sort_in(first, phases, record.start_s, record.events_s[0])
            for before, after in pairwise(record.events_s):
                _sort_in(gap, phases, before, after)
    pairs = (Pair(tuple(sorted(c)), tuple(sorted(s))) for c, s in (first, gap, whole))
    return Latencies(*pairs)


def percentile(ordered: Sequence[float], percent: float) -> float | None:
    """The value that so many per cent do not exceed (nearest rank); None without values."""
    if not ordered:
        return None
    return ordered[max(0, ceil(len(ordered) * percent / 100) - 1)]


def _sort_in(
    found: tuple[list[float], list[float]], phases: Sequence[Phase], start_s: float, end_s: float
) -> None:
    at = bisect_left(phases, end_s, key=lambda phase: phase.end_s)
    if at < len(phases) and phases[at].holds(start_s, end_s):
        found[phases[at].is_storm].append(end_s - start_s)
