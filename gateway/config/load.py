"""The door to the routing file: text in, a config or all its problems out."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path as FilePath

from gateway.config.draft import draft
from gateway.config.parse import Marks, Parsed, parse
from gateway.config.problems import Code, Finding, Problem, Severity, path_text
from gateway.config.schema import RoutingConfig
from gateway.config.validate import check
from gateway.words import Language, Words


@dataclass(frozen=True, slots=True)
class Loaded:
    """A config (None when there is an error), every problem in order of line, and a version.

    `version_hash` is 12 hex digits; the same for files that mean the same.
    """

    config: RoutingConfig | None
    problems: tuple[Problem, ...]
    version_hash: str

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems for which the file is refused."""
        return tuple(p for p in self.problems if p.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems with which the file loads."""
        return tuple(p for p in self.problems if p.severity is Severity.WARNING)

    def render(self, language: Language = Language.EN) -> str:
        """All problems as people read them."""
        return "\n".join(problem.render(language) for problem in self.problems)


def load_text(text: str, file: str) -> Loaded:
    """Read a routing file's text; `file` is the name shown in problems. Never raises."""
    parsed = parse(text)
    if parsed.tree is None:
        return Loaded(None, _placed(parsed.findings, parsed, file), _digest(text))
    parts, faults = draft(parsed.tree)
    findings = [*parsed.findings, *faults, *check(parts)]
    problems = _placed(findings, parsed, file)
    if any(problem.severity is Severity.ERROR for problem in problems):
        return Loaded(None, problems, _digest(text))
    config = parts.top.model_copy(
        update={
            "backends": tuple(entry.record for entry in parts.backends),
            "models": tuple(entry.record for entry in parts.models),
        }
    )
    return Loaded(config, problems, version_hash(config))


def load_file(path: FilePath) -> Loaded:
    """Read a routing file; raises OSError when it can't be read."""
    return load_bytes(path.read_bytes(), str(path))


def load_bytes(data: bytes, file: str) -> Loaded:
    """Read a routing file's bytes; `file` is the name shown in problems. Never raises."""
    try:
        return load_text(data.decode("utf-8-sig"), file)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        problem = Problem(
            Severity.ERROR,
            Code.NOT_UTF8,
            file,
            line,
            1,
            "",
            Words(
                f"byte 0x{data[error.start]:02x} in this line is not UTF-8",
                f"本行的字节 0x{data[error.start]:02x} 不是 UTF-8",
            ),
            Words("Save the file as UTF-8.", "将文件另存为 UTF-8。"),
        )
        return Loaded(None, (problem,), hashlib.sha256(data).hexdigest()[:12])


def unreadable(file: str, error: OSError) -> Loaded:
    """What there is of a routing file that can't be read: one problem."""
    why = error.strerror or str(error)
    problem = Problem(
        Severity.ERROR,
        Code.FILE_UNREADABLE,
        file,
        1,
        1,
        "",
        Words(f"it can't be read: {why}", f"无法读取：{why}"),
        Words(
            "Put the file back, or let the gateway read it.",
            "请恢复该文件，或授予网关读取权限。",
        ),
    )
    return Loaded(None, (problem,), "")


def version_hash(config: RoutingConfig) -> str:
    """12 hex digits that are the same for equal configs."""
    return _digest(json.dumps(config.model_dump(mode="json"), sort_keys=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _placed(findings: Iterable[Finding], parsed: Parsed, file: str) -> tuple[Problem, ...]:
    problems = [_problem(finding, parsed, parsed.marks, file) for finding in findings]
    return tuple(sorted(problems, key=lambda p: (p.line, p.column, p.path, p.code)))


def _problem(finding: Finding, parsed: Parsed, marks: Marks, file: str) -> Problem:
    place = parsed.syntax or marks.of(finding.path)
    return Problem(
        severity=finding.severity,
        code=finding.code,
        file=file,
        line=place.line,
        column=place.column,
        path=path_text(finding.path),
        told=finding.told,
        advice=finding.remedy,
    )
