"""One choice of one request: tokens become text, stop strings and limits end it."""

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.emulator import tokens
from gateway.emulator.records import Token
from gateway.emulator.text import Prefix

_SILENT = frozenset(
    {tokens.END_OF_TEXT, tokens.IM_START, tokens.IM_END}
)  # skip_special_tokens leaves these out of the text


@dataclass(frozen=True, slots=True)
class Limits:
    """When a generation ends."""

    max_tokens: int
    min_tokens: int = 0
    ignore_eos: bool = False
    stop: tuple[str, ...] = ()
    include_stop: bool = False
    eos_one_in: int = 8
    ends_after: int | None = None
    """The model ends by itself with this token, and no earlier."""


class Generation:
    """A token source over a prefix, or over a script (JSON, tool calls) that it must say."""

    __slots__ = ("_decoder", "_held", "_hold", "_ids", "_limits", "_made", "_prefix", "_script")

    def __init__(
        self,
        ids: list[int],
        limits: Limits,
        *,
        seed: int = 0,
        script: Sequence[int] | None = None,
    ) -> None:
        """`ids` is the prompt; it grows, and may be shared with the prefix cache's hash chain."""
        self._ids = ids
        self._limits = limits
        self._prefix = Prefix(ids, seed)
        self._script = None if script is None else iter([*script, tokens.IM_END])
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._made = 0
        self._held = ""
        self._hold = max((len(stop) - 1 for stop in limits.stop), default=0)

    def next_token(self) -> Token:
        """The next token with the text that is safe to show."""
        token = self._choose()
        self._ids.append(token)
        self._prefix.append(token)
        self._made += 1
        if token == tokens.IM_END:
            return Token(token, self._flush(), "stop")
        text = "" if token in _SILENT else self._decoder.decode(tokens.token_bytes(token))
        self._held += text
        stop = self._stop_string()
        if stop is not None:
            return stop_token(token, self._take_until(stop), stop)
        if self._made == self._limits.ends_after:
            return Token(token, self._flush(), "stop")
        if self._made >= self._limits.max_tokens:
            return Token(token, self._flush(), "length")
        return Token(token, self._safe())

    def _choose(self) -> int:
        if self._script is not None:
            return next(self._script, tokens.IM_END)
        token = self._prefix.next_token(self._limits.eos_one_in)
        if token == tokens.IM_END and (
            self._limits.ignore_eos
            or self._limits.ends_after is not None
            or self._made < self._limits.min_tokens
        ):
            # vLLM would say an end token that shows as empty text; a new line keeps the text
            # itself a full record of the prefix.
            return tokens.byte_id(0x0A)
        return token

    def _stop_string(self) -> str | None:
        if self._made <= self._limits.min_tokens:
            return None
        found = [(self._held.find(stop), stop) for stop in self._limits.stop]
        return min(((at, stop) for at, stop in found if at >= 0), default=(0, None))[1]

    def _take_until(self, stop: str) -> str:
        end = self._held.find(stop) + (len(stop) if self._limits.include_stop else 0)
        text, self._held = self._held[:end], ""
        return text

    def _safe(self) -> str:
        keep = self._hold
        cut = max(0, len(self._held) - keep)
        text, self._held = self._held[:cut], self._held[cut:]
        return text

    def _flush(self) -> str:
        """All that is held back; the bytes of an unfinished character never show, as in vLLM."""
        text, self._held = self._held, ""
        return text


def stop_token(token: int, text: str, stop: str) -> Token:
    """The last token of a generation that met a stop string."""
    return Token(token, text, "stop", stop)


def complete(prompt: str | Sequence[int], limits: Limits, *, seed: int = 0) -> str:
    """The whole text that an emulated model says after `prompt`; the oracle for tests."""
    ids = tokens.encode(prompt) if isinstance(prompt, str) else list(prompt)
    return run(Generation(ids, limits, seed=seed).next_token)


def run(next_token: Callable[[], Token]) -> str:
    """The text of a source run to its end."""
    text = ""
    while True:
        token = next_token()
        text += token.text
        if token.finish is not None:
            return text
