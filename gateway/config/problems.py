"""What is wrong with a routing file: where, how bad, and how to mend it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gateway.config.codes import Code, Severity
from gateway.config.kinds import KINDS
from gateway.words import Language, Words

__all__ = ["SEVERITY_WORDS", "Code", "Finding", "Path", "Problem", "Severity", "path_text"]

Path = tuple[str | int, ...]
"""Keys and list indexes from the top of the file to the place in question."""

SEVERITY_WORDS: Final[Mapping[Severity, Words]] = MappingProxyType(
    {Severity.ERROR: Words("error", "错误"), Severity.WARNING: Words("warning", "警告")}
)
"""How bad a problem is, for people."""

_WITH_PLACE: Final = Words(
    "{file}:{line}: {severity}: {path}: {message} [{code}]\n    {remedy}",
    "{file}:{line}: {severity}: {path}：{message} [{code}]\n    {remedy}",
)
_WHOLE_FILE: Final = Words(
    "{file}:{line}: {severity}: {message} [{code}]\n    {remedy}",
    "{file}:{line}: {severity}: {message} [{code}]\n    {remedy}",
)
_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found; the place is a path, since rules don't know about lines."""

    code: Code
    path: Path
    told: Words
    remedy: Words

    @property
    def severity(self) -> Severity:
        """How bad it is; fixed for each code."""
        return KINDS[self.code].severity


@dataclass(frozen=True, slots=True)
class Problem:
    """A finding with its place in the text.

    `line` and `column` count from 1. `path` reads like `backends[1].npus`; it is empty for the
    file as a whole. `told` says what is wrong, `advice` how to mend it.
    """

    severity: Severity
    code: Code
    file: str
    line: int
    column: int
    path: str
    told: Words
    advice: Words

    @property
    def message(self) -> str:
        """What is wrong, in English."""
        return self.told.en

    @property
    def remedy(self) -> str:
        """How to mend it, in English."""
        return self.advice.en

    def render(self, language: Language = Language.EN) -> str:
        """One problem as people read it, in two lines."""
        template = (_WITH_PLACE if self.path else _WHOLE_FILE).spoken(language)
        return template.format(
            file=self.file,
            line=self.line,
            severity=SEVERITY_WORDS[self.severity].spoken(language),
            path=self.path,
            message=self.told.spoken(language),
            code=self.code,
            remedy=self.advice.spoken(language),
        )

    def as_dict(self, language: Language = Language.EN) -> dict[str, str | int]:
        """The same for machines; only message and remedy are in the language."""
        return {
            "severity": self.severity.value,
            "code": self.code.value,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "path": self.path,
            "message": self.told.spoken(language),
            "remedy": self.advice.spoken(language),
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
