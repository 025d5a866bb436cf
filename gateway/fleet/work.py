"""What a backend does for us now: each request's progress, and what it teaches."""

from collections.abc import Iterator
from typing import Final

from gateway.fleet.learning.decode import DecodeSpeed
from gateway.fleet.learning.lengths import OutputLengths
from gateway.fleet.learning.prefill import PrefillSpeed
from gateway.fleet.view import Load, Speed

_BIAS_A_PREEMPTION: Final = 1.2
_MOST_BIAS: Final = 2.0
_BIAS_FADES: Final = 0.995


class Working:
    """One request at a backend.

    `uncached_tokens` of its prompt are thought to be computed there; `limit_tokens` is what the
    client allows at most, None if it set no limit. `is_visible` says that its tokens can be seen
    as they come; otherwise its progress is reckoned.
    """

    __slots__ = (
        "_base_s",
        "_base_tokens",
        "choices",
        "first_s",
        "is_alone",
        "is_visible",
        "last_s",
        "lengths",
        "limit_tokens",
        "prompt_tokens",
        "sent_s",
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
        choices: int = 1,
    ) -> None:
        self.prompt_tokens = prompt_tokens
        self.uncached_tokens = uncached_tokens
        self.limit_tokens = limit_tokens
        self.lengths = lengths
        self.is_visible = is_visible
        self.choices = choices
        self.sent_s = 0.0
        self.first_s: float | None = None
        self.last_s = 0.0
        self.tokens = 0
        self.is_alone = False
        self._base_s: float | None = None
        self._base_tokens = 0

    def __repr__(self) -> str:
        return f"<Working {self.prompt_tokens}+{self.tokens} tokens>"

    @property
    def is_decoding(self) -> bool:
        """Whether its tokens come, for all to see."""
        return self.first_s is not None and self.is_visible

    def saw(self, tokens: int, now: float) -> None:
        """So many more tokens have come; the first ones are told to the `Work` as well."""
        self.tokens += tokens
        self.last_s = now
        if self._base_s is None:
            self._base_s = now
            self._base_tokens = self.tokens

    def begin_window(self) -> None:
        """Measure from the next token on."""
        self._base_s = None

    def window(self) -> tuple[float, int]:
        """Seconds and tokens since the first token of the window; 0 tokens if there is nothing."""
        if self._base_s is None:
            return 0.0, 0
        return self.last_s - self._base_s, self.tokens - self._base_tokens


class Work:
    """All requests that one backend has from us, and the speeds learnt from them."""

    __slots__ = (
        "_active",
        "_bias",
        "_foreign",
        "_is_clean",
        "_load",
        "_load_at_s",
        "_preemptions",
        "_scraped_at_s",
        "_scraped_tokens",
        "_sent_since_tokens",
        "_speed",
        "decode",
        "kv_tokens",
        "prefill",
    )

    def __init__(self, decode: DecodeSpeed, kv_tokens: int | None) -> None:
        self.decode = decode
        self.prefill = PrefillSpeed()
        self.kv_tokens = kv_tokens
        self._active: dict[Working, None] = {}
        self._bias = 1.0
        self._foreign = 0
        self._is_clean = True
        self._preemptions: int | None = None
        self._scraped_at_s = float("-inf")
        self._scraped_tokens = 0.0
        self._sent_since_tokens = 0.0
        self._load: Load | None = None
        self._load_at_s = 0.0
        self._speed: tuple[int, Speed] | None = None

    def __repr__(self) -> str:
        return f"<Work of {len(self._active)} requests, {self.decode!r}>"

    def __len__(self) -> int:
        return len(self._active)

    def __iter__(self) -> Iterator[Working]:
        return iter(self._active)

    def begin(self, one: Working, now: float) -> None:
        """A request is sent there."""
        self._close_window(now)
        one.sent_s = now
        one.is_alone = all(other.first_s is not None for other in self._active)
        self._active[one] = None
        self._load = None

    def first_token(self, one: Working, now: float) -> None:
        """The first token of a request has come."""
        if one not in self._active or one.first_s is not None:
            return
        self._close_window(now)
        one.first_s = one.last_s = now
        one.tokens = max(1, one.tokens)
        self._load = None
        if one.is_alone and not self._foreign:
            step_s = self.decode.step_s(len(self._active)) if len(self._active) > 1 else 0.0
            self.prefill.add(one.uncached_tokens, now - one.sent_s, step_s)
            self._speed = None

    def end(self, one: Working, now: float, output_tokens: int | None = None) -> None:
        """A request has left; `output_tokens` if it was answered completely."""
        if one not in self._active:
            return
        self._close_window(now)
        del self._active[one]
        self._load = None
        if output_tokens is not None:
            one.lengths.add(output_tokens, one.limit_tokens)

    def scraped(
        self, running: int, waiting: int, kv_usage_ratio: float, preemptions_total: int, now: float
    ) -> None:
        """What the engine's own metrics say; they correct what we reckon."""
        before, self._preemptions = self._preemptions, preemptions_total
        if before is not None and preemptions_total > before:
            self._bias = min(_MOST_BIAS, self._bias * _BIAS_A_PREEMPTION)
            self._forget_window()
        else:
            self._bias = 1.0 + (self._bias - 1.0) * _BIAS_FADES
            self._close_window(now)
        self._foreign = max(0, running + waiting - len(self._active))
        self._load = None

    def load(self, now: float) -> Load:
        """What is there at `now`, for decisions."""
        if self._load is not None and self._load_at_s == now:
            return self._load
        streaming = 0
        left = context = prompts = pending = 0.0
        oldest_s = now
        for one in self._active:
            context += one.prompt_tokens + one.tokens
            left += one.lengths.left_tokens(one.tokens, one.limit_tokens)
            if one.first_s is None:
                pending += one.uncached_tokens
                prompts += 1
                oldest_s = min(oldest_s, one.sent_s)
            else:
                streaming += 1
        if prompts:
            reading = self.prefill.reading
            pending = max(0.0, pending * reading.token_s + prompts * reading.fix_s)
            pending = max(0.0, pending - (now - oldest_s))
        self._load = Load(len(self._active), streaming, left, pending, context * self._bias)
        self._load_at_s = now
        return self._load

    def speed(self) -> Speed:
        """What was learnt, for decisions."""
        version = self.decode.version
        if self._speed is None or self._speed[0] != version:
            reading = self.prefill.reading
            self._speed = (
                version,
                Speed(
                    self.decode.steps,
                    self.decode.cap,
                    reading.token_s,
                    reading.fix_s,
                    self.kv_tokens,
                ),
            )
        return self._speed[1]

    def _close_window(self, now: float) -> None:
        """Learns from the tokens since the last change of the batch, if all were decoding."""
        active = self._active
        if active and not self._foreign and all(one.is_decoding for one in active):
            spans = [one.window() for one in active]
            rates = sorted(span_s / tokens for span_s, tokens in spans if tokens > 0)
            if rates:
                tokens = max(tokens for _, tokens in spans)
                self.decode.add(len(active), rates[len(rates) // 2], tokens, now)
        self._forget_window()

    def _forget_window(self) -> None:
        for one in self._active:
            one.begin_window()
