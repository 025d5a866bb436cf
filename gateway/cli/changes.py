"""How commands print what a gateway says of a routing file: changes, problems, results."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import click

from gateway.cli.stop import plain
from gateway.words import Language, Words

_APPLIED: Final = Words("Version {version} is in force now.", "版本 {version} 现已生效。")
_UNCHANGED: Final = Words(
    "Nothing changes: version {version} stays in force.", "没有变化：版本 {version} 继续生效。"
)
_REFUSED: Final = Words(
    "Refused, with errors: {errors}. Version {version} stays in force.",
    "未被采用，错误数：{errors}。版本 {version} 继续生效。",
)
_WARNINGS: Final = Words(
    "Warnings: {warnings}; `ascend-gateway config check` shows them.",
    "警告数：{warnings}；用 `ascend-gateway config check` 查看。",
)


def spoken(told: Any, language: Language) -> str:
    """A text that came in several languages; English where the wanted one is missing."""
    if not isinstance(told, Mapping):
        return "" if told is None else str(told)
    return str(told.get(language.value) or told.get(Language.EN.value) or "")


def listed(tree: Mapping[str, Any], name: str) -> list[Any]:
    """A list of an answer; empty if it is missing."""
    found = tree.get(name)
    return found if isinstance(found, list) else []


def changes_text(changes: Iterable[Any], language: Language) -> str:
    """A line for each change."""
    return "\n".join(f"  - {plain(spoken(change, language))}" for change in changes)


def problems_text(problems: Iterable[Any], language: Language) -> str:
    """All problems as `config check` prints them."""
    told = (p.get("text") or p.get("message") for p in problems if isinstance(p, Mapping))
    return "\n".join(plain(spoken(text, language)) for text in told)


def count_of(problems: Iterable[Any], severity: str) -> int:
    """How many problems are so bad."""
    return sum(isinstance(p, Mapping) and p.get("severity") == severity for p in problems)


def as_json(tree: Any) -> str:
    """For programs, and still readable."""
    return json.dumps(tree, indent=2, ensure_ascii=False)


def result_text(tree: Mapping[str, Any], language: Language) -> str:
    """What came of a reload or a rollback."""
    problems, version = listed(tree, "problems"), tree.get("version")
    errors, warnings = count_of(problems, "error"), count_of(problems, "warning")
    if tree.get("result") == "refused":
        parts = [problems_text(problems, language)]
        parts.append(_REFUSED.spoken(language).format(errors=errors, version=version))
    else:
        is_applied = tree.get("result") == "applied"
        text = _APPLIED if is_applied else _UNCHANGED
        parts = [text.spoken(language).format(version=version)]
        parts.append(changes_text(listed(tree, "changes"), language) if is_applied else "")
        if warnings:
            parts.append(_WARNINGS.spoken(language).format(warnings=warnings))
    parts.append(plain(spoken(tree.get("note"), language)))
    return "\n".join(part for part in parts if part)


def print_result(tree: Mapping[str, Any], language: Language, *, is_json: bool) -> int:
    """Prints what came of a reload or a rollback; returns the exit status, 1 if it was refused."""
    click.echo(as_json(tree) if is_json else result_text(tree, language))
    return 1 if tree.get("result") == "refused" else 0
