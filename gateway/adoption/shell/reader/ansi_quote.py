"""The escapes of `$'...'`."""

import re
from collections.abc import Mapping
from typing import Final

_ESCAPE: Final = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})"
    r"|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.))",
    re.DOTALL,
)
_LETTERS: Final[Mapping[str, str]] = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_END: Final = re.compile(r"(?:[^\\']|\\.)*+", re.DOTALL)
_LAST_CODE_POINT: Final = 0x10FFFF


def ansi_quote_end(text: str, start: int) -> int:
    """The position of the quote that closes `$'...'` whose content begins at `start`; or -1."""
    found = _END.match(text, start)
    end = found.end() if found else start
    return end if text.startswith("'", end) else -1


def decode_ansi_quote(content: str) -> str:
    """The text that the content of `$'...'` stands for.

    As bash does, a NUL ends it. Bytes that are not UTF-8 become the replacement character.
    """
    data = bytearray()
    pos = 0
    for match in _ESCAPE.finditer(content):
        data += content[pos : match.start()].encode("utf-8", "surrogatepass")
        pos = match.end()
        data += _escaped(match)
    data += content[pos:].encode("utf-8", "surrogatepass")
    return bytes(data).partition(b"\0")[0].decode("utf-8", "replace")


def _escaped(match: re.Match[str]) -> bytes:
    letter, octal, byte, short, long, control = match.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter).encode()
    if octal is not None:
        return bytes([int(octal, 8) & 0xFF])
    if byte is not None:
        return bytes([int(byte, 16)])
    if control is not None:
        return bytes([ord(control.upper()) & 0x1F])
    number = int(short if short is not None else long, 16)
    return chr(min(number, _LAST_CODE_POINT)).encode("utf-8", "surrogatepass")
