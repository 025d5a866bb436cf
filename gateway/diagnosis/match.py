"""Finds known errors in a log, line by line, in bounded memory."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from gateway.diagnosis.signature import Scope, Signature
from gateway.diagnosis.signatures import SIGNATURES

MAX_SHOWN: Final = 300
"""Characters of a line that a finding shows."""
MAX_READ: Final = 1 << 20
"""Characters of a line that are looked at."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A known error in a log.

    `line` is the first line that shows it, without colours and cut to what matters, `line_number`
    counts from 1, `count` is the number of lines that show it. `is_fallout`: it only follows from
    something else.
    """

    signature: Signature
    line_number: int
    line: str
    count: int
    is_fallout: bool


class Matcher:
    """Takes the lines of a log and remembers which known errors they show."""

    def __init__(self) -> None:
        self._sightings: dict[str, _Sighting] = {}
        self._lines = 0

    def __repr__(self) -> str:
        return f"<Matcher lines={self._lines} found={sorted(self._sightings)}>"

    @property
    def lines(self) -> int:
        """How many lines were taken."""
        return self._lines

    def feed(self, line: str) -> None:
        """Takes the next line, with or without its end."""
        self._lines += 1
        lowered = line[:MAX_READ].lower()
        if _ANY_SIGN.search(lowered) is None:
            return
        for rule in _RULES:
            at = rule.place(lowered)
            if at is None:
                continue
            sighting = self._sightings.get(rule.signature.id)
            if sighting is None:
                shown = _shown(line, at)
                self._sightings[rule.signature.id] = _Sighting(rule.signature, self._lines, shown)
            else:
                sighting.count += 1

    def findings(self) -> tuple[Finding, ...]:
        """What was found so far: causes first, then what follows from them, then the harmless."""
        seen = self._sightings
        told = [s for s in seen.values() if not any(id_ in seen for id_ in s.signature.yields_to)]
        is_explained = any(_is_cause(sighting.signature) for sighting in told)
        told.sort(key=lambda sighting: (sighting.signature.rank, sighting.line_number))
        return tuple(sighting.finding(is_explained=is_explained) for sighting in told)


def find(text: str) -> tuple[Finding, ...]:
    """The known errors in a log: causes first, then what follows from them, then the harmless."""
    return find_in(text.split("\n"))


def find_in(lines: Iterable[str]) -> tuple[Finding, ...]:
    """The known errors in the lines of a log; only one line at a time is kept."""
    matcher = Matcher()
    for line in lines:
        matcher.feed(line)
    return matcher.findings()


def first(text: str) -> Finding | None:
    """The finding that says most about a short error message, if any."""
    return next(iter(find(text)), None)


@dataclass(slots=True)
class _Sighting:
    """Where an error was seen first, and how often."""

    signature: Signature
    line_number: int
    line: str
    count: int = 1

    def finding(self, *, is_explained: bool) -> Finding:
        signature = self.signature
        return Finding(
            signature=signature,
            line_number=self.line_number,
            line=self.line,
            count=self.count,
            is_fallout=signature.is_fallout or (is_explained and signature.is_symptom),
        )


def _is_cause(signature: Signature) -> bool:
    """Whether it explains why a server is down."""
    is_down = signature.scope in (Scope.STARTUP, Scope.ENGINE)
    return is_down and not signature.is_fallout and not signature.is_symptom


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a signature is told in a line in lower case."""

    signature: Signature
    pattern: re.Pattern[str] | None

    def place(self, lowered: str) -> int | None:
        """Where the line shows the error; None if it does not."""
        for needle in self.signature.needles:
            at = lowered.find(needle)
            if at >= 0:
                return at
        if not self.signature.all_needles:
            return None
        places = [lowered.find(needle) for needle in self.signature.all_needles]
        if min(places) < 0:
            return None
        if self.pattern is None:
            return min(places)
        match = self.pattern.search(lowered)
        return match.start() if match else None

    @property
    def signs(self) -> tuple[str, ...]:
        """Texts of which every line that shows the error has one."""
        rarest = max(self.signature.all_needles, key=len, default="")
        return (*self.signature.needles, rarest) if rarest else self.signature.needles


def _any_of(words: Iterable[str]) -> str:
    """A regular expression for any of the words, in which common beginnings stand once."""
    ordered = sorted(words)
    if not ordered[0]:
        return ""
    parts = [
        re.escape(letter) + _any_of(word[1:] for word in group)
        for letter, group in groupby(ordered, key=lambda word: word[0])
    ]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


_RULES: Final = tuple(
    _Rule(signature, re.compile(signature.pattern) if signature.pattern else None)
    for signature in SIGNATURES
)
# Nearly every line of a log shows nothing; one pass of this tells.
_ANY_SIGN: Final = re.compile(_any_of(sign for rule in _RULES for sign in rule.signs))

_COLOUR: Final = re.compile(r"\x1b\[[0-9;?]{0,30}[a-z]", re.IGNORECASE)
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]+")
_BEFORE: Final = 100


def _shown(line: str, at: int) -> str:
    """The line for people, without control characters; of a long one the part around `at`."""
    start = 0 if at < MAX_SHOWN - _BEFORE else at - _BEFORE
    part = _COLOUR.sub("", line[start : start + 4 * MAX_SHOWN])
    text = _UNSEEN.sub(" ", part).strip()
    if start:
        text = f"…{text}"
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
