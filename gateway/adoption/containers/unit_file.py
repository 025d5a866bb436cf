"""The syntax of systemd's unit files: sections, continued lines, quotes and escapes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

_SECTION: Final = re.compile(r"^\[([^\[\]]+)\]$")
_ESCAPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "a": "\a",
        "b": "\b",
        "f": "\f",
        "n": "\n",
        "r": "\r",
        "t": "\t",
        "v": "\v",
        "s": " ",
    }
)
_CODES: Final = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})")
_BLANKS: Final = " \t\r\n"


class Setting(NamedTuple):
    """One `Key=value` of a section; continued lines are joined by blanks."""

    section: str
    key: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Unit:
    """The settings of a unit in their order."""

    settings: tuple[Setting, ...]

    def has_section(self, *names: str) -> bool:
        """Whether one of these sections has settings."""
        return any(setting.section in names for setting in self.settings)

    def every(self, section: str, key: str) -> tuple[Setting, ...]:
        """All settings of that key; an empty one drops those before it."""
        found: list[Setting] = []
        for setting in self.settings:
            if (setting.section, setting.key) == (section, key):
                if setting.value:
                    found.append(setting)
                else:
                    found.clear()
        return tuple(found)

    def last(self, section: str, key: str) -> str:
        """The value that counts where a key may stand once; "" for none."""
        found = self.every(section, key)
        return found[-1].value if found else ""


def read_unit(text: str) -> Unit:
    """Read a unit file; what is no setting is skipped.

    Comments may stand between continued lines. (systemd.syntax(7).)
    """
    settings: list[Setting] = []
    section = ""
    parts: list[str] = []
    first = 0
    for number, raw in enumerate((*text.split("\n"), ""), 1):
        line = raw.strip()
        if line.startswith(("#", ";")) or (not line and not parts):
            continue
        if not parts:
            first = number
        if line.endswith("\\"):
            parts.append(line[:-1].strip())
            continue
        whole = " ".join(part for part in (*parts, line) if part)
        parts = []
        if match := _SECTION.match(whole):
            section = match[1]
            continue
        key, equals, value = whole.partition("=")
        if equals:
            settings.append(Setting(section, key.strip(), value.strip(), first))
    return Unit(tuple(settings))


def split_unit_words(text: str) -> tuple[str, ...]:
    """The words of a value: quotes around words or parts of them, and escapes such as `\\x20`.

    ValueError, with the quote as its text, where one is not closed.
    """
    words: list[str] = []
    word: list[str] = []
    is_open = False
    quote = ""
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character in _BLANKS and not quote:
            if is_open:
                words.append("".join(word))
            word, is_open = [], False
            continue
        is_open = True
        if character == "\\" and at < len(text):
            decoded, length = _escaped(text, at)
            word.append(decoded)
            at += length
        elif character == quote:
            quote = ""
        elif character in "\"'" and not quote:
            quote = character
        else:
            word.append(character)
    if quote:
        raise ValueError(quote)
    return (*words, "".join(word)) if is_open else tuple(words)


def _escaped(text: str, at: int) -> tuple[str, int]:
    """What the backslash before `at` means, and how many characters that takes."""
    if match := _CODES.match(text, at):
        hexadecimal = match[1] or match[2] or match[3]
        number = int(hexadecimal, 16) if hexadecimal else int(match[4], 8)
        return (chr(number) if _is_character(number) else ""), len(match[0])
    return _ESCAPES.get(text[at], text[at]), 1


def _is_character(number: int) -> bool:
    return 0 < number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
