"""What the operators of `${name...}` make of a value."""

from collections.abc import Sequence

from gateway.adoption.shell.expansion.patterns import (
    Sign,
    replaced,
    without_prefix,
    without_suffix,
)


def operated(value: str, operator: str, signs: Sequence[Sign], new: str) -> str:
    """`${name<operator>pattern}` of a value; `new` is the replacement of `/`."""
    if operator in {"#", "##"}:
        return without_prefix(value, signs, is_longest=operator == "##")
    if operator in {"%", "%%"}:
        return without_suffix(value, signs, is_longest=operator == "%%")
    if operator.startswith("/"):
        return replaced(value, signs, operator, new)
    return _cased(value, operator, signs)


def _cased(value: str, operator: str, signs: Sequence[Sign]) -> str:
    change = str.upper if operator[0] == "^" else str.lower
    size = len(value) if len(operator) > 1 else 1
    return "".join(
        change(char) if index < size and _fits_one(char, signs) else char
        for index, char in enumerate(value)
    )


def _fits_one(char: str, signs: Sequence[Sign]) -> bool:
    """Whether a pattern, by default `?`, fits one character."""
    if not signs:
        return True
    if len(signs) != 1:
        return False
    fits = signs[0].fits
    return fits is None or fits(char)


def sliced(value: str, start: int, length: int | None) -> str:
    """`${name:start:length}`; negative numbers count from the end."""
    first = start if start >= 0 else len(value) + start
    if first < 0:
        return ""
    if length is None:
        return value[first:]
    end = first + length if length >= 0 else len(value) + length
    return value[first : max(first, end)]


def sliced_items(items: Sequence[str], start: int, length: int | None) -> list[str]:
    """`${name[@]:start:length}`."""
    first = start if start >= 0 else len(items) + start
    if first < 0 or (length is not None and length < 0):
        return []
    return list(items[first:] if length is None else items[first : first + length])
