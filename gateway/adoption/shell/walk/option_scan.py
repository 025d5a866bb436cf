"""Options before the first other word, as getopt reads them."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple


class Scanned(NamedTuple):
    """The options with their values ("" for none), and where the other words begin."""

    options: tuple[tuple[str, str], ...]
    end: int

    def value(self, *names: str) -> str | None:
        """The value of the last option of one of these names; None if there is none."""
        found = self.values(*names)
        return found[-1] if found else None

    def values(self, *names: str) -> tuple[str, ...]:
        """The values of all options of these names."""
        return tuple(value for name, value in self.options if name in names)


def scan_options(
    words: Sequence[str], start: int, letters: str, names: AbstractSet[str]
) -> Scanned:
    """The options from `start` on. `letters` and `names` are those with a value."""
    options: list[tuple[str, str]] = []
    index = start
    while index < len(words):
        word = words[index]
        if word in {"", "-"} or word[0] != "-":
            break
        index += 1
        if word == "--":
            break
        following = words[index] if index < len(words) else ""
        if word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            is_next = not sign and name in names
        else:
            name, value, is_next = _short(word[1:], letters, options)
        options.append((name, following if is_next else value))
        index += is_next
    return Scanned(tuple(options), min(index, len(words)))


def _short(cluster: str, letters: str, options: list[tuple[str, str]]) -> tuple[str, str, bool]:
    """The last option of a cluster such as `-dmS`, after adding those before it.

    True if its value is the next word.
    """
    for place, letter in enumerate(cluster[:-1]):
        if letter in letters:
            return letter, cluster[place + 1 :], False
        options.append((letter, ""))
    return cluster[-1], "", cluster[-1] in letters
