"""Brace expansion: `{a,b}` and `{1..3}`."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from gateway.adoption.shell.budget import TooMuchError
from gateway.adoption.shell.syntax import Chars, Part, Word

MAX_ALTERNATIVES: Final = 1024
_MAX_NESTED: Final = 16

_NUMBERS: Final = re.compile(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})(?:\.\.(-?[0-9]{1,9}))?")
_LETTERS: Final = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?[0-9]{1,9}))?")
_PADDED: Final = re.compile(r"-?0[0-9]")

# An unquoted character, or a part that braces can't be in.
_Item = str | Part


class _Braces:
    """Where the braces of one word close, and where the commas between them stand."""

    def __init__(self, items: Sequence[_Item]) -> None:
        self.closing: dict[int, int] = {}
        self.commas: dict[int, list[int]] = {}
        self.depth = 0
        opened: list[int] = []
        for index, item in enumerate(items):
            if item == "{":
                opened.append(index)
                self.commas[index] = []
                self.depth = max(self.depth, len(opened))
            elif item == "," and opened:
                self.commas[opened[-1]].append(index)
            elif item == "}" and opened:
                self.closing[opened.pop()] = index


def expand_braces(word: Word) -> list[Word]:
    """The words that a word stands for, itself if no braces in it are to be expanded.

    Braces come first in bash: `{a,b}` out of a variable's value stays. Raises TooMuchError above
    `MAX_ALTERNATIVES` words.
    """
    if not any(isinstance(p, Chars) and not p.is_quoted and "{" in p.text for p in word.parts):
        return [word]
    items: list[_Item] = []
    for part in word.parts:
        if isinstance(part, Chars) and not part.is_quoted:
            items.extend(part.text)
        else:
            items.append(part)
    braces = _Braces(items)
    if not braces.closing or braces.depth > _MAX_NESTED:
        return [word]
    return [Word(_parts(found), word.line) for found in _expand(items, 0, len(items), braces)]


def _expand(
    items: Sequence[_Item], start: int, end: int, braces: _Braces
) -> list[tuple[_Item, ...]]:
    """All that `items[start:end]` stands for; each brace doubles the prefixes read so far."""
    found: list[tuple[_Item, ...]] = [()]
    index = start
    plain = start
    while index < end:
        options = _options(items, index, braces) if items[index] == "{" else None
        if options is None:
            index += 1
            continue
        before = tuple(items[plain:index])
        if len(found) * len(options) > MAX_ALTERNATIVES:
            raise TooMuchError(f"{MAX_ALTERNATIVES} words out of braces")
        found = [prefix + before + option for prefix in found for option in options]
        index = plain = braces.closing[index] + 1
    rest = tuple(items[plain:end])
    return [prefix + rest for prefix in found]


def _options(
    items: Sequence[_Item], opening: int, braces: _Braces
) -> list[tuple[_Item, ...]] | None:
    """What may stand for the braces that open here; None if they stand for themselves."""
    closing = braces.closing.get(opening)
    if closing is None:
        return None
    cuts = [opening, *braces.commas[opening], closing]
    if len(cuts) == len((opening, closing)):
        return _sequence(items[opening + 1 : closing])
    options: list[tuple[_Item, ...]] = []
    for before, after in pairwise(cuts):
        options.extend(_expand(items, before + 1, after, braces))
        if len(options) > MAX_ALTERNATIVES:
            raise TooMuchError(f"{MAX_ALTERNATIVES} words out of braces")
    return options


def _sequence(items: Sequence[_Item]) -> list[tuple[_Item, ...]] | None:
    text = "".join(item if isinstance(item, str) else "$" for item in items)
    if found := _NUMBERS.fullmatch(text):
        width = max((len(n) for n in found.group(1, 2) if _PADDED.match(n)), default=0)
        return [tuple(f"{n:0{width}d}") for n in _range(int(found[1]), int(found[2]), found[3])]
    if found := _LETTERS.fullmatch(text):
        return [(chr(n),) for n in _range(ord(found[1]), ord(found[2]), found[3])]
    return None


def _range(first: int, last: int, step: str | None) -> range:
    size = abs(int(step or 1)) or 1
    if abs(last - first) // size >= MAX_ALTERNATIVES:
        raise TooMuchError(f"{MAX_ALTERNATIVES} words out of braces")
    return range(first, last + 1, size) if first <= last else range(first, last - 1, -size)


def _parts(items: Sequence[_Item]) -> tuple[Part, ...]:
    parts: list[Part] = []
    chars: list[str] = []
    for item in items:
        if isinstance(item, str):
            chars.append(item)
            continue
        if chars:
            parts.append(Chars("".join(chars)))
            chars = []
        parts.append(item)
    if chars:
        parts.append(Chars("".join(chars)))
    return tuple(parts)
