"""How each kind of finding is told, in both languages, and how bad it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gateway.adoption.codes import Code
from gateway.words import Words


class Severity(StrEnum):
    """How bad a finding is.

    `contradiction`: sources disagree, somebody must decide. `trap`: it works badly, or will not
    work. `guess`: the routing file has a value that no source says. `note`: good to know.
    """

    CONTRADICTION = "contradiction"
    TRAP = "trap"
    GUESS = "guess"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Text:
    """A kind of finding: its severity, what it says (with {fields}) and what to do."""

    severity: Severity
    message: Words
    remedy: Words


Texts = Mapping[Code, Text]
