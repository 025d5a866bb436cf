"""The words of a Compose command that is written as one text; no shell reads it."""

from dataclasses import dataclass
from typing import Final

_BLANKS: Final = " \t\r\n"
_OPERATORS: Final = ";&|<>"


@dataclass(frozen=True, slots=True)
class CommandWords:
    """The words; whether backslashes stood at line ends; the quote that is not closed, if any."""

    words: tuple[str, ...]
    has_backslash: bool = False
    open_quote: str = ""


def split_command(text: str) -> CommandWords:
    """Split as Compose does: quotes and backslashes count, and the first operator ends it.

    A backslash before a blank makes that a part of a word. As nobody wants this at the end of a
    line, it is read as what was meant, and told. (mattn/go-shellwords, which Compose uses.)
    """
    splitter = _Splitter()
    for index, character in enumerate(text):
        if not splitter.take(character, text[index + 1 : index + 2]):
            break
    splitter.end_word()
    return CommandWords(tuple(splitter.words), splitter.has_backslash, splitter.quote)


class _Splitter:
    """The words so far, and the one that is being read; None between words."""

    __slots__ = ("_is_escaped", "_word", "has_backslash", "quote", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.quote = ""
        self.has_backslash = False
        self._word: list[str] | None = None
        self._is_escaped = False

    def __repr__(self) -> str:
        return f"<_Splitter after {len(self.words)} words>"

    def take(self, character: str, following: str) -> bool:
        """One character; False where the command ends."""
        if self._is_escaped:
            self._is_escaped = False
            self._add(character)
        elif character == "\\" and self.quote != "'":
            self._backslash(following)
        elif self.quote:
            self._quoted(character)
        elif character in _BLANKS:
            self.end_word()
        elif character in "\"'":
            self.quote = character
            self._add("")
        elif character in _OPERATORS:
            if character == ">" and self._word in (["0"], ["1"], ["2"]):
                self._word = None
            return False
        else:
            self._add(character)
        return True

    def end_word(self) -> None:
        """What was read so far of a word is all of it."""
        if self._word is not None:
            self.words.append("".join(self._word))
        self._word = None

    def _add(self, character: str) -> None:
        self._word = self._word or []
        self._word.append(character)

    def _quoted(self, character: str) -> None:
        if character == self.quote:
            self.quote = ""
        else:
            self._add(character)

    def _backslash(self, following: str) -> None:
        if not self.quote and self._word is None and (following in _BLANKS or not following):
            self.has_backslash = True
        else:
            self._is_escaped = True
