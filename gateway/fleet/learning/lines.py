"""What step times are learnt with: a decayed line, and what engines tell one another."""

from typing import Final

from gateway.fleet.learning.prefill import PrefillSpeed

_DECAY_A_TOKEN: Final = 0.9995
_STEEPEST: Final = 0.2
SLOPE_PRIOR: Final = 0.02
_SHRINK: Final = 60.0
_OWN_SHARE: Final = 0.8
_SAME_RATIO: Final = 0.003
_SLOWER_AT_MOST: Final = 1.5


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

    def soften(self, ratio: float) -> None:
        """All that was seen counts as `ratio` times as long."""
        self._sy *= ratio
        self._sxy *= ratio

    def fit(self) -> tuple[float, float]:
        """Intercept, above 0, and slope in seconds; the weight must not be 0."""
        mean_x, mean_y = self._sx / self.weight, self._sy / self.weight
        spread = max(0.0, self._sxx - self.weight * mean_x * mean_x)
        joint = self._sxy - self.weight * mean_x * mean_y
        # However large the batches, a part of the step is the engine's own: no line goes below it.
        steepest = min(_STEEPEST, _OWN_SHARE / mean_x) * mean_y
        prior = min(SLOPE_PRIOR * mean_y, steepest / 4)
        slope = (joint + _SHRINK * prior) / (spread + _SHRINK)
        slope = min(max(slope, 0.0), steepest)
        return mean_y - slope * mean_x, slope

    def at(self, size: float) -> float:
        """Seconds of a step with `size` sequences; the weight must not be 0."""
        start_s, slope_s = self.fit()
        return start_s + slope_s * size


class Kin:
    """What engines alike share: one of them looks beyond the graph for all.

    `eager` is what the eager region takes, intercept and slope as multiples of a step at the
    largest captured size; None before one has seen it.
    """

    __slots__ = ("eager", "look_began_s", "looks", "seen_s")

    def __init__(self) -> None:
        self.eager: tuple[float, float] | None = None
        self.look_began_s = float("-inf")
        self.seen_s = float("-inf")
        self.looks = 0
        """Looks since the last one that saw something."""

    def __repr__(self) -> str:
        return f"<Kin eager {self.eager}>"


class Scale:
    """How the engines of one model compare with what was thought of them before they were seen.

    What one has shown corrects what is thought of those that have not shown anything yet. `prompts`
    is how they read them, all taken together.
    """

    __slots__ = ("prompts", "ratio", "version")

    def __init__(self) -> None:
        self.ratio = 1.0
        self.version = 0
        self.prompts = PrefillSpeed()

    def __repr__(self) -> str:
        return f"<Scale {self.ratio:.2f}>"

    def note(self, ratio: float) -> None:
        """One engine takes `ratio` times as long as was thought.

        One that is far slower has a fault of its own, which says nothing of the others.
        """
        if ratio > _SLOWER_AT_MOST:
            return
        self.ratio += (ratio - self.ratio) * (0.1 if self.version else 1.0)
        self.version += 1


def is_near(shape: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether two shapes differ by so little that no decision would."""
    if shape[:2] != other[:2]:
        return False
    size = max(1.0, shape[0])
    for at in (2, 4):
        for n in (1.0, size, shape[1]):
            one, two = shape[at] + shape[at + 1] * n, other[at] + other[at + 1] * n
            if abs(one - two) > _SAME_RATIO * two:
                return False
    return True


def mixed(
    one: tuple[float, float], other: tuple[float, float], share: float
) -> tuple[float, float]:
    """The line between two lines, with so large a share, from 0 to 1, of the other."""
    return one[0] + share * (other[0] - one[0]), one[1] + share * (other[1] - one[1])


def padding(sizes: list[int], limit: int) -> list[int]:
    """The captured size that a batch is padded to, by batch size; the batch itself above them."""
    return [
        min((captured for captured in sizes if captured >= size), default=size)
        for size in range(limit + 2)
    ]
