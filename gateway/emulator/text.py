"""What the model says: each token is a pure function of all tokens before it.

There is no sampling: temperature and seed change nothing. Whoever continues a text from any
token boundary gets exactly what the uninterrupted generation would have said, and one lost,
doubled or changed token changes everything that follows.
"""

from array import array
from collections.abc import Sequence
from typing import Final
from zlib import adler32, crc32

from gateway.emulator import tokens
from gateway.emulator.vocabulary import CHINESE, ENGLISH, OPENERS

_MASK: Final = 0xFFFFFFFFFFFFFFFF
_NEWLINE: Final = tokens.byte_id(0x0A)
_FULL_STOP: Final = tokens.byte_id(ord("."))
_COMMA: Final = tokens.byte_id(ord(","))
_ENGLISH_IDS: Final = tuple(tokens.word_id(word, blank=True) for word in ENGLISH)
_OPENER_IDS: Final = tuple(tokens.word_id(word, blank=True) for word in OPENERS)
_BARE_OPENER_IDS: Final = tuple(tokens.word_id(word, blank=False) for word in OPENERS)
_CHINESE_IDS: Final = tuple(dict.fromkeys(tokens.cjk_id(character) for character in CHINESE))
# The ideographic full stop is three byte tokens; it must be continued once begun.
_IDEOGRAPHIC_STOP: Final = tuple(tokens.byte_id(value) for value in "。".encode())


class Prefix:
    """All tokens so far, reduced to what the next token depends on."""

    __slots__ = ("_adler", "_crc", "_last", "_seed", "_thinking")

    def __init__(self, ids: Sequence[int], seed: int = 0) -> None:
        packed = array("I", ids)
        raw = packed.tobytes()
        self._crc = crc32(raw)
        self._adler = adler32(raw)
        self._seed = seed
        self._last = tuple(ids[-3:])
        self._thinking = _is_thinking(ids)

    def append(self, token: int) -> None:
        """One more token."""
        raw = array("I", (token,)).tobytes()
        self._crc = crc32(raw, self._crc)
        self._adler = adler32(raw, self._adler)
        self._last = (*self._last[-2:], token)
        if token == tokens.THINK:
            self._thinking = True
        elif token in (tokens.THINK_END, tokens.IM_START, tokens.IM_END):
            self._thinking = False

    def next_token(self, eos_one_in: int = 8) -> int:
        """The token that follows, `tokens.IM_END` when the text is over."""
        draw = _mix(self._crc | (self._adler << 32), self._seed)
        pending = self._pending_stop()
        if pending is not None:
            return pending
        last = self._last[-1] if self._last else _NEWLINE
        if last == _FULL_STOP or self._last == _IDEOGRAPHIC_STOP:
            return self._after_sentence(draw, eos_one_in)
        if tokens.is_cjk(last):
            return _IDEOGRAPHIC_STOP[0] if draw % 11 == 0 else _pick(_CHINESE_IDS, draw >> 8)
        if last == tokens.THINK_END or last == tokens.THINK:
            return _NEWLINE
        if tokens.is_word(last) and draw % 9 == 0:
            return _COMMA if draw & 0x100 else _FULL_STOP
        if tokens.is_word(last) or last == _COMMA:
            return _pick(_ENGLISH_IDS, draw >> 8)
        return self._opener(draw, last)

    def _after_sentence(self, draw: int, eos_one_in: int) -> int:
        if self._thinking:
            return tokens.THINK_END if draw % 3 == 0 else self._opener(draw, self._last[-1])
        if draw % eos_one_in == 0:
            return tokens.IM_END
        if (draw >> 16) % 6 == 0:
            return _NEWLINE
        return self._opener(draw, self._last[-1])

    def _opener(self, draw: int, last: int) -> int:
        if (draw >> 24) % 3 == 0:
            return _pick(_CHINESE_IDS, draw >> 8)
        # A bare word is its own token only where no letter can precede it.
        return _pick(_BARE_OPENER_IDS if last == _NEWLINE else _OPENER_IDS, draw >> 8)

    def _pending_stop(self) -> int | None:
        """The rest of an ideographic full stop that has begun after an ideograph."""
        first, second, _ = _IDEOGRAPHIC_STOP
        last = self._last
        if len(last) >= 2 and tokens.is_cjk(last[-2]) and last[-1] == first:
            return _IDEOGRAPHIC_STOP[1]
        if len(last) == 3 and tokens.is_cjk(last[0]) and last[1:] == (first, second):
            return _IDEOGRAPHIC_STOP[2]
        return None


def _is_thinking(ids: Sequence[int]) -> bool:
    for token in reversed(ids):
        if token == tokens.THINK:
            return True
        if token in (tokens.THINK_END, tokens.IM_START, tokens.IM_END):
            return False
    return False


def _pick(choices: Sequence[int], draw: int) -> int:
    return choices[draw % len(choices)]


def _mix(value: int, seed: int) -> int:
    """SplitMix64's finaliser: every input bit moves every output bit."""
    value = (value + (seed + 1) * 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)
