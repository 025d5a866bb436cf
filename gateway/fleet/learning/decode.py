"""How long a decode step takes by batch size, on the graph and off it, and the cap that follows."""

from typing import Final

BAND: Final = 0.85
"""A batch counts as good when its tokens a second are at least this share of the best."""

LOOK_AGAIN_S: Final = 1800.0
"""Seconds after which the eager region is looked at once more."""

_LOOK_LASTS_S: Final = 60.0
_DECAY_A_TOKEN: Final = 0.9995
_MOST_TOKENS: Final = 32.0
_EAGER_FACTOR: Final = 3.0
_STEEPEST: Final = 0.2
_SLOPE_PRIOR: Final = 0.02
_SHRINK: Final = 60.0
_ODD_RATIO: Final = 2.5
_ODD_IN_A_ROW: Final = 4
_SEEN_TOKENS: Final = 8.0
_FIRST_CAP: Final = 2
_MEMORY_TOKENS: Final = 500.0


class Line:
    """A decayed weighted least squares of step time by batch size, its slope shrunk and bound."""

    __slots__ = ("_sx", "_sxx", "_sxy", "_sy", "weight")

    def __init__(self) -> None:
        self.weight = 0.0
        self._sx = self._sy = self._sxx = self._sxy = 0.0

    def add(self, size: float, step_s: float, weight: float) -> None:
        """Notes one measurement."""
        keep = _DECAY_A_TOKEN**weight
        self.weight = keep * self.weight + weight
        self._sx = keep * self._sx + weight * size
        self._sy = keep * self._sy + weight * step_s
        self._sxx = keep * self._sxx + weight * size * size
        self._sxy = keep * self._sxy + weight * size * step_s

    def fit(self) -> tuple[float, float]:
        """Intercept and slope in seconds; the weight must not be 0."""
        mean_x, mean_y = self._sx / self.weight, self._sy / self.weight
        spread = max(0.0, self._sxx - self.weight * mean_x * mean_x)
        joint = self._sxy - self.weight * mean_x * mean_y
        prior = _SLOPE_PRIOR * mean_y
        slope = (joint + _SHRINK * prior) / (spread + _SHRINK)
        slope = min(max(slope, 0.0), _STEEPEST * mean_y)
        return mean_y - slope * mean_x, slope


class Kin:
    """What engines alike share: one of them looks beyond the graph for all.

    `eager` is what the eager region takes, intercept and slope as multiples of a step at the
    largest captured size; None before one has seen it.
    """

    __slots__ = ("eager", "look_began_s", "seen_s")

    def __init__(self) -> None:
        self.eager: tuple[float, float] | None = None
        self.look_began_s = float("-inf")
        self.seen_s = float("-inf")

    def __repr__(self) -> str:
        return f"<Kin eager {self.eager}>"


class DecodeSpeed:
    """Step times of one backend, learnt from the time between tokens of its streams.

    `sizes` are the captured batch sizes, () for an eager engine, None when nobody told: then a
    slow start finds out how far the graph reaches. `limit` is max_num_seqs. `prior_s` is what a
    step is thought to take before anything was seen. `kin` is shared by engines that are alike.
    """

    __slots__ = (
        "_bad",
        "_eager",
        "_good",
        "_graph",
        "_kin",
        "_largest",
        "_limit",
        "_means",
        "_odd",
        "_pads",
        "_prior_s",
        "_sizes",
        "_steps",
        "_trial",
        "cap",
        "version",
    )

    def __init__(
        self, sizes: tuple[int, ...] | None, limit: int, prior_s: float, kin: Kin | None = None
    ) -> None:
        self._sizes = sizes
        self._limit = limit
        self._prior_s = prior_s
        usable = [size for size in sizes or () if size <= limit]
        self._largest = max(usable, default=0)
        self._pads = _padding(usable, limit)
        self._graph = Line()
        self._eager = Line()
        self._kin = kin or Kin()
        self._means: dict[int, tuple[float, float]] = {}
        self._odd = 0
        self._good = min(_FIRST_CAP, limit)
        self._bad = limit + 1
        self._trial = self._good
        if sizes is None:
            self._largest = limit
            self._pads = list(range(limit + 2))
        self.version = 0
        self._steps: tuple[float, ...] = ()
        self.cap = 0
        self._refresh()

    def __repr__(self) -> str:
        return f"<DecodeSpeed cap {self.cap}, {self.step_s(1) * 1000:.1f} ms alone>"

    @property
    def largest(self) -> int:
        """The largest batch that runs on the graph, as far as known; 0 for an eager engine."""
        return self._largest

    @property
    def steps(self) -> tuple[float, ...]:
        """Seconds a step takes, by batch size from 0 to max_num_seqs + 1."""
        return self._steps

    @property
    def samples_tokens(self) -> tuple[float, float]:
        """Decayed weight of what was seen in the graph and in the eager region."""
        return self._graph.weight, self._eager.weight

    def step_s(self, size: int) -> float:
        """Seconds a step with `size` sequences takes."""
        return self._steps[min(size, self._limit + 1)]

    def cap_with(self, has_backlog: bool, now: float) -> int:
        """The cap, and one more when it is time to look beyond the largest captured size."""
        if self._sizes is None and self._bad > self._good + 1:
            return min(self._trial, self._limit)
        if not self.may_look(has_backlog, now):
            return self.cap
        return self.cap + 1

    def may_look(self, has_backlog: bool, now: float) -> bool:
        """Whether one request more than the graph serves may be tried, to see how eager does."""
        if not has_backlog or not 0 < self.cap < self._limit:
            return False
        if self.cap != self._largest or now - self._kin.seen_s < LOOK_AGAIN_S:
            return False
        return now - self._kin.look_began_s > _LOOK_LASTS_S

    def looked(self, now: float) -> None:
        """One request more than the graph serves was sent."""
        self._kin.look_began_s = now

    def add(self, size: int, step_s: float, tokens: float, now: float) -> None:
        """Notes that steps with `size` sequences took `step_s` each, over so many tokens.

        A single outlier is dropped: a preemption or another's prompt. Only when several follow
        one another the engine has changed.
        """
        if size < 1 or tokens <= 0 or step_s <= 0:
            return
        size = min(size, self._limit)
        weight = min(tokens, _MOST_TOKENS)
        is_new = self._is_new(size)
        if not is_new and step_s > _ODD_RATIO * self.step_s(size):
            self._odd += 1
            if self._odd < _ODD_IN_A_ROW:
                return
        else:
            self._odd = 0
        if self._sizes is None:
            self._climb(size, step_s, weight)
        elif size <= self._largest:
            self._graph.add(self._pads[size], step_s, weight)
        else:
            self._eager.add(size, step_s, weight)
        if size > self._largest:
            self._kin.seen_s = now
        self._refresh()
        if self._eager.weight and self._graph.weight and self._largest:
            a, b = self._eager.fit()
            self._kin.eager = (a / self._steps[self._largest], b / self._steps[self._largest])

    def forget(self) -> None:
        """The engine was started anew, maybe with other flags."""
        self.__init__(self._sizes, self._limit, self._prior_s, self._kin)  # type: ignore[misc]

    def _is_new(self, size: int) -> bool:
        line = self._graph if size <= self._largest else self._eager
        if self._sizes is None:
            return size not in self._means
        return line.weight < _SEEN_TOKENS

    def _climb(self, size: int, step_s: float, weight: float) -> None:
        """The slow start: half as much again while the rate holds, then halve the interval."""
        means = self._means
        before_s, seen = means.get(size, (step_s, 0.0))
        seen = min(seen, _MEMORY_TOKENS)
        means[size] = (before_s + weight / (seen + weight) * (step_s - before_s), seen + weight)
        best = max((n / mean_s for n, (mean_s, _) in means.items() if n < size), default=0.0)
        if size / means[size][0] < BAND * best:
            if size <= self._good:
                # What was thought good was not: the edge lies below.
                self._good = max((n for n in means if n < size), default=1)
            self._bad = min(self._bad, size)
        elif size < self._bad:
            self._good = max(self._good, size)
        if self._bad > self._limit:
            self._trial = self._good
            if means.get(self._good, (0.0, 0.0))[1] >= _SEEN_TOKENS:
                self._trial = min(self._limit, max(self._good + 1, round(1.5 * self._good)))
        else:
            self._trial = max(self._good, (self._good + self._bad) // 2)
            self._largest = self._good
        self._graph, self._eager = Line(), Line()
        for n, (mean_s, n_weight) in means.items():
            line = self._graph if n < self._bad else self._eager
            line.add(n, mean_s, n_weight)

    def _refresh(self) -> None:
        graph, eager = self._graph, self._eager
        is_eager_only = self._largest == 0
        base = eager if is_eager_only else graph
        steps = [0.0] * (self._limit + 2)
        if base.weight:
            a, b = base.fit()
        else:
            a, b = self._prior_s * (1.0 - _SLOPE_PRIOR), _SLOPE_PRIOR * self._prior_s
        # Decisions follow the line, not the stairs of padding: whoever steps onto the next stair
        # would be charged for all who come after it.
        for size in range(1, min(self._largest, self._limit) + 1):
            steps[size] = a + b * size
        if not is_eager_only and self._largest < self._limit:
            known = steps[self._largest]
            if eager.weight:
                a, b = eager.fit()
                # Off the graph nothing is faster than on it.
                a = max(a, known - b * (self._largest + 1))
            else:
                told = self._kin.eager or (_EAGER_FACTOR, 0.0)
                a, b = told[0] * known, told[1] * known
        for size in range(max(1, self._largest + 1), self._limit + 1):
            steps[size] = a + b * size
        steps[0] = 0.0
        steps[-1] = steps[-2]
        self._steps = tuple(steps)
        # What nobody has seen is no reason to leave the graph: that is what the look is for.
        is_beyond_known = is_eager_only or eager.weight > 0 or self._kin.eager is not None
        furthest = self._limit if is_beyond_known else min(self._limit, self._largest)
        best = max(n / steps[n] for n in range(1, furthest + 1))
        self.cap = max(n for n in range(1, furthest + 1) if n / steps[n] >= BAND * best)
        self.version += 1


def _padding(sizes: list[int], limit: int) -> list[int]:
    """The captured size that a batch is padded to, by batch size; the batch itself above them."""
    return [
        min((captured for captured in sizes if captured >= size), default=size)
        for size in range(limit + 2)
    ]
