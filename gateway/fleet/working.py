"""One request at a backend: what it brought, how far it is, and how fast its tokens come."""

from typing import Final

from gateway.fleet.learning.lengths import OutputLengths
from gateway.fleet.learning.prefill import Reading

_LATE_RATIO: Final = 0.7


class Working:
    """One request at a backend.

    `uncached_tokens` of its prompt are thought to be computed there; `limit_tokens` is what the
    client allows at most, None if it set no limit. It takes as many places in the batch as it has
    `sequences`. `is_visible` says that its tokens can be seen as they come; otherwise its progress
    is reckoned. `tokens` counts what has come, in events of its stream.
    """

    __slots__ = (
        "_base_s",
        "_base_tokens",
        "area_at_begin",
        "first_s",
        "is_alone",
        "is_held_up",
        "is_visible",
        "last_s",
        "lengths",
        "limit_tokens",
        "prompt_tokens",
        "sent_s",
        "sequences",
        "tokens",
        "uncached_tokens",
    )

    def __init__(
        self,
        prompt_tokens: int,
        uncached_tokens: int,
        limit_tokens: int | None,
        lengths: OutputLengths,
        is_visible: bool = True,
        sequences: int = 1,
    ) -> None:
        self.prompt_tokens = prompt_tokens
        self.uncached_tokens = uncached_tokens
        self.limit_tokens = limit_tokens
        self.lengths = lengths
        self.is_visible = is_visible
        self.sequences = sequences
        self.sent_s = 0.0
        self.first_s: float | None = None
        self.last_s = 0.0
        self.tokens = 0
        self.is_alone = False
        self.is_held_up = False
        """Its client reads slowly, so the times of its tokens say nothing of the engine."""
        self.area_at_begin = 0.0
        self._base_s: float | None = None
        self._base_tokens = 0

    def __repr__(self) -> str:
        return f"<Working {self.prompt_tokens}+{self.tokens} tokens>"

    @property
    def is_decoding(self) -> bool:
        """Whether its tokens come, for all to see."""
        return self.first_s is not None and self.is_visible

    def saw(self, tokens: int, now: float) -> None:
        """So many more tokens have come; the first one is told to the `Work` as well."""
        self.tokens += tokens
        self.last_s = now
        if self._base_s is None:
            self._base_s = now
            self._base_tokens = self.tokens

    def begin_window(self) -> None:
        """Measure from the next token on."""
        self._base_s = None
        self.is_held_up = False

    def window(self) -> tuple[float, int]:
        """Seconds and tokens since the first token of the window; 0 tokens if there is nothing."""
        if self._base_s is None or self.is_held_up:
            return 0.0, 0
        return self.last_s - self._base_s, self.tokens - self._base_tokens

    def reckon(self, now: float, reading: Reading, step_s: float) -> tuple[bool, int]:
        """Whether it is past its prompt, and its tokens so far, for one that cannot be seen."""
        decoding_s = now - self.sent_s - reading.fix_s - self.uncached_tokens * reading.token_s
        if decoding_s <= 0:
            return False, 0
        return True, int(decoding_s / max(step_s, 1e-4))

    def left_tokens(self, done: int, is_decoding: bool, now: float, step_s: float) -> float:
        """Tokens of each of its answers that are thought to be left after `done`.

        One that is overdue is not about to end: the longer it is, the longer it will be.
        """
        left = self.lengths.left_tokens(done, self.limit_tokens)
        if not is_decoding or step_s <= 0:
            return left
        if self.is_visible:
            return max(left, _LATE_RATIO * (now - self.last_s) / step_s)
        return (
            left
            if self.limit_tokens is None
            else max(left, _LATE_RATIO * (done - self.limit_tokens))
        )
