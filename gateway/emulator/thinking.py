"""Splits generated text into reasoning and content, as a reasoning parser does."""

_END = "</think>"


class ThinkSplitter:
    """Feeds on text deltas; what comes before `</think>` is reasoning."""

    __slots__ = ("_held", "_thinking")

    def __init__(self, *, thinking: bool) -> None:
        self._thinking = thinking
        self._held = ""

    def feed(self, text: str, *, final: bool = False) -> tuple[str, str]:
        """The reasoning and the content in `text`; a beginning of the end mark is held back."""
        if not self._thinking:
            return "", text
        self._held += text
        before, found, after = self._held.partition(_END)
        if found:
            self._thinking, self._held = False, ""
            return before, after
        keep = 0 if final else _overlap(self._held)
        reasoning = self._held[: len(self._held) - keep]
        self._held = self._held[len(self._held) - keep :]
        return reasoning, ""


def _overlap(text: str) -> int:
    """How many characters at the end of `text` may be the beginning of the end mark."""
    for length in range(min(len(_END) - 1, len(text)), 0, -1):
        if text.endswith(_END[:length]):
            return length
    return 0
