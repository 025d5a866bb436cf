"""What came of a reload, and what a reload would do."""

from dataclasses import dataclass
from typing import Literal

from gateway.config.problems import Problem
from gateway.words import Words

Result = Literal["applied", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of a reload or a rollback.

    `version` is what is in force now, `problems` are those of the file that was read, warnings
    included. `note` says what else is worth knowing, such as that a file could not be written.
    """

    result: Result
    version: str
    who: str
    changes: tuple[Words, ...] = ()
    problems: tuple[Problem, ...] = ()
    note: Words | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file would change if it came into force now."""

    version: str
    changes: tuple[Words, ...]
    problems: tuple[Problem, ...]
    is_usable: bool


@dataclass(frozen=True, slots=True)
class DrainState:
    """A backend that an operator takes out, or put back in, and what is still there."""

    backend: str
    in_flight: int
    waiting: int
    is_draining: bool
    note: Words | None = None
