"""Reads `${...}`."""

import re
from typing import Final

from gateway.adoption.shell.reader.reading import Reading
from gateway.adoption.shell.reader.style import (
    ARGUMENT,
    OFFSET,
    QUOTED_ARGUMENT,
    REPLACED,
    SUBSCRIPT,
    Style,
)
from gateway.adoption.shell.syntax import Parameter, Word

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*+|[0-9]++|[@*#?$!-]")
_LENGTH: Final = re.compile(r"#(?=[A-Za-z_0-9@*][^}]*+\}|[?$!#-]\})")
_INDIRECT: Final = re.compile(r"!(?=[A-Za-z_0-9@*#])")
_VALUE_OPERATOR: Final = re.compile(r":?[-=?+]")
_PATTERN_OPERATOR: Final = re.compile(r"##?|%%?|\^\^?|,,?")
_REPLACE_OPERATOR: Final = re.compile(r"/[/#%]?")


def read_braced(r: Reading, *, is_quoted: bool) -> Parameter:
    """The `${...}` that begins here; one that bash refuses has the operator `bad`."""
    start = r.pos
    r.pos += 2
    kind = ""
    if r.match(_LENGTH):
        kind = "length"
    elif r.match(_INDIRECT):
        kind = "indirect"
    name = r.match(_NAME)
    if name is None:
        return _bad(r, start, is_quoted)
    subscript = _read_subscript(r, start)
    if r.take("}"):
        if kind == "indirect" and subscript is not None and subscript.plain in {"@", "*"}:
            kind = "keys"
        return Parameter(name[0], kind, subscript, is_quoted=is_quoted)
    if kind:
        return _bad(r, start, is_quoted)
    return _read_operation(r, start, name[0], subscript, is_quoted)


def _read_subscript(r: Reading, start: int) -> Word | None:
    if not r.take("["):
        return None
    subscript = _read_argument(r, SUBSCRIPT)
    if not r.take("]"):
        raise r.unclosed("${", start)
    return subscript


def _read_argument(r: Reading, style: Style) -> Word:
    line = r.line()
    return Word(tuple(r.grammar.parts(r, style)), line)


def _read_operation(
    r: Reading, start: int, name: str, subscript: Word | None, is_quoted: bool
) -> Parameter:
    extra: Word | None = None
    if found := r.match(_VALUE_OPERATOR):
        argument = _read_argument(r, QUOTED_ARGUMENT if is_quoted else ARGUMENT)
    elif found := r.match(_PATTERN_OPERATOR):
        # Quotes keep their meaning in patterns, within double quotes as well.
        argument = _read_argument(r, ARGUMENT)
    elif found := r.match(_REPLACE_OPERATOR):
        argument = _read_argument(r, REPLACED)
        if r.take("/"):
            extra = _read_argument(r, ARGUMENT)
    elif r.take(":"):
        found = None
        argument = _read_argument(r, OFFSET)
        if r.take(":"):
            extra = _read_argument(r, ARGUMENT)
    else:
        return _bad(r, start, is_quoted)
    if not r.take("}"):
        raise r.unclosed("${", start)
    operator = found[0] if found else ":"
    return Parameter(name, operator, subscript, argument, extra, is_quoted)


def _bad(r: Reading, start: int, is_quoted: bool) -> Parameter:
    """Steps over what can't be read; bash says "bad substitution" or does what depends on it."""
    _read_argument(r, ARGUMENT)
    if not r.take("}"):
        raise r.unclosed("${", start)
    return Parameter(r.text[start : r.pos], "bad", is_quoted=is_quoted)
