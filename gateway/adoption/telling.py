"""A finding in words."""

from collections import defaultdict
from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.texts import Severity, Text, Texts
from gateway.adoption.texts_containers import CONTAINERS
from gateway.adoption.texts_engine import ENGINE
from gateway.adoption.texts_merging import MERGING
from gateway.adoption.texts_shell import SHELL
from gateway.adoption.texts_traps import TRAP_TEXTS
from gateway.words import Language, Words

TEXTS: Final[Texts] = MappingProxyType({**SHELL, **ENGINE, **CONTAINERS, **MERGING, **TRAP_TEXTS})
"""The text of every code."""

SEVERITIES: Final = MappingProxyType(
    {
        Severity.CONTRADICTION: Words("contradiction", "矛盾"),
        Severity.TRAP: Words("trap", "陷阱"),
        Severity.GUESS: Words("guess", "猜测"),
        Severity.NOTE: Words("note", "提示"),
    }
)
_MOST_CHARS: Final = 400
_PLACE: Final = Words(
    "{place}: {severity}: {backend}{message} [{code}]\n    {remedy}",
    "{place}：{severity}：{backend}{message} [{code}]\n    {remedy}",
)
_BACKEND: Final = Words("backend {name}: ", "后端 {name}：")


def text_of(code: Code) -> Text:
    """How a kind of finding is told."""
    return TEXTS[code]


def severity_of(finding: Finding) -> Severity:
    """How bad it is; fixed for each code."""
    return TEXTS[finding.code].severity


def message_of(finding: Finding, language: Language) -> str:
    """What was found, with its values."""
    return _filled(TEXTS[finding.code].message.spoken(language), finding)


def remedy_of(finding: Finding, language: Language) -> str:
    """What to do about it."""
    return _filled(TEXTS[finding.code].remedy.spoken(language), finding)


def told(finding: Finding, language: Language) -> str:
    """A finding as people read it, in two lines."""
    backend = finding.backend
    return _PLACE.spoken(language).format(
        place=finding.origin,
        severity=SEVERITIES[severity_of(finding)].spoken(language),
        backend=_BACKEND.spoken(language).format(name=backend) if backend else "",
        message=message_of(finding, language),
        code=finding.code,
        remedy=remedy_of(finding, language),
    )


def in_order(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Each once, the worst first, then by place."""
    order = list(Severity)
    unique = dict.fromkeys(
        (f.code, f.origin, f.backend, tuple(sorted(f.values.items()))) for f in findings
    )
    once = [
        Finding(code, origin, dict(values), backend) for code, origin, backend, values in unique
    ]
    return tuple(
        sorted(
            once,
            key=lambda f: (order.index(severity_of(f)), f.origin.file, f.origin.line, f.code),
        )
    )


def _filled(template: str, finding: Finding) -> str:
    # What comes from a source may be long, or hold line breaks.
    values = {name: _shown(value) for name, value in finding.values.items()}
    return template.format_map(defaultdict(lambda: "?", values))


def _shown(value: str) -> str:
    text = " ".join("".join(ch if ch.isprintable() else " " for ch in value).split())
    return text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS - 3]}..."
