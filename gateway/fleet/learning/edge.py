"""Where the graph ends, of an engine that has not told which batch sizes it has captured."""

from typing import Final

from gateway.fleet.learning.lines import Line

BAND: Final = 0.85
"""A batch counts as good when its tokens a second are at least this share of the best."""

_MEMORY_TOKENS: Final = 500.0


class Edge:
    """Means by batch size, and the interval between the largest good and the smallest bad one.

    A size that is worse than a smaller one lies off the graph. `limit` is max_num_seqs.
    """

    __slots__ = ("_bad", "_good", "_limit", "_means")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._means: dict[int, tuple[float, float]] = {}
        self._good = 1
        self._bad: int | None = None

    def __repr__(self) -> str:
        return f"<Edge from {self._good} to {self._bad}>"

    @property
    def reach(self) -> int:
        """The largest batch on the graph as far as it has been found; all before one was bad."""
        return self._limit if self._bad is None else min(self._good, self._limit)

    @property
    def next_try(self) -> int | None:
        """The size in the middle of the interval, None where there is none left."""
        if self._bad is None or self._bad <= self._good + 1:
            return None
        return min((self._good + self._bad) // 2, self._limit)

    def is_new(self, size: int) -> bool:
        """Whether this size has not been seen."""
        return size not in self._means

    def add(self, size: int, step_s: float, weight: float) -> tuple[Line, Line]:
        """Notes a measurement; returns what is known on the graph and off it."""
        means = self._means
        before_s, seen = means.get(size, (step_s, 0.0))
        seen = min(seen, _MEMORY_TOKENS)
        means[size] = (before_s + weight / (seen + weight) * (step_s - before_s), seen + weight)
        self._narrow(size)
        edge = self._limit + 1 if self._bad is None else self._bad
        graph, eager = Line(), Line()
        for n, (mean_s, n_weight) in means.items():
            line = graph if n < edge else eager
            line.add(n, mean_s, n_weight)
        return graph, eager

    def soften(self, expected_s: float) -> None:
        """All that was seen is thought to be half as far from `expected_s`."""
        self._means = {
            size: ((mean_s + expected_s) / 2.0, weight)
            for size, (mean_s, weight) in self._means.items()
        }

    def _narrow(self, size: int) -> None:
        means = self._means
        below = size if self._bad is None else min(size, self._bad)
        rates = [n / mean_s for n, (mean_s, _) in means.items() if n < below]
        if rates and size / means[size][0] < BAND * max(rates):
            self._bad = size if self._bad is None else min(self._bad, size)
            known = [n for n in (*means, self._good) if n < self._bad]
            self._good = max(known, default=1)
        elif rates and self._bad is not None and size >= self._bad:
            # It was thought to be bad, and is not.
            self._good, self._bad = size, None if size >= self._limit else size + 1
        elif self._bad is not None and size < self._bad:
            self._good = max(self._good, size)
