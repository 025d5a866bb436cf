"""Reads what has lists of commands inside: loops, choices, groups, functions, conditions."""

import re
from itertools import pairwise
from typing import Final

from gateway.adoption.shell.reader.reading import Reading
from gateway.adoption.shell.reader.redirect_reader import read_redirects
from gateway.adoption.shell.reader.style import CASE_PATTERN, TEST_WORD
from gateway.adoption.shell.reader.word_reader import arithmetic_end, read_expression, read_word
from gateway.adoption.shell.syntax import (
    Arm,
    Block,
    Calculation,
    Choice,
    CountingFor,
    For,
    Function,
    Group,
    Node,
    Redirected,
    Test,
    While,
    Word,
)

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*+")
_FUNCTION_NAME: Final = re.compile(r"[^\s|&;()<>\"'$`\\]++")
_PARENTHESES: Final = re.compile(r"\([ \t]*\)")
_IN: Final = re.compile(r"in(?=[ \t\n;&|()<>]|\\\n|\Z)")
_ESAC: Final = re.compile(r"esac(?=[ \t\n;&|()<>]|\\\n|\Z)")
_SEMICOLON: Final = re.compile(";")
_CASE_END: Final = re.compile(r";;&|;;|;&")
_BODY_STARTS: Final = ("{", "(", "if", "for", "while", "until", "case", "select", "[[")
_IF_ENDS: Final = frozenset({"elif", "else", "fi"})


def read_compound(r: Reading, opening: str) -> Node:
    """The construct that begins here with the reserved word or sign `opening`."""
    if opening == "((" or (opening == "(" and r.at("((")):
        node = _read_calculation(r) or _read_group(r, "(")
    elif opening in {"{", "("}:
        node = _read_group(r, opening)
    elif opening == "if":
        node = _read_if(r)
    elif opening in {"for", "select"}:
        node = _read_for(r, opening)
    elif opening in {"while", "until"}:
        node = _read_while(r, opening)
    elif opening == "case":
        node = _read_case(r)
    elif opening == "[[":
        node = _read_test(r)
    else:
        r.expect("function")
        r.skip_blanks()
        name = r.match(_FUNCTION_NAME)
        if name is None:
            raise r.unexpected()
        return _read_definition(r, name[0])
    redirects = read_redirects(r)
    return Redirected(node, redirects) if redirects else node


def read_function(r: Reading, name: str) -> Node:
    """The definition `name () construct` that begins here."""
    r.pos += len(name)
    return _read_definition(r, name)


def _read_definition(r: Reading, name: str) -> Node:
    r.skip_blanks()
    r.match(_PARENTHESES)
    r.skip_lines()
    for opening in _BODY_STARTS:
        if r.at(opening):
            return Function(name, read_compound(r, opening))
    raise r.unexpected()


def _block(r: Reading, *ends: str) -> Block:
    block = r.grammar.block(r, frozenset(ends))
    if not block.items:
        raise r.unexpected()
    return block


def _read_body(r: Reading) -> Block:
    """`do ...; done`, or the group in braces that bash takes as well."""
    while r.take(";"):
        r.skip_lines()
    r.skip_lines()
    opening, end = ("{", "}") if r.at("{") else ("do", "done")
    r.expect(opening)
    body = _block(r, end)
    r.expect(end)
    return body


def _read_group(r: Reading, opening: str) -> Node:
    start = r.pos
    end = "}" if opening == "{" else ")"
    r.expect(opening)
    body = _block(r, end)
    if not r.take(end):
        raise r.unclosed(opening, start)
    return Group(body, is_subshell=opening == "(")


def _read_calculation(r: Reading) -> Node | None:
    end = arithmetic_end(r.text, r.pos + 2)
    if end < 0:
        return None
    r.pos += 2
    expression = read_expression(r, end)
    r.pos += 2
    return Calculation(expression)


def _read_if(r: Reading) -> Node:
    r.expect("if")
    arms: list[Arm] = []
    while True:
        check = _block(r, "then")
        r.expect("then")
        arms.append(Arm(check, _block(r, *_IF_ENDS)))
        if not r.take("elif"):
            break
    if r.take("else"):
        arms.append(Arm(Block(), _block(r, "fi")))
    r.expect("fi")
    return Choice(tuple(arms))


def _read_while(r: Reading, opening: str) -> Node:
    r.expect(opening)
    check = _block(r, "do")
    return While(check, _read_body(r))


def _read_for(r: Reading, opening: str) -> Node:
    r.expect(opening)
    r.skip_blanks()
    if r.at("(("):
        return _read_counting_for(r)
    name = r.match(_NAME)
    if name is None:
        raise r.unexpected()
    r.skip_lines()
    words: list[Word] | None = None
    if r.match(_IN):
        words = []
        r.skip_blanks()
        while (word := read_word(r)).parts:
            words.append(word)
            r.skip_blanks()
            if r.at("#"):
                break
        r.skip_comment()
    return For(name[0], None if words is None else tuple(words), _read_body(r))


def _read_counting_for(r: Reading) -> Node:
    end = arithmetic_end(r.text, r.pos + 2)
    if end < 0:
        raise r.unexpected()
    cuts = [r.pos + 1, *(m.start() for m in _SEMICOLON.finditer(r.text, r.pos, end)), end]
    if len(cuts) != len(("before", "start", "check", "step")):
        raise r.unexpected()
    parts: list[Word] = []
    for before, after in pairwise(cuts):
        r.pos = before + 1
        parts.append(read_expression(r, after))
    r.pos = end + 2
    r.skip_blanks()
    return CountingFor(parts[0], parts[1], parts[2], _read_body(r))


def _read_case(r: Reading) -> Node:
    r.expect("case")
    r.skip_blanks()
    subject = read_word(r)
    r.skip_lines()
    if not r.match(_IN):
        raise r.unexpected()
    arms: list[Arm] = []
    while True:
        r.skip_lines()
        if r.match(_ESAC):
            return Choice(tuple(arms), subject)
        _skip_patterns(r)
        body = r.grammar.block(r, frozenset({";;", "esac"}))
        arms.append(Arm(Block(), body))
        r.match(_CASE_END)


def _skip_patterns(r: Reading) -> None:
    """Goes behind the patterns of an arm; every arm is read, so they decide nothing."""
    r.take("(")
    while True:
        r.skip_blanks()
        pattern = read_word(r, CASE_PATTERN)
        if not pattern.parts:
            raise r.unexpected()
        r.skip_blanks()
        if r.take(")"):
            return
        r.expect("|")


def _read_test(r: Reading) -> Node:
    start = r.pos
    r.expect("[[")
    words: list[Word] = []
    while True:
        r.skip_lines()
        if r.at_end():
            raise r.unclosed("[[", start)
        word = read_word(r, TEST_WORD)
        if word.plain == "]]":
            return Test(tuple(words))
        # `]];` and the like: what ends the command stands without a blank.
        if word.plain.startswith("]]") and word.plain[2] in ";&|)":
            r.pos -= len(word.plain) - 2
            return Test(tuple(words))
        words.append(word)
