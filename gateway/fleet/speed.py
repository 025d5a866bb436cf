"""The speed watch: what a backend's streams take per token, against what its tier promises."""

import math
from collections import deque
from collections.abc import Sequence
from statistics import median
from typing import Final, NamedTuple

from gateway.config.backend import BackendConfig
from gateway.config.timeouts import EAGER_TOKENS_PER_S, decode_speed
from gateway.config.vocabulary import Chip, Tier

# Enough that one preemption or one long prefill of a neighbour decides nothing.
_SAMPLES_KEPT: Final = 24
_SAMPLES_NEEDED: Final = 6
LEAST_EVENTS: Final = 16
"""Events of a stream below which its speed says nothing."""


class SpeedSample(NamedTuple):
    """One stream: seconds per token, and between how many requests it ran in a batch with.

    Both bounds count the stream itself; `most` may be more than ever ran at once.
    """

    tpot_s: float
    least: int
    most: int


class Slowness(NamedTuple):
    """A graph backend that runs at eager speed: what was seen, the probable cause, what to do."""

    measured_tpot_s: float
    promised_tpot_s: float
    cause: str
    remedy: str

    @property
    def reason(self) -> str:
        """All of it in one sentence or two."""
        return (
            f"it takes {1000 * self.measured_tpot_s:.0f} ms a token where its tier promises about "
            f"{1000 * self.promised_tpot_s:.0f}: {self.cause}. {self.remedy}"
        )


class SpeedBook:
    """The last samples of one backend, within the captured batch sizes and above them."""

    __slots__ = ("_above", "_largest", "_within")

    def __init__(self, capture_sizes: Sequence[int]) -> None:
        self._largest = max(capture_sizes, default=0)
        self._within: deque[float] = deque(maxlen=_SAMPLES_KEPT)
        self._above: deque[float] = deque(maxlen=_SAMPLES_KEPT)

    def __repr__(self) -> str:
        return f"<SpeedBook {len(self._within)} within, {len(self._above)} above {self._largest}>"

    def add(self, sample: SpeedSample) -> None:
        """Notes one stream; one that ran partly within and partly above tells nothing."""
        if self._largest == 0 or sample.most <= self._largest:
            self._within.append(sample.tpot_s)
        elif sample.least > self._largest:
            self._above.append(sample.tpot_s)

    def forget(self) -> None:
        """The engine was started anew: what was seen before says nothing of it."""
        self._within.clear()
        self._above.clear()

    @property
    def within_s(self) -> float | None:
        """Median seconds per token in batches within the captured sizes; None before enough."""
        return _median(self._within)

    @property
    def above_s(self) -> float | None:
        """The same for batches above the largest captured size."""
        return _median(self._above)


def judge(
    backend: BackendConfig, book: SpeedBook, twin_s: float | None, was_slow: bool
) -> Slowness | None:
    """Whether a graph backend runs at eager speed; `twin_s` is what an eager twin takes, if known.

    The border lies between the two speeds, at their geometric mean, and nearer to graph once it
    was called slow, so that it does not flap. Without a twin only the 310P has known speeds.
    """
    border_s = eager_border_s(backend, twin_s)
    if border_s is None:
        return None
    promised_s, _ = _promise(backend, twin_s)
    border_s *= 0.85 if was_slow else 1.0
    within_s = book.within_s
    if within_s is not None and within_s > border_s:
        return Slowness(within_s, promised_s, _NO_GRAPH, _NO_GRAPH_REMEDY)
    above_s = book.above_s
    if within_s is None and above_s is not None and above_s > border_s:
        return Slowness(above_s, promised_s, _OFF_GRID, _OFF_GRID_REMEDY)
    return None


def eager_border_s(backend: BackendConfig, twin_s: float | None) -> float | None:
    """Seconds per token from which a graph backend's stream runs at eager speed.

    None where the two speeds are not known, or too near to each other to be told apart; and for
    an eager backend, which promises nothing.
    """
    if backend.tier is not Tier.GRAPH:
        return None
    promised_s, eager_s = _promise(backend, twin_s)
    if eager_s is None or eager_s < 1.3 * promised_s:
        return None
    return math.sqrt(promised_s * eager_s)


def _promise(backend: BackendConfig, twin_s: float | None) -> tuple[float, float | None]:
    graph_s = 1.0 / decode_speed(backend)
    if twin_s is not None:
        # What the twin takes scales the promise: chips and models differ, the ratio hardly does.
        return twin_s * min(1.0, graph_s * EAGER_TOKENS_PER_S), twin_s
    return graph_s, 1.0 / EAGER_TOKENS_PER_S if backend.chip is Chip.A310P else None


def _median(values: Sequence[float]) -> float | None:
    return median(values) if len(values) >= _SAMPLES_NEEDED else None


_NO_GRAPH: Final = "it runs eager although its tier says graph"
_NO_GRAPH_REMEDY: Final = (
    "Look in its log for --enforce-eager, a failed capture or `Truncating "
    "max_cudagraph_capture_size`, and check that host OS, HDK and CANN support graphs"
)
_OFF_GRID: Final = "its batches are larger than its largest captured size"
_OFF_GRID_REMEDY: Final = "Set --max-num-seqs to the largest capture size, or capture larger ones"
