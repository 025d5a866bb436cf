"""What is found in a source beside its facts: a trap, a guess, something that can't be read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from gateway.adoption.codes import Code

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Origin(NamedTuple):
    """A place in a source; `line` counts from 1, 0 for the source as a whole."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found, where, about which backend ("" for none), and what its text is filled with.

    The text, its severity and the remedy belong to the code; see `traps`.
    """

    code: Code
    origin: Origin
    values: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    backend: str = ""
