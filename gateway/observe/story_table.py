"""The table of a decision: every backend with its load and its cost, term by term."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.observe import story_words as words
from gateway.observe.story_words import Voice, figure

_TERMS: Final = ("prompt", "answer", "others", "wait", "scarcity", "risk")
_NUMBERS: Final = frozenset(("load", "cost", "penalty", *_TERMS))


def table(voice: Voice, decision: Mapping[str, Any], number: int, total: int) -> str:
    """A title, heads and a line for each backend."""
    waiting = decision["waiting"]
    title = voice.say(
        words.DECISION,
        number=number,
        total=total,
        after=voice.seconds(decision["after_s"]),
        waiting="" if waiting is None else voice.say(words.AND_WAITING, waiting=waiting),
    )
    heads = [voice.word(words.HEADS, name) for name in words.HEADS]
    rows = [_row(voice, backend, decision["chosen"]) for backend in decision["backends"]]
    return "\n".join([title, *_aligned([heads, *rows])])


def _row(voice: Voice, backend: Mapping[str, Any], chosen: str | None) -> list[str]:
    seconds = backend["seconds"] or {}
    return [
        backend["backend"],
        backend["tier"],
        _load(backend),
        voice.word(words.STANDINGS, backend["standing"]),
        figure(backend["cost_s"]),
        *(figure(seconds.get(term)) for term in _TERMS),
        figure(backend["penalty_s"]),
        _note(voice, backend, chosen),
    ]


def _load(backend: Mapping[str, Any]) -> str:
    """The requests that count against the cap, and the cap if there is one."""
    cap = backend["cap"]
    return str(backend["running"]) if cap is None else f"{backend['running']}/{cap}"


def _note(voice: Voice, backend: Mapping[str, Any], chosen: str | None) -> str:
    if backend["refused"] is not None:
        return voice.word(words.WHY, backend["refused"]["why"])
    if backend["backend"] == chosen:
        return voice.say(words.NOTE_CHOSEN)
    if backend["cap"] is not None and backend["running"] >= backend["cap"]:
        return voice.say(words.NOTE_FULL)
    return voice.say(words.NOTE_MEMORY) if backend["is_memory_full"] else ""


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width, numbers to the right; Chinese signs are two columns wide."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for name, cell, width in zip(words.HEADS, row, widths, strict=True):
            space = " " * (width - _width(cell))
            cells.append(space + cell if name in _NUMBERS else cell + space)
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)
