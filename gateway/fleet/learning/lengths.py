"""How long answers are: a decayed histogram per model, and what is left of one that runs."""

from typing import Final

UNKNOWN_TOKENS: Final = 256.0
"""Expected tokens of an answer before enough was seen."""

_SAMPLES_NEEDED: Final = 8.0
_DECAY: Final = 0.995
_BUCKETS: Final = 40
_HEAVIEST: Final = 1e9
# A few answers more among many change nothing: so many times as many make it worth reckoning.
_NEW_SHARE: Final = 50
# Where an answer outlives all that were seen: the longer it has run, the longer it will.
_TAIL_RATIO: Final = 0.7


def bucket_of(tokens: int) -> int:
    """The half octave of a number of tokens: 1 → 0, 2 → 2, 3 → 3, 4 → 4, 6 → 5, …"""
    if tokens < 2:
        return 0
    octave = tokens.bit_length() - 1
    is_upper = tokens * tokens >= 1 << (2 * octave + 1)
    return min(_BUCKETS - 1, 2 * octave + is_upper)


_TABLE: Final = 8192
_BUCKET_OF: Final = tuple(bucket_of(tokens) for tokens in range(_TABLE))
_LOWER: Final[tuple[float, ...]] = tuple(2.0 ** (index / 2) for index in range(_BUCKETS + 1))


class Histogram:
    """Decayed counts of lengths by half octave, 0.995 a sample."""

    __slots__ = ("_counts", "_lines", "_new", "_tokens", "_unit", "samples")

    def __init__(self) -> None:
        self._counts = [0.0] * _BUCKETS
        self._tokens = [0.0] * _BUCKETS
        self._lines: list[tuple[float, float]] = []
        self._unit = 1.0
        self._new = 0
        self.samples = 0.0
        """Decayed number of samples."""

    def __repr__(self) -> str:
        return f"<Histogram of {self.samples:.1f} samples>"

    def add(self, tokens: int) -> None:
        """Notes one answer."""
        # Instead of making all that is old lighter, what is new is made heavier.
        self._unit /= _DECAY
        if self._unit > _HEAVIEST:
            self._counts = [count / self._unit for count in self._counts]
            self._tokens = [total / self._unit for total in self._tokens]
            self._unit = 1.0
        index = bucket_of(tokens)
        self._counts[index] += self._unit
        self._tokens[index] += self._unit * tokens
        self.samples = self.samples * _DECAY + 1.0
        self._new += 1
        if self._new * _NEW_SHARE >= self.samples:
            self._lines = []

    def left_after(self, tokens: int) -> float:
        """E[L - g | L > g] for g = `tokens`."""
        lines = self._lines or self._remaining()
        if tokens < 1:
            return lines[0][0] + lines[0][1] + 1.0
        start, slope = lines[_BUCKET_OF[tokens] if tokens < _TABLE else bucket_of(tokens)]
        return start + slope * tokens

    def _remaining(self) -> list[tuple[float, float]]:
        """What is left on average at the lower end of each bucket."""
        self._new = 0
        unit = self._unit
        left = [_TAIL_RATIO * _LOWER[_BUCKETS]]
        count = total = 0.0
        for index in range(_BUCKETS - 1, -1, -1):
            count += self._counts[index]
            total += self._tokens[index]
            low = _LOWER[index]
            # A trace of a tail keeps the answer sane where hardly anything was seen.
            tail = 0.02 * unit
            mean = (total + tail * (1.0 + _TAIL_RATIO) * low) / (count + tail)
            left.append(max(1.0, mean - low))
        left.reverse()
        lines = []
        for index in range(_BUCKETS):
            low, high = _LOWER[index], _LOWER[index + 1]
            slope = (left[index + 1] - left[index]) / (high - low)
            lines.append((left[index] - slope * low, slope))
        self._lines = lines
        return lines


class OutputLengths:
    """Lengths of one model's answers, also by what clients allow at most.

    A limit says much: whoever asks for at most 64 tokens wants something else than who leaves
    4096. So a limit with enough answers of its own has its own histogram.
    """

    __slots__ = ("_by_limit", "overall")

    def __init__(self) -> None:
        self.overall = Histogram()
        self._by_limit: dict[int, Histogram] = {}

    def __repr__(self) -> str:
        return f"<OutputLengths {self.overall!r}>"

    def add(self, tokens: int, limit_tokens: int | None) -> None:
        """Notes one complete answer."""
        if tokens < 1:
            return
        self.overall.add(tokens)
        if limit_tokens is not None:
            self._by_limit.setdefault(bucket_of(limit_tokens), Histogram()).add(tokens)

    def left_tokens(self, done_tokens: int, limit_tokens: int | None) -> float:
        """Expected tokens still to come after `done_tokens`, within the client's limit; ≥ 1."""
        histogram = self.overall
        if limit_tokens is not None:
            own = self._by_limit.get(
                _BUCKET_OF[limit_tokens] if 0 <= limit_tokens < _TABLE else bucket_of(limit_tokens)
            )
            if own is not None and own.samples >= _SAMPLES_NEEDED:
                histogram = own
        if histogram.samples >= _SAMPLES_NEEDED:
            left = histogram.left_after(done_tokens)
        else:
            left = max(UNKNOWN_TOKENS - done_tokens, _TAIL_RATIO * done_tokens)
        if limit_tokens is not None and left > limit_tokens - done_tokens:
            left = limit_tokens - done_tokens
        return left if left > 1.0 else 1.0
