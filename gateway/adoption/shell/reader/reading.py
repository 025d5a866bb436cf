"""Where the reader of a shell text stands: position, line, depth, and what was noticed."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from gateway.adoption.codes import Code
from gateway.adoption.shell.reader.style import HERE_DOCUMENT, Style
from gateway.adoption.shell.syntax import Block, Chars, HereDocument, Part, Word

# How deep constructs may stand in each other; a level costs about ten Python frames.
MAX_DEPTH: Final = 24

_BLANKS: Final = re.compile(r"(?:[ \t]|\\\n)*+")
_ODD_BACKSLASHES: Final = re.compile(r"(?<!\\)(?:\\\\)*+\\$")


class Note(NamedTuple):
    """Something noticed while reading, without the file that it is in."""

    code: Code
    line: int
    values: Mapping[str, str]


class ShellSyntaxError(Exception):
    """The text can't be read as shell from `note.line` on."""

    def __init__(self, code: Code, line: int, **values: str) -> None:
        super().__init__(f"{code} in line {line}: {values}")
        self.note = Note(code, line, values)


class Grammar(NamedTuple):
    """The rules that stand inside of others, handed down so that no file imports in a circle."""

    parts: "Callable[[Reading, Style], list[Part]]"
    block: "Callable[[Reading, frozenset[str]], Block]"


class Reading:
    """A position in a text. `depth` counts the constructs around it, those of outer texts too."""

    def __init__(
        self, text: str, first_line: int, grammar: Grammar, notes: list[Note], depth: int = 0
    ) -> None:
        self.text = text
        self.pos = 0
        self.grammar = grammar
        self.notes = notes
        self.pending: list[HereDocument] = []
        self._first_line = first_line
        self._depth = depth
        self._newlines = [match.start() for match in re.finditer("\n", text)]

    def __repr__(self) -> str:
        return f"Reading(line={self.line()}, {self.text[self.pos : self.pos + 20]!r})"

    def line(self, pos: int | None = None) -> int:
        """The line of a position, by default of the current one."""
        place = self.pos if pos is None else pos
        return self._first_line + bisect_left(self._newlines, place)

    def at_end(self) -> bool:
        """Whether all was read."""
        return self.pos >= len(self.text)

    def at(self, text: str) -> bool:
        """Whether `text` comes next."""
        return self.text.startswith(text, self.pos)

    def peek(self, ahead: int = 0) -> str:
        """The character that comes next, or `ahead` characters later; "" beyond the end."""
        place = self.pos + ahead
        return self.text[place : place + 1]

    def take(self, text: str) -> bool:
        """Steps over `text` if it comes next."""
        if not self.at(text):
            return False
        self.pos += len(text)
        return True

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Steps over what `pattern` matches here."""
        found = pattern.match(self.text, self.pos)
        if found is not None:
            self.pos = found.end()
        return found

    def inner(self, text: str, line: int) -> "Reading":
        """A reading of a text that stands in this one."""
        return Reading(text, line, self.grammar, self.notes, self._depth)

    @contextmanager
    def level(self) -> Iterator[None]:
        """One construct deeper."""
        if self._depth >= MAX_DEPTH:
            raise ShellSyntaxError(Code.SHELL_TOO_MUCH, self.line(), limit=f"depth {MAX_DEPTH}")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def note(self, code: Code, line: int, **values: str) -> None:
        """Keeps something for the findings."""
        self.notes.append(Note(code, line, values))

    def unclosed(self, opening: str, pos: int) -> ShellSyntaxError:
        """The error for what was opened at `pos` and is not closed."""
        return ShellSyntaxError(Code.QUOTE_UNCLOSED, self.line(pos), quote=opening)

    def unexpected(self) -> ShellSyntaxError:
        """The error for what comes next and can't stand here."""
        near = self.text[self.pos : self.pos + 30].partition("\n")[0].strip() or "end of file"
        return ShellSyntaxError(Code.SHELL_SYNTAX, self.line(), near=near)

    def expect(self, text: str) -> None:
        """Steps over `text`, which must come next."""
        if not self.take(text):
            raise self.unexpected()

    def skip_blanks(self) -> None:
        """Goes to the next token of the line, continued lines being one."""
        self.match(_BLANKS)

    def skip_comment(self) -> None:
        """Goes to the end of the line if a comment begins here."""
        if self.at("#"):
            end = self.text.find("\n", self.pos)
            self.pos = len(self.text) if end < 0 else end

    def skip_lines(self) -> None:
        """Goes to the next token on this line or a later one."""
        while True:
            self.skip_blanks()
            self.skip_comment()
            if not self.at("\n"):
                return
            self.newline()

    def newline(self) -> None:
        """Steps over the end of a line, and over the here-documents that begin behind it."""
        self.pos += 1
        pending, self.pending = self.pending, []
        for document in pending:
            self._read_document(document)

    def _read_document(self, document: HereDocument) -> None:
        line = self.line()
        lines: list[str] = []
        is_continued = False
        while not self.at_end():
            end = self.text.find("\n", self.pos)
            end = len(self.text) if end < 0 else end
            content = self.text[self.pos : end]
            self.pos = min(end + 1, len(self.text))
            if document.strips_tabs:
                content = content.lstrip("\t")
            if content == document.delimiter and not is_continued:
                break
            lines.append(content + "\n")
            is_continued = not document.is_literal and bool(_ODD_BACKSLASHES.search(content))
        document.body = self._document_word("".join(lines), line, document.is_literal)

    def _document_word(self, text: str, line: int, is_literal: bool) -> Word:
        raw = Word((Chars(text, is_quoted=True),), line)
        if is_literal:
            return raw
        try:
            return Word(tuple(self.grammar.parts(self.inner(text, line), HERE_DOCUMENT)), line)
        except ShellSyntaxError as error:
            # What it is fed to gets it as it stands, which is more than nothing.
            self.notes.append(error.note)
            return raw
