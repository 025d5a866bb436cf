"""Reads lists of pipelines and simple commands; the entry to the reader."""

import re
from collections.abc import Sequence
from typing import Final

from gateway.adoption.shell.reader.compound_reader import read_compound, read_function
from gateway.adoption.shell.reader.reading import Grammar, Note, Reading
from gateway.adoption.shell.reader.redirect_reader import read_redirect
from gateway.adoption.shell.reader.style import ASSIGNED_SUBSCRIPT
from gateway.adoption.shell.reader.word_reader import read_parts, read_word
from gateway.adoption.shell.syntax import (
    Assignment,
    Block,
    Chars,
    Element,
    Item,
    Node,
    Redirect,
    Simple,
    Word,
)

# Builtins whose arguments are assignments, arrays too.
DECLARATIONS: Final = frozenset({"export", "declare", "typeset", "local", "readonly"})

_RESERVED: Final = re.compile(
    r"(?:if|then|elif|else|fi|for|select|while|until|do|done|case|esac|function|\{|\}|\[\[)"
    r"(?=[ \t\n;&|()<>]|\\\n|\Z)"
)
_CLOSING: Final = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})
_CASE_END: Final = re.compile(r";;&|;;|;&")
_PREFIX: Final = re.compile(
    r"(?:!|time(?:[ \t]+-p)?(?:[ \t]+--)?|coproc)(?=[ \t\n;&|()<>]|\\\n|\Z)"
)
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z_0-9]*+)(?:(\+?=)|(?=\[))")
_ASSIGN_SIGN: Final = re.compile(r"\]\+?=")
_ELEMENT_SIGN: Final = re.compile(r"\]=")
_FUNCTION: Final = re.compile(r"(?!\d)([^\s|&;()<>\"'$`\\=]++)[ \t]*\([ \t]*\)")


def new_reading(text: str, first_line: int, notes: list[Note], depth: int = 0) -> Reading:
    """A reading of a script's text, whose first line has this number."""
    return Reading(text, first_line, Grammar(read_parts, read_block), notes, depth)


def read_line(r: Reading) -> Block | None:
    """The next commands up to the end of a line, as bash takes them in; None at the end."""
    r.skip_lines()
    if r.at_end():
        return None
    items = _read_items(r, frozenset(), is_line=True)
    if not r.at_end():
        if not r.at("\n"):
            raise r.unexpected()
        r.newline()
    return Block(tuple(items))


def skip_line(r: Reading, pos: int) -> None:
    """Goes behind the line of `pos`, after something that can't be read began there."""
    end = r.text.find("\n", pos)
    r.pos = len(r.text) if end < 0 else end + 1
    r.pending.clear()


def read_block(r: Reading, ends: frozenset[str]) -> Block:
    """The commands up to a word or sign of `ends`, which is not stepped over."""
    return Block(tuple(_read_items(r, ends, is_line=False)))


def _read_items(r: Reading, ends: frozenset[str], *, is_line: bool) -> list[Item]:
    items: list[Item] = []
    link = ""
    while True:
        if link or not is_line:
            r.skip_lines()
        else:
            r.skip_blanks()
            r.skip_comment()
        if r.at_end() or (is_line and not link and r.at("\n")) or _closes(r, ends):
            if link:
                raise r.unexpected()
            return items
        stages, pipes = _read_pipeline(r)
        r.skip_blanks()
        is_background = r.at("&") and not r.at("&&")
        items.append(Item(stages, pipes, link, is_background))
        link = "&&" if r.take("&&") else "||" if r.take("||") else ""
        if not link and not _ends_item(r, ends):
            raise r.unexpected()


def _ends_item(r: Reading, ends: frozenset[str]) -> bool:
    if _CASE_END.match(r.text, r.pos):
        return ";;" in ends
    if r.take(";") or r.take("&"):
        return True
    r.skip_comment()
    return r.at_end() or r.at("\n") or (r.at(")") and ")" in ends)


def _closes(r: Reading, ends: frozenset[str]) -> bool:
    if r.at(")"):
        return ")" in ends
    if _CASE_END.match(r.text, r.pos):
        return ";;" in ends
    word = _RESERVED.match(r.text, r.pos)
    return word is not None and word[0] in ends


def _read_pipeline(r: Reading) -> tuple[tuple[Node, ...], tuple[str, ...]]:
    stages: list[Node] = []
    pipes: list[str] = []
    while r.match(_PREFIX):
        r.skip_blanks()
    while True:
        stages.append(_read_command(r))
        r.skip_blanks()
        if r.at("||") or not r.at("|"):
            return tuple(stages), tuple(pipes)
        pipes.append("|&" if r.take("|&") else "|")
        r.take("|")
        r.skip_lines()


def _read_command(r: Reading) -> Node:
    reserved = _RESERVED.match(r.text, r.pos)
    if reserved and reserved[0] in _CLOSING:
        raise r.unexpected()
    if reserved or r.at("("):
        with r.level():
            return read_compound(r, reserved[0] if reserved else "(")
    function = _FUNCTION.match(r.text, r.pos)
    if function:
        with r.level():
            return read_function(r, function[1])
    return _read_simple(r)


def _read_simple(r: Reading) -> Simple:
    start = r.pos
    assignments: list[Assignment] = []
    words: list[Word | Assignment] = []
    redirects: list[Redirect] = []
    line = r.line()
    while True:
        r.skip_blanks()
        if redirect := read_redirect(r):
            redirects.append(redirect)
            continue
        if r.at("#"):
            break
        before = r.pos
        may_assign = not words or _is_declaration(words)
        part = _read_assignment_or_word(r) if may_assign else read_word(r)
        if r.pos == before:
            break
        if isinstance(part, Assignment) and not words:
            assignments.append(part)
        else:
            line = line if words else part.line
            words.append(part)
    if not assignments and not words and not redirects:
        r.pos = start
        raise r.unexpected()
    return Simple(line, tuple(assignments), tuple(words), tuple(redirects))


def _is_declaration(words: Sequence[Word | Assignment]) -> bool:
    first = words[0] if words else None
    return isinstance(first, Word) and first.plain in DECLARATIONS


def _read_assignment_or_word(r: Reading) -> Assignment | Word:
    line = r.line()
    found = _ASSIGNMENT.match(r.text, r.pos)
    if found is None:
        return read_word(r)
    r.pos = found.end()
    sign, subscript = found[2], None
    if sign is None:
        subscript = _read_subscript(r)
        closing = r.match(_ASSIGN_SIGN)
        if closing is None:
            return _joined(found[1], subscript, read_word(r))
        sign = closing[0][1:]
    is_append = sign == "+="
    if r.at("(") and subscript is None:
        return Assignment(found[1], line, None, _read_elements(r), None, is_append)
    return Assignment(found[1], line, read_word(r), None, subscript, is_append)


def _read_subscript(r: Reading) -> Word:
    """The text behind a bracket; its closing one comes next, if there is one."""
    r.pos += 1
    return read_word(r, ASSIGNED_SUBSCRIPT)


def _joined(name: str, subscript: Word, rest: Word) -> Word:
    """The word that looked like an assignment to an element up to here."""
    return Word((Chars(f"{name}["), *subscript.parts, *rest.parts), subscript.line)


def _read_elements(r: Reading) -> tuple[Element, ...]:
    start = r.pos
    r.expect("(")
    elements: list[Element] = []
    while True:
        r.skip_lines()
        if r.take(")"):
            return tuple(elements)
        if r.at_end():
            raise r.unclosed("(", start)
        elements.append(_read_element(r))


def _read_element(r: Reading) -> Element:
    if r.at("["):
        subscript = _read_subscript(r)
        if r.match(_ELEMENT_SIGN):
            return Element(subscript, read_word(r))
        return Element(None, _joined("", subscript, read_word(r)))
    before = r.pos
    word = read_word(r)
    if r.pos == before:
        raise r.unexpected()
    return Element(None, word)
