"""`~` at the beginning of a word."""

import re
from typing import Final

from gateway.adoption.shell.syntax import Chars, Part

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\+?=")
_TILDE: Final = re.compile(r"~")


def with_home(
    parts: tuple[Part, ...], home: str | None, *, is_assigned: bool = False
) -> tuple[Part, ...]:
    """The parts of a word with `~` replaced; it stays where the home directory is not known.

    `is_assigned` is the value of an assignment, where `~` counts behind colons too; so it does in
    a word that looks like one. `~user` stays.
    """
    if not home:
        return parts
    first = parts[0] if parts else None
    start = 0
    if isinstance(first, Chars) and not first.is_quoted:
        assignment = None if is_assigned else _ASSIGNMENT.match(first.text)
        start = assignment.end() if assignment else 0
    has_colons = is_assigned or start > 0
    found: list[Part] = []
    for index, part in enumerate(parts):
        if isinstance(part, Chars) and not part.is_quoted and "~" in part.text:
            begin = start if index == 0 else -1
            is_last = index == len(parts) - 1
            found.extend(_replaced(part.text, home, begin, has_colons, is_last))
        else:
            found.append(part)
    return tuple(found)


def _replaced(text: str, home: str, begin: int, has_colons: bool, is_last: bool) -> list[Part]:
    """`text` with the `~` that stand at `begin` or, with `has_colons`, behind a colon."""
    found: list[Part] = []
    done = 0
    for match in _TILDE.finditer(text):
        pos = match.start()
        following = text[pos + 1 : pos + 2]
        starts = pos == begin or (has_colons and text[pos - 1 : pos] == ":")
        ends = following == "/" or (has_colons and following == ":")
        if starts and (ends or (not following and is_last)):
            found.extend((Chars(text[done:pos]), Chars(home, is_quoted=True)))
            done = pos + 1
    found.append(Chars(text[done:]))
    return [part for part in found if isinstance(part, Chars) and part.text]
