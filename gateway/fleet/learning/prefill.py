"""How fast a backend reads prompts, from the time to first token of its streams."""

from typing import Final, NamedTuple

LEAST_TOKENS: Final = 64
"""A shorter prompt says nothing of the speed: the rest of its step hides it."""

_DECAY: Final = 0.97
_PRIOR_TOKENS_PER_S: Final = 1500.0
_PRIOR_TOKENS: Final = 200.0
_FIX_PRIOR_S: Final = 0.05
_ODD_RATIO: Final = 4.0
# So many first tokens tell enough of one engine alone.
_BELIEVED: Final = 8


class Reading(NamedTuple):
    """Seconds a token of a prompt takes, and seconds that any prompt takes beside them."""

    token_s: float
    fix_s: float


class PrefillSpeed:
    """Σu² / Σu(TTFT - τ/2), decayed by 0.97 a sample, and the mean of what remains.

    `kin` is the same of all engines alike: it counts until this one has shown enough itself, so
    that a single slow prompt does not send everybody elsewhere.
    """

    __slots__ = ("_fix_s", "_fix_weight", "_kin", "_seen", "_times", "_tokens", "_told", "samples")

    def __init__(self, kin: "PrefillSpeed | None" = None) -> None:
        self._kin = kin
        self._seen = 0
        self._told: Reading | None = None
        self._tokens = _PRIOR_TOKENS * _PRIOR_TOKENS
        self._times = self._tokens / _PRIOR_TOKENS_PER_S
        self._fix_s = _FIX_PRIOR_S
        self._fix_weight = 1.0
        self.samples = 0

    @property
    def version(self) -> int:
        """Grows with whatever its reading is made of."""
        kin = 0 if self._kin is None else self._kin.version
        return self._seen + kin + hash(self._told)

    @property
    def lesson(self) -> tuple[float, float, int] | None:
        """What to tell another gateway: seconds a token, and beside, and from how many prompts."""
        return (*self.reading, self._seen) if self._seen >= _BELIEVED else None

    @property
    def is_seen(self) -> bool:
        """Whether a prompt of some length was read, here or by an engine alike."""
        return self.samples > 0 or (self._kin is not None and self._kin.samples > 0)

    @property
    def reading(self) -> Reading:
        """Its speed as far as known."""
        own = Reading(self._times / self._tokens, self._fix_s)
        kin = self._told or (None if self._kin is None else self._kin.reading)
        if kin is None or self._seen >= _BELIEVED:
            return own
        share = self._seen / _BELIEVED
        return Reading(
            kin.token_s + share * (own.token_s - kin.token_s),
            kin.fix_s + share * (own.fix_s - kin.fix_s),
        )

    def __repr__(self) -> str:
        return f"<PrefillSpeed {1 / self.reading.token_s:.0f} tokens/s, {self.samples} samples>"

    def hear(self, reading: tuple[float, float] | None) -> None:
        """What another gateway has learnt of this engine: it counts until enough was seen here."""
        self._told = None if reading is None else Reading(*reading)

    def add(self, uncached_tokens: float, ttft_s: float, step_s: float) -> None:
        """Notes a first token that came `ttft_s` after its request was sent.

        No other prompt was ahead of it. `step_s` is what a decode step takes; on average half of
        one was still running.
        """
        if self._kin is not None:
            self._kin.add(uncached_tokens, ttft_s, step_s)
        self._seen += 1
        spent_s = max(1e-4, ttft_s - step_s / 2)
        if uncached_tokens >= LEAST_TOKENS:
            # One that takes many times as long waited for something else; if all do, it is slow.
            expected_s = self.reading.token_s * uncached_tokens + self._fix_s
            spent_s = min(spent_s, _ODD_RATIO * expected_s)
            work_s = max(spent_s - self._fix_s, 0.25 * spent_s)
            self._tokens = _DECAY * self._tokens + uncached_tokens * uncached_tokens
            self._times = _DECAY * self._times + uncached_tokens * work_s
            self.samples += 1
        rest_s = max(0.0, spent_s - uncached_tokens * self.reading.token_s)
        if uncached_tokens <= 1024:
            self._fix_weight = _DECAY * self._fix_weight + 1.0
            self._fix_s += (min(rest_s, 2.0) - self._fix_s) / self._fix_weight
