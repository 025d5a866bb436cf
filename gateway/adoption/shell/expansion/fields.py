"""From the pieces of an expanded word to the words that a command gets."""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final, NamedTuple

DEFAULT_IFS: Final = " \t\n"


class Kind(Enum):
    """Where a piece comes from, which says what may become of it.

    SPLIT pieces come from expansions outside of quotes. BREAK is the border between two items of
    "$@" or an array.
    """

    QUOTED = "quoted"
    LITERAL = "literal"
    SPLIT = "split"
    BREAK = "break"


class Piece(NamedTuple):
    """A text of one kind."""

    text: str
    kind: Kind


BREAK: Final = Piece("", Kind.BREAK)


def split_fields(pieces: Iterable[Piece], ifs: str) -> list[str]:
    """The words that pieces make: SPLIT ones are cut where `ifs` says, empty ones vanish."""
    splitter = _Splitter(ifs)
    for piece in pieces:
        splitter.add(piece)
    return splitter.finished()


def joined(pieces: Iterable[Piece]) -> str:
    """The text that pieces make where words are not split, as in assignments."""
    return "".join(" " if piece.kind is Kind.BREAK else piece.text for piece in pieces)


class _Splitter:
    def __init__(self, ifs: str) -> None:
        self._blanks = frozenset(ifs) & frozenset(DEFAULT_IFS)
        self._signs = frozenset(ifs) - self._blanks
        self._fields: list[str] = []
        self._current: list[str] = []
        self._is_begun = False
        # A blank has ended a field: a sign behind it belongs to the same border.
        self._is_after_blank = False

    def __repr__(self) -> str:
        return f"_Splitter({self._fields}, {self._current})"

    def add(self, piece: Piece) -> None:
        if piece.kind is Kind.BREAK:
            self._end()
        elif piece.kind is not Kind.SPLIT:
            self._append(piece.text, is_quoted=piece.kind is Kind.QUOTED)
        else:
            for run, char in self._runs(piece.text):
                self._append(run)
                if char in self._blanks:
                    self._is_after_blank = self._end() or self._is_after_blank
                elif char:
                    self._sign()

    def _runs(self, text: str) -> Iterator[tuple[str, str]]:
        """Texts without separators, each with the separator behind it, "" at the end."""
        start = 0
        for index, char in enumerate(text):
            if char in self._blanks or char in self._signs:
                yield text[start:index], char
                start = index + 1
        yield text[start:], ""

    def _append(self, text: str, *, is_quoted: bool = False) -> None:
        if text or is_quoted:
            self._current.append(text)
            self._is_begun = True
            self._is_after_blank = False

    def _sign(self) -> None:
        if self._is_after_blank:
            self._is_after_blank = False
        elif not self._end():
            self._fields.append("")

    def _end(self) -> bool:
        if not self._is_begun:
            return False
        self._fields.append("".join(self._current))
        self._current = []
        self._is_begun = False
        return True

    def finished(self) -> list[str]:
        self._end()
        return self._fields
