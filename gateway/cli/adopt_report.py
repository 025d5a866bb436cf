"""What `adopt` prints: the routing file, and beside it everything that was found."""

import json
from collections import Counter
from typing import Any, Final

from gateway.adoption.candidate import Candidate, Fleet
from gateway.adoption.draft import fields_of
from gateway.adoption.findings import Finding
from gateway.adoption.telling import (
    SEVERITIES,
    message_of,
    remedy_of,
    severity_of,
    told,
)
from gateway.adoption.texts import Severity
from gateway.words import Language, Words

_COUNT: Final = Words("{backends} backends; {counts}", "{backends} 个后端；{counts}")
_ONE_COUNT: Final = Words("{count} {severity}", "{severity} {count} 项")
_NOTHING: Final = Words("nothing else was found", "没有其他发现")
_NO_BACKEND: Final = Words(
    "No engine was found, so there is nothing to write a routing file from.",
    "没有找到推理引擎，无法生成路由文件。",
)


def findings_text(fleet: Fleet, findings: tuple[Finding, ...], language: Language) -> str:
    """The findings for people, and a line that counts them."""
    parts = [told(finding, language) for finding in findings]
    if not fleet.candidates:
        parts.append(_NO_BACKEND.spoken(language))
    counts = Counter(severity_of(finding) for finding in findings)
    counted = ", ".join(
        _ONE_COUNT.spoken(language).format(
            count=counts[severity], severity=SEVERITIES[severity].spoken(language)
        )
        for severity in Severity
        if counts[severity]
    )
    parts.append(
        _COUNT.spoken(language).format(
            backends=len(fleet.candidates), counts=counted or _NOTHING.spoken(language)
        )
    )
    return "\n".join(parts)


def as_json(
    fleet: Fleet, findings: tuple[Finding, ...], routing_file: str | None, language: Language
) -> str:
    """All of it for programs; codes are stable, texts are in the language."""
    report = {
        "routing_file": routing_file,
        "backends": [_backend(candidate) for candidate in fleet.candidates],
        "findings": [_finding(finding, language) for finding in findings],
    }
    return json.dumps(report, indent=2, ensure_ascii=False)


def _backend(candidate: Candidate) -> dict[str, Any]:
    return {
        **fields_of(candidate),
        "enabled": not candidate.disabled_by,
        "disabled_by": candidate.disabled_by or None,
        "version": candidate.version_text or None,
        "guessed": [guess.field for guess in candidate.guesses],
        "sources": [str(origin) for origin in candidate.origins],
    }


def _finding(finding: Finding, language: Language) -> dict[str, Any]:
    return {
        "code": finding.code.value,
        "severity": severity_of(finding).value,
        "file": finding.origin.file,
        "line": finding.origin.line or None,
        "backend": finding.backend or None,
        "message": message_of(finding, language),
        "remedy": remedy_of(finding, language),
    }
