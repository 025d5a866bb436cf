"""The reference of what `adopt` can find, in both languages."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.telling import SEVERITIES, TEXTS
from gateway.adoption.texts import Severity
from gateway.words import Language, Words

_INTRO: Final = Words(
    "# What `adopt` finds\n\nEach finding of `ascend-gateway adopt` has a stable code, a severity "
    "and a remedy; words in braces are filled in. See [adopt.md](../adopt.md).\n",
    "# `adopt` 的提示\n\n`ascend-gateway adopt` 的每条提示都有固定代码、级别和处理办法；"
    "花括号中的词会被替换。参见 [adopt.md](../adopt.md)。\n",
)
_HEADS: Final[Mapping[Severity, Words]] = MappingProxyType(
    {
        Severity.CONTRADICTION: Words("Contradictions", "矛盾"),
        Severity.TRAP: Words("Traps", "陷阱"),
        Severity.GUESS: Words("Guesses", "猜测"),
        Severity.NOTE: Words("Notes", "提示"),
    }
)
_TABLE: Final = Words("| Code | Meaning | Remedy |", "| 代码 | 含义 | 处理办法 |")


def findings_page(language: Language) -> str:
    """docs/reference/findings.md, or docs/zh/reference/findings.md."""
    parts = [_INTRO.spoken(language)]
    for severity in SEVERITIES:
        rows = [
            f"| `{code}` | {_cell(TEXTS[code].message, language)} "
            f"| {_cell(TEXTS[code].remedy, language)} |"
            for code in Code
            if TEXTS[code].severity is severity
        ]
        head = f"## {_HEADS[severity].spoken(language)}"
        table = "\n".join([_TABLE.spoken(language), "|---|---|---|", *rows])
        parts.append(f"{head}\n\n{table}\n")
    return "\n".join(parts)


def _cell(words: Words, language: Language) -> str:
    return words.spoken(language).replace("|", "\\|").replace("\n", " ")
