"""How long a decode step takes by batch size, on the graph and off it, and the cap that follows."""

from typing import Final

from gateway.fleet.learning.edge import BAND, Edge
from gateway.fleet.learning.lines import SLOPE_PRIOR, Kin, Line, Scale, is_near, mixed, padding

__all__ = ["BAND", "LOOK_AGAIN_S", "DecodeSpeed", "Kin", "Line", "Scale"]

LOOK_AGAIN_S: Final = 1800.0
"""Seconds after which the eager region is looked at once more."""

_LOOK_LASTS_S: Final = 60.0
_MOST_TOKENS: Final = 32.0
_EAGER_FACTOR: Final = 3.0
_ODD_RATIO: Final = 2.5
_ODD_IN_A_ROW: Final = 4
_SEEN_TOKENS: Final = 8.0
# So many tokens are believed whole; of fewer, chance decides how long their steps seem to take.
_BELIEVED_TOKENS: Final = 16.0
_FIRST_RATIO: Final = 4.0
_SLOW_RATIO: Final = 2.5
_FORGIVEN_AFTER_S: Final = 60.0


class DecodeSpeed:
    """Step times of one backend, learnt from the time between tokens of its streams.

    `sizes` are the captured batch sizes, () for an eager engine, None when nobody told: then the
    graph is thought to reach as far as the engine's own choice does, until a larger batch turns out
    to be worse than a smaller one. `limit` is max_num_seqs. `prior_s` is what a step is thought to
    take before anything was seen. `kin` is shared by engines that are alike, `scale` by all of a
    model.
    """

    __slots__ = (
        "_eager",
        "_edge",
        "_graph",
        "_kin",
        "_largest",
        "_limit",
        "_odd",
        "_pads",
        "_prior_s",
        "_sampled_at_s",
        "_scale_version",
        "_shape",
        "_sizes",
        "_steps",
        "_told",
        "cap",
        "scale",
        "version",
    )

    def __init__(
        self,
        sizes: tuple[int, ...] | None,
        limit: int,
        prior_s: float,
        kin: Kin | None = None,
        scale: Scale | None = None,
    ) -> None:
        self._sizes = sizes
        self._limit = limit
        self._prior_s = prior_s
        usable = [n for n in sizes or () if n <= limit]
        self._largest = max(usable, default=0)
        self._pads = padding(usable, limit)
        self._graph, self._eager = Line(), Line()
        self._kin = kin or Kin()
        self.scale = scale or Scale()
        self._scale_version = 0
        self._odd = 0
        self._sampled_at_s: float | None = None
        self._told: tuple[float, float] | None = None
        self._edge = None if sizes is not None else Edge(limit)
        self.version = 0
        self.cap = 0
        self._steps: tuple[float, ...] = ()
        self._shape: tuple[float, ...] = ()
        self._refresh()

    def __repr__(self) -> str:
        return f"<DecodeSpeed cap {self.cap}, {self.step_s(1) * 1000:.1f} ms alone>"

    @property
    def limit(self) -> int:
        """The most sequences that the engine runs at once, max_num_seqs."""
        return self._limit

    @property
    def largest(self) -> int:
        """The largest batch that runs on the graph, as far as known; 0 for an eager engine."""
        return self._largest

    @property
    def lesson(self) -> tuple[float, float, float] | None:
        """What to tell another gateway: its line on the graph, and from how many tokens."""
        base = self._base
        return (*base.fit(), base.weight) if base.weight >= _BELIEVED_TOKENS else None

    @property
    def steps(self) -> tuple[float, ...]:
        """Seconds a step takes, by batch size from 0 to max_num_seqs + 1."""
        if self.scale.version != self._scale_version and self._base.weight < _BELIEVED_TOKENS:
            self._refresh()
        return self._steps

    @property
    def scale_ratio(self) -> float:
        """How much longer than thought it probably takes; 1 once it was seen itself."""
        return 1.0 if self._graph.weight or self._eager.weight else self.scale.ratio

    @property
    def samples_tokens(self) -> tuple[float, float]:
        """Decayed weight of what was seen in the graph and in the eager region."""
        return self._graph.weight, self._eager.weight

    def step_s(self, size: int) -> float:
        """Seconds a step with `size` sequences takes."""
        return self._steps[min(size, self._limit + 1)]

    def cap_with(self, has_backlog: bool, now: float) -> int:
        """The cap, and one more when it is time to look beyond the largest captured size."""
        middle = None if self._edge is None else self._edge.next_try
        if middle is not None:
            return middle
        if not self.may_look(has_backlog, now):
            return self.cap
        return self.cap + 1

    def may_look(self, has_backlog: bool, now: float) -> bool:
        """Whether one request more than the graph serves may be tried, to see how eager does."""
        if not has_backlog or not 0 < self.cap < self._limit:
            return False
        if self.cap != self._largest or now - self._kin.seen_s < LOOK_AGAIN_S:
            return False
        pause_s = min(LOOK_AGAIN_S, _LOOK_LASTS_S * 2.0**self._kin.looks)
        return now - self._kin.look_began_s > pause_s

    def hear(self, line: tuple[float, float] | None) -> None:
        """What another gateway has learnt of this engine: it counts until enough was seen here."""
        if line != self._told:
            self._told = line
            self._refresh()

    def looked(self, now: float) -> None:
        """One request more than the graph serves was sent."""
        self._kin.look_began_s = now
        self._kin.looks = min(self._kin.looks + 1, 16)

    def add(self, size: int, step_s: float, tokens: float, now: float) -> None:
        """Notes that steps with `size` sequences took `step_s` each, over so many tokens.

        A single outlier is dropped: a preemption or another's prompt. Only when several follow
        one another the engine has changed.
        """
        if size < 1 or tokens <= 0 or step_s <= 0:
            return
        size = min(size, self._limit)
        weight = min(tokens, _MOST_TOKENS)
        self._sampled_at_s = now
        is_new = self._is_new(size)
        if is_new:
            # The first answer may be slow for reasons of its own, such as compiled operators.
            step_s = min(step_s, _FIRST_RATIO * self.step_s(size))
        if not is_new and step_s > _ODD_RATIO * self._seen_s(size):
            self._odd += 1
            if self._odd < _ODD_IN_A_ROW:
                return
        else:
            self._odd = 0
        if self._edge is not None:
            self._graph, self._eager = self._edge.add(size, step_s, weight)
        elif size <= self._largest:
            self._graph.add(self._pads[size], step_s, weight)
        else:
            self._eager.add(size, step_s, weight)
        if size > self._largest:
            self._kin.seen_s, self._kin.looks = now, 0
        self._refresh()
        base = self._base
        if base.weight >= _BELIEVED_TOKENS:
            self.scale.note(base.at(1) / self._prior_s)
        if self._eager.weight and self._graph.weight and self._largest:
            a, b = self._eager.fit()
            self._kin.eager = (a / self._steps[self._largest], b / self._steps[self._largest])

    def forgive(self, now: float) -> None:
        """What looks slow and was not seen for a minute is thought to be half as far off.

        Otherwise one bad minute would keep everybody away, and nothing could ever put it right.
        """
        at_s = self._sampled_at_s
        if at_s is None or now - at_s < _FORGIVEN_AFTER_S:
            return
        self._sampled_at_s = now
        expected_s = self._prior_s * self.scale.ratio
        if self._steps[1] <= _SLOW_RATIO * expected_s:
            return
        for line in (self._graph, self._eager):
            if line.weight:
                line.soften((expected_s + self._steps[1]) / (2.0 * self._steps[1]))
        if self._edge is not None:
            self._edge.soften(expected_s)
        self._refresh()

    def anew(self) -> "DecodeSpeed":
        """For an engine that was started anew, maybe with other flags; kin stay kin."""
        return DecodeSpeed(self._sizes, self._limit, self._prior_s, self._kin, self.scale)

    @property
    def _base(self) -> Line:
        """The line on the graph, or of an eager engine."""
        return self._graph if self._largest else self._eager

    def _is_new(self, size: int) -> bool:
        line = self._graph if size <= self._largest else self._eager
        if self._edge is not None:
            return self._edge.is_new(size)
        return line.weight < _SEEN_TOKENS

    def _seen_s(self, size: int) -> float:
        """What a step with `size` sequences has been seen to take, else what is thought of it."""
        is_on_base = self._base.weight and (size <= self._largest or not self._largest)
        return self._base.at(size) if is_on_base else self.step_s(size)

    def _refresh(self) -> None:
        """Brings step times and cap up to what was learnt, if that has moved."""
        if self._edge is not None:
            self._largest = self._edge.reach
        largest, limit = self._largest, self._limit
        lower = self._lower()
        upper = lower if largest in (0, limit) else self._upper(lower)
        # What nobody has seen is no reason to leave the graph: that is what the look is for.
        is_beyond_known = not largest or self._eager.weight > 0 or self._kin.eager is not None
        furthest = limit if is_beyond_known else min(limit, largest)
        shape = (largest, furthest, *lower, *upper)
        if self._steps and is_near(shape, self._shape):
            return
        self._shape = shape
        # Decisions follow the line, not the stairs of padding: whoever steps onto the next stair
        # would be charged for all who come after it.
        steps = [0.0] + [lower[0] + lower[1] * n for n in range(1, min(largest, limit) + 1)]
        steps += [upper[0] + upper[1] * n for n in range(len(steps), limit + 1)]
        self._steps = (*steps, steps[-1])
        # Along a line the rate grows with the batch, so only the ends of the two regions count.
        self.cap = furthest
        if 0 < largest < furthest:
            rate = furthest / steps[furthest]
            if rate < BAND * max(rate, largest / steps[largest]):
                self.cap = largest
        self.version += 1

    def _lower(self) -> tuple[float, float]:
        """The line on the graph, or of an eager engine: as thought before, then as seen."""
        prior_s = self._prior_s * self.scale.ratio
        self._scale_version = self.scale.version
        thought = self._told or (prior_s * (1.0 - SLOPE_PRIOR), SLOPE_PRIOR * prior_s)
        weight = self._base.weight
        share = min(1.0, weight / _BELIEVED_TOKENS) ** 2
        return mixed(thought, self._base.fit(), share) if weight else thought

    def _upper(self, lower: tuple[float, float]) -> tuple[float, float]:
        """The line off the graph, of an engine that has one."""
        known_s = lower[0] + lower[1] * self._largest
        if not self._eager.weight:
            told = self._kin.eager or (_EAGER_FACTOR, 0.0)
            return told[0] * known_s, told[1] * known_s
        a, b = self._eager.fit()
        # Off the graph nothing is faster than on it.
        return max(a, known_s - b * (self._largest + 1)), b
