"""What the periodic lines of an engine say of its speed and of its prefix cache."""

import re
from collections import deque
from statistics import median
from typing import Final

STATS_MARK: Final = "Avg generation throughput:"

_KEPT: Final = 1_000
_STATS: Final = re.compile(
    r"prompt throughput: (?P<prompt>[\d.]{1,16}) tokens/s, "
    r"Avg generation throughput: (?P<decode>[\d.]{1,16}) tokens/s, Running: (?P<running>\d{1,6})"
)
_HITS: Final = re.compile(
    r"(?<!External )[Pp]refix cache hit rate: (?:GPU: )?(?P<percent>\d{1,3}(?:\.\d{1,4})?)%"
)


class Pace:
    """Speeds of single requests, as the lines show them, and the latest share of prefix hits."""

    __slots__ = ("_alone", "_shared", "prefix_hit_ratio")

    def __init__(self) -> None:
        self.prefix_hit_ratio: float | None = None
        self._alone: deque[float] = deque(maxlen=_KEPT)
        self._shared: deque[float] = deque(maxlen=_KEPT)

    def __repr__(self) -> str:
        return f"Pace({self.decode_tokens_per_s} tokens/s)"

    @property
    def decode_tokens_per_s(self) -> float | None:
        """The middle of the speeds seen with one request running, or else of each one's share.

        Windows in which the engine was idle do not count. Those that were busy in part do: the
        lines can't tell them apart.
        """
        speeds = self._alone or self._shared
        return median(speeds) if speeds else None

    def take(self, text: str) -> None:
        """Look at one periodic line."""
        hits, stats = _HITS.search(text), _STATS.search(text)
        if hits:
            self.prefix_hit_ratio = float(hits["percent"]) / 100
        if stats is None or int(stats["running"]) == 0:
            return
        speed = _decimal(stats["decode"]) / int(stats["running"])
        if speed > 0:
            (self._alone if int(stats["running"]) == 1 else self._shared).append(speed)


def _decimal(text: str) -> float:
    return float(text) if text.count(".") <= 1 and text != "." else 0.0
