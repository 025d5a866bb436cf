"""What is wrong with a routing file: where, how bad, and how to mend it."""

import re
from dataclasses import dataclass
from typing import Final

from gateway.config.codes import Code, Severity
from gateway.config.kinds import KINDS

__all__ = ["Code", "Finding", "Path", "Problem", "Severity", "path_text"]

Path = tuple[str | int, ...]
"""Keys and list indexes from the top of the file to the place in question."""

_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found; the place is a path, since rules don't know about lines."""

    code: Code
    path: Path
    message: str
    remedy: str

    @property
    def severity(self) -> Severity:
        """How bad it is; fixed for each code."""
        return KINDS[self.code].severity


@dataclass(frozen=True, slots=True)
class Problem:
    """A finding with its place in the text.

    `line` and `column` count from 1. `path` reads like `backends[1].npus`; it is empty for the
    file as a whole.
    """

    severity: Severity
    code: Code
    file: str
    line: int
    column: int
    path: str
    message: str
    remedy: str

    def render(self) -> str:
        """One problem as people read it, in two lines."""
        place = f"{self.path}: " if self.path else ""
        return (
            f"{self.file}:{self.line}: {self.severity}: {place}{self.message} [{self.code}]\n"
            f"    {self.remedy}"
        )

    def as_dict(self) -> dict[str, str | int]:
        """The same for machines."""
        return {
            "severity": self.severity.value,
            "code": self.code.value,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "path": self.path,
            "message": self.message,
            "remedy": self.remedy,
        }


def path_text(path: Path) -> str:
    """The path as it is shown: `models[0].limits.max_body_bytes`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{step!r}]"
    return text
