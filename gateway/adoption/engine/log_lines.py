"""The messages of a log, however it was collected: plain, docker json-file, CRI, coloured."""

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_LARGEST: Final = 64 * 1024 * 1024
_LONGEST: Final = 262_144
_COLOUR: Final = re.compile(r"(?:\x1b|#033|\^\[)\[[0-9;?]*[A-Za-z]")
_COLOUR_STARTS: Final = ("\x1b", "#033[", "^[[")
_CRI: Final = re.compile(r"\S{10,40} (?:stdout|stderr) (?P<part>[FP]) ")
_MESSAGE_KEYS: Final = ("log", "message", "msg", "MESSAGE")


class Line(NamedTuple):
    """A message and the number of the line in which it ends, from 1."""

    number: int
    text: str


def read_lines(text: str) -> Iterator[Line]:
    """Every message of the log in order, without colours; of a very large log those at its end.

    What a progress bar wrote over itself is a message each time. Messages that the collector had to
    take apart are whole again, up to a bounded length.
    """
    held = ""
    for number, raw in _raw_lines(text):
        piece, is_whole = _unwrapped(raw)
        held = (held + piece)[:_LONGEST]
        if not is_whole:
            continue
        message, held = held, ""
        if any(start in message for start in _COLOUR_STARTS):
            message = _COLOUR.sub("", message)
        for part in message.split("\r"):
            if part:
                yield Line(number, part)
    if held:
        yield Line(text.count("\n") + 1, held)


def _raw_lines(text: str) -> Iterator[tuple[int, str]]:
    at = max(0, len(text) - _LARGEST)
    if at:
        at = text.find("\n", at) + 1
    number = text.count("\n", 0, at)
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        number += 1
        yield number, text[at : min(end, at + _LONGEST)]
        at = end + 1


def _unwrapped(raw: str) -> tuple[str, bool]:
    """What the engine wrote, and whether its line ends here."""
    if raw.startswith("{"):
        return _from_json(raw)
    match = _CRI.match(raw)
    if match:
        return raw[match.end() :], match["part"] == "F"
    return raw, True


def _from_json(raw: str) -> tuple[str, bool]:
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return raw, True
    for key in _MESSAGE_KEYS:
        message = record.get(key)
        if isinstance(message, str):
            # Only docker's json-file keeps line ends, and cuts long lines into several records.
            return message.rstrip("\n"), key != "log" or message.endswith("\n")
    return raw, True
