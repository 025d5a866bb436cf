"""Shell patterns against values: which part of a value they fit."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

# Work of one comparison: characters of the value times signs of the pattern.
_MAX_WORK: Final = 1_000_000


class Sign(NamedTuple):
    """One place of a pattern: a test of a character, or `*` if there is none."""

    fits: Callable[[str], bool] | None


def pattern_of(pieces: Sequence[tuple[str, bool]]) -> tuple[Sign, ...]:
    """The pattern that texts stand for; each says whether it is quoted, that is, literal."""
    chars = [(char, is_quoted) for text, is_quoted in pieces for char in text]
    signs: list[Sign] = []
    index = 0
    while index < len(chars):
        char, is_quoted = chars[index]
        index += 1
        if is_quoted or char not in "*?[\\":
            signs.append(Sign(char.__eq__))
        elif char == "*":
            signs.append(Sign(None))
        elif char == "?":
            signs.append(Sign(lambda _: True))
        elif char == "\\" and index < len(chars):
            signs.append(Sign(chars[index][0].__eq__))
            index += 1
        else:
            signs_length = _bracket(chars, index) if char == "[" else None
            if signs_length is None:
                signs.append(Sign(char.__eq__))
            else:
                sign, index = signs_length
                signs.append(sign)
    return tuple(signs)


def _bracket(chars: Sequence[tuple[str, bool]], start: int) -> tuple[Sign, int] | None:
    """The set that begins behind `start`, and where the pattern goes on; None if none does."""
    index = start
    is_negated = index < len(chars) and chars[index][0] in "!^"
    index += is_negated
    first = index
    members: set[str] = set()
    while index < len(chars):
        char = chars[index][0]
        if char == "]" and not chars[index][1] and index > first:
            return Sign(lambda c: (c in members) != is_negated), index + 1
        after = chars[index + 2][0] if index + 2 < len(chars) else ""
        if chars[index + 1 : index + 2] == [("-", False)] and after not in {"", "]"}:
            low, high = sorted((ord(char), ord(after)))
            # Beyond letters and digits ranges depend on the locale.
            members.update(chr(code) for code in range(low, min(high, low + 127) + 1))
            index += 3
        else:
            members.add(char)
            index += 1
    return None


def fitting_ends(signs: Sequence[Sign], text: str, start: int = 0) -> list[int]:
    """All positions up to which the pattern fits `text` from `start` on, in rising order.

    None are found where the comparison would take too long.
    """
    if (len(text) - start) * len(signs) > _MAX_WORK:
        return []
    ends: list[int] = []
    states = _closure({0}, signs)
    for index in range(start, len(text) + 1):
        if len(signs) in states:
            ends.append(index)
        if index == len(text) or not states:
            break
        states = _closure(_advance(states, signs, text[index]), signs)
    return ends


def _advance(states: set[int], signs: Sequence[Sign], char: str) -> set[int]:
    found: set[int] = set()
    for state in states:
        if state < len(signs):
            fits = signs[state].fits
            if fits is None:
                found.add(state)
            elif fits(char):
                found.add(state + 1)
    return found


def _closure(states: set[int], signs: Sequence[Sign]) -> set[int]:
    """The states with those behind a `*`, which may stand for nothing."""
    found: set[int] = set()
    for state in states:
        found.add(state)
        place = state
        while place < len(signs) and signs[place].fits is None:
            place += 1
            found.add(place)
    return found


def without_prefix(text: str, signs: Sequence[Sign], *, is_longest: bool) -> str:
    """`${name#pattern}`, or `##` for the longest."""
    ends = fitting_ends(signs, text)
    return text[ends[-1] if is_longest else ends[0] :] if ends else text


def without_suffix(text: str, signs: Sequence[Sign], *, is_longest: bool) -> str:
    """`${name%pattern}`, or `%%` for the longest."""
    ends = fitting_ends(tuple(reversed(signs)), text[::-1])
    return text[: len(text) - (ends[-1] if is_longest else ends[0])] if ends else text


def replaced(text: str, signs: Sequence[Sign], operator: str, new: str) -> str:
    """`${name/pattern/new}`: `//` replaces all, `/#` only at the beginning, `/%` at the end."""
    if not signs:
        return new + text if operator == "/#" else text + new if operator == "/%" else text
    if operator == "/%":
        ends = fitting_ends(tuple(reversed(signs)), text[::-1])
        return text[: len(text) - ends[-1]] + new if ends else text
    found: list[str] = []
    index = 0
    work = 0
    while index <= len(text) and work <= _MAX_WORK:
        ends = fitting_ends(signs, text, index)
        work += (len(text) - index) * len(signs) if ends else len(signs)
        if ends and (ends[-1] > index or not text):
            found.append(new)
            index = ends[-1]
            if operator != "//" or not text or index == len(text):
                break
            continue
        if operator == "/#":
            break
        found.append(text[index : index + 1])
        index += 1
    return "".join(found) + text[index:]
