"""How many tokens a model makes of so much text, learnt from the counts that engines report."""

from typing import Final, NamedTuple

_PRIOR_TOKENS_A_BYTE: Final = 0.25
"""About right for English (4 letters) and for Chinese (a character has 3 bytes) alike."""
_WIDE_SHARE: Final = 0.2
_PRIOR_WEIGHT: Final = 2.0
_MOST_WEIGHT: Final = 100.0
_LEAST_BYTES: Final = 64
_LEAST_RATIO: Final = 0.02
_MOST_RATIO: Final = 3.0


class TextSize(NamedTuple):
    """A text's characters and its bytes in UTF-8; token ids that came as numbers are exact."""

    chars: int
    utf8_bytes: int
    token_ids: int = 0

    @property
    def is_wide(self) -> bool:
        """Whether many of its characters take several bytes, as Chinese ones do."""
        return self.utf8_bytes - self.chars > 2 * _WIDE_SHARE * self.chars


class TokensPerByte:
    """Tokens a byte of one model's prompts makes, for plain and for wide scripts."""

    __slots__ = ("_ratios", "_weights")

    def __init__(self) -> None:
        self._ratios = [_PRIOR_TOKENS_A_BYTE, _PRIOR_TOKENS_A_BYTE]
        self._weights = [_PRIOR_WEIGHT, _PRIOR_WEIGHT]

    def __repr__(self) -> str:
        return f"<TokensPerByte plain {self._ratios[0]:.3f}, wide {self._ratios[1]:.3f}>"

    @property
    def ratios(self) -> tuple[float, float]:
        """Tokens a byte of plain and of wide text makes."""
        return self._ratios[0], self._ratios[1]

    def estimate_tokens(self, size: TextSize) -> int:
        """Tokens that the text probably makes; at least 1."""
        ratio = self._ratios[size.is_wide]
        return max(1, size.token_ids + round(size.utf8_bytes * ratio))

    def add(self, size: TextSize, prompt_tokens: int) -> None:
        """Notes what an engine counted; texts that are too short say little."""
        if size.utf8_bytes < _LEAST_BYTES or prompt_tokens <= size.token_ids:
            return
        index = int(size.is_wide)
        ratio = (prompt_tokens - size.token_ids) / size.utf8_bytes
        if not _LEAST_RATIO <= ratio <= _MOST_RATIO:
            # A picture, or a template far longer than the text.
            return
        self._weights[index] = min(_MOST_WEIGHT, self._weights[index] + 1.0)
        self._ratios[index] += (ratio - self._ratios[index]) / self._weights[index]
