"""Reads words: characters, quotes, and what begins with a dollar or a backtick."""

import re
from collections.abc import Mapping
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.shell.reader.ansi_quote import ansi_quote_end, decode_ansi_quote
from gateway.adoption.shell.reader.braced_reader import read_braced
from gateway.adoption.shell.reader.reading import Reading
from gateway.adoption.shell.reader.style import ARITHMETIC, DOUBLE_QUOTED, WORD, Style
from gateway.adoption.shell.syntax import (
    Arithmetic,
    Block,
    Chars,
    Parameter,
    Part,
    Process,
    Substitution,
    Word,
)

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*+|[0-9@*#?$!-]")
_BLANKS_TO_END: Final = re.compile(r"[ \t]++(?=\n|\Z)")
_BACKTICK_TEXT: Final = re.compile(r"(?:[^`\\]|\\.)*+", re.DOTALL)
_BACKTICK_ESCAPE: Final = re.compile(r"\\([$`\\])")
_QUOTED_BACKTICK_ESCAPE: Final = re.compile(r'\\([$`\\"])')
# Longer ones are taken for a substitution that begins with a subshell.
_MAX_ARITHMETIC_CHARS: Final = 10_000
_PARENTHESES: Final = re.compile(r"[()]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
# What word processors and web pages make of quotes, blanks and dashes.
_TYPOGRAPHIC: Final = re.compile(
    "[\u00a0\u200b\u2018-\u201f\u3000\ufeff]|(?<![^ \t\n])[\u2012-\u2015]"
)
_TYPOGRAPHIC_NAMES: Final[Mapping[str, str]] = {
    "\u00a0": "U+00A0",
    "\u200b": "U+200B",
    "\u3000": "U+3000",
    "\ufeff": "U+FEFF",
}


def read_word(r: Reading, style: Style = WORD) -> Word:
    """The word that begins here; empty if none does."""
    line = r.line()
    return Word(tuple(read_parts(r, style)), line)


def read_parts(r: Reading, style: Style) -> list[Part]:
    """What stands here up to a character that ends it, or to the end of the text."""
    parts: list[Part] = []
    while not r.at_end():
        char = r.peek()
        if char in style.stop:
            if style is not WORD or char not in "<>" or r.peek(1) != "(":
                break
            parts.append(_read_process(r))
        elif char == "\\":
            parts.extend(_read_backslash(r, style))
        elif char == "'" and char in style.quotes:
            parts.append(_read_single(r))
        elif char == '"' and char in style.quotes:
            parts.extend(_read_double(r))
        elif char == "$":
            parts.extend(_read_dollar(r, style))
        elif char == "`":
            parts.append(_read_backtick(r, style))
        else:
            parts.append(_read_plain(r, style))
    return parts


def _read_plain(r: Reading, style: Style) -> Chars:
    start = r.pos
    found = r.match(style.plain)
    text = found[0] if found else ""
    if style is WORD and not text.isascii():
        odd = _TYPOGRAPHIC.search(r.text, start, r.pos)
        if odd:
            name = _TYPOGRAPHIC_NAMES.get(odd[0], odd[0])
            r.note(Code.TYPOGRAPHIC_CHARACTER, r.line(odd.start()), character=name)
    return Chars(text, style.is_quoted)


def _read_backslash(r: Reading, style: Style) -> list[Part]:
    char = r.peek(1)
    if style.escapes and (not char or char not in style.escapes):
        r.pos += 1
        return [Chars("\\", is_quoted=True)]
    if style is WORD and _BLANKS_TO_END.match(r.text, r.pos + 1):
        r.note(Code.BLANK_AFTER_BACKSLASH, r.line())
    r.pos += 2 if char else 1
    return [] if char == "\n" else [Chars(char or "\\", is_quoted=True)]


def _read_single(r: Reading) -> Chars:
    end = r.text.find("'", r.pos + 1)
    if end < 0:
        raise r.unclosed("'", r.pos)
    text = r.text[r.pos + 1 : end]
    r.pos = end + 1
    return Chars(text, is_quoted=True)


def _read_double(r: Reading) -> list[Part]:
    start = r.pos
    r.pos += 1
    with r.level():
        parts = read_parts(r, DOUBLE_QUOTED)
    if not r.take('"'):
        raise r.unclosed('"', start)
    return parts or [Chars("", is_quoted=True)]


def _read_dollar(r: Reading, style: Style) -> list[Part]:
    following = r.peek(1)
    if following == "{":
        with r.level():
            return [read_braced(r, is_quoted=style.is_quoted)]
    if following == "(":
        return [_read_arithmetic(r, style.is_quoted) or _read_substitution(r, style.is_quoted)]
    if following == "[":
        return [_read_old_arithmetic(r, style.is_quoted)]
    if following == "'" and "'" in style.quotes:
        return [_read_ansi(r)]
    if following == '"' and '"' in style.quotes:
        # A text to be translated; the quote is read next.
        r.pos += 1
        return []
    r.pos += 1
    name = r.match(_NAME)
    if name is None:
        return [Chars("$", style.is_quoted)]
    return [Parameter(name[0], is_quoted=style.is_quoted)]


def _read_ansi(r: Reading) -> Chars:
    end = ansi_quote_end(r.text, r.pos + 2)
    if end < 0:
        raise r.unclosed("$'", r.pos)
    content = r.text[r.pos + 2 : end]
    r.pos = end + 1
    return Chars(decode_ansi_quote(content), is_quoted=True)


def _read_block(r: Reading, opening: str) -> Block:
    """The commands between an opening that comes next and a parenthesis."""
    start = r.pos
    r.expect(opening)
    with r.level():
        block = r.grammar.block(r, frozenset(")"))
    if not r.take(")"):
        raise r.unclosed(opening, start)
    return block


def _read_substitution(r: Reading, is_quoted: bool) -> Substitution:
    start = r.pos
    block = _read_block(r, "$(")
    return Substitution(block, r.text[start : r.pos], is_quoted)


def _read_process(r: Reading) -> Process:
    opening = r.peek() + "("
    return Process(_read_block(r, opening), is_sink=opening == ">(")


def _read_backtick(r: Reading, style: Style) -> Substitution:
    start = r.pos
    r.pos += 1
    found = r.match(_BACKTICK_TEXT)
    written = found[0] if found else ""
    if not r.take("`"):
        raise r.unclosed("`", start)
    escape = _QUOTED_BACKTICK_ESCAPE if style.is_quoted else _BACKTICK_ESCAPE
    inner = r.inner(escape.sub(r"\1", written), r.line(start))
    with inner.level():
        block = r.grammar.block(inner, frozenset())
    return Substitution(block, f"`{written}`", style.is_quoted)


def arithmetic_end(text: str, start: int) -> int:
    """Where `))` closes an expression that begins at `start`; -1 if it is not one."""
    depth = 0
    for match in _PARENTHESES.finditer(text, start, start + _MAX_ARITHMETIC_CHARS):
        if match[0] == "(":
            depth += 1
        elif match[0] == ")" and depth:
            depth -= 1
        elif match[0] == ")":
            return match.start() if text.startswith("))", match.start()) else -1
    return -1


def read_expression(r: Reading, end: int) -> Word:
    """The arithmetic expression that stands here up to `end`."""
    line = r.line()
    inner = r.inner(r.text[r.pos : end], line)
    with inner.level():
        parts = read_parts(inner, ARITHMETIC)
    r.pos = end
    return Word(tuple(parts), line)


def _read_arithmetic(r: Reading, is_quoted: bool) -> Arithmetic | None:
    if not r.at("$(("):
        return None
    end = arithmetic_end(r.text, r.pos + 3)
    if end < 0:
        return None
    r.pos += 3
    expression = read_expression(r, end)
    r.pos += 2
    return Arithmetic(expression, is_quoted)


def _read_old_arithmetic(r: Reading, is_quoted: bool) -> Arithmetic:
    end = r.text.find("]", r.pos)
    if end < 0:
        raise r.unclosed("$[", r.pos)
    r.pos += 2
    expression = read_expression(r, end)
    r.pos += 1
    return Arithmetic(expression, is_quoted)
