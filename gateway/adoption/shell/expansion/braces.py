"""Brace expansion: `{a,b}` and `{1..3}`."""

import re
from collections.abc import Sequence
from typing import Final

from gateway.adoption.shell.budget import TooMuchError
from gateway.adoption.shell.syntax import Chars, Part, Word

MAX_ALTERNATIVES: Final = 1024
_MAX_NESTED: Final = 16
_MAX_BRACES: Final = 200

_NUMBERS: Final = re.compile(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})(?:\.\.(-?[0-9]{1,9}))?")
_LETTERS: Final = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?[0-9]{1,9}))?")
_PADDED: Final = re.compile(r"-?0[0-9]")

# An unquoted character, or a part that braces can't be in.
_Item = str | Part


def expand_braces(word: Word) -> list[Word]:
    """The words that a word stands for, itself if no braces in it are to be expanded.

    Braces come first in bash: `{a,b}` out of a variable's value stays. What closes a brace is as in
    braces.c of bash 5.2. Raises TooMuchError above `MAX_ALTERNATIVES` words, `_MAX_BRACES` braces.
    """
    if not any(isinstance(p, Chars) and not p.is_quoted and "{" in p.text for p in word.parts):
        return [word]
    items: list[_Item] = []
    for part in word.parts:
        if isinstance(part, Chars) and not part.is_quoted:
            items.extend(part.text)
        else:
            items.append(part)
    if "}" not in items:
        return [word]
    if items.count("{") > _MAX_BRACES:
        raise TooMuchError(f"{_MAX_BRACES} braces in a word")
    return [Word(_parts(found), word.line) for found in _expand(items, 0)]


def _expand(items: Sequence[_Item], depth: int) -> list[tuple[_Item, ...]]:
    """All that `items` stand for; each brace multiplies the beginnings read so far."""
    if depth > _MAX_NESTED:
        raise TooMuchError(f"{_MAX_NESTED} nested braces")
    found: list[tuple[_Item, ...]] = [()]
    index = start = plain = 0
    while index < len(items):
        # `{}` at the beginning is how find and xargs name a file.
        is_brace = items[index] == "{" and not (index == start and items[index + 1 :][:1] == ["}"])
        closing = _closing(items, index) if is_brace else None
        if closing is None:
            index += 1
            continue
        options = _options(items[index + 1 : closing], depth)
        if options is not None:
            before = tuple(items[plain:index])
            if len(found) * len(options) > MAX_ALTERNATIVES:
                raise TooMuchError(f"{MAX_ALTERNATIVES} words out of braces")
            found = [prefix + before + option for prefix in found for option in options]
            plain = closing + 1
        index = start = closing + 1
    rest = tuple(items[plain:])
    return [prefix + rest for prefix in found]


def _closing(items: Sequence[_Item], opening: int) -> int | None:
    """What closes a brace: the first `}` on its level behind a comma or two dots."""
    level = 0
    has_border = False
    for index in range(opening + 1, len(items)):
        item = items[index]
        if item == "}" and not level and has_border:
            return index
        if item == "{":
            level += 1
        elif item == "}":
            level = max(0, level - 1)
        elif not level and (item == "," or _are_dots(items, index)):
            has_border = True
    return None


def _are_dots(items: Sequence[_Item], index: int) -> bool:
    return items[index : index + 2] == [".", "."] and items[index + 2 : index + 3] != ["}"]


def _options(items: Sequence[_Item], depth: int) -> list[tuple[_Item, ...]] | None:
    """What may stand for braces with this content; None if they stand for themselves."""
    if "," not in items:
        return _sequence(items)
    options: list[tuple[_Item, ...]] = []
    level = start = 0
    for index, item in enumerate((*items, ",")):
        if item == "{":
            level += 1
        elif item == "}":
            level = max(0, level - 1)
        elif item == "," and (not level or index == len(items)):
            options.extend(_expand(items[start:index], depth + 1))
            start = index + 1
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
