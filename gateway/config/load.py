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

    def render(self) -> str:
        """All problems as people read them."""
        return "\n".join(problem.render() for problem in self.problems)


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
    data = path.read_bytes()
    try:
        return load_text(data.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        problem = Problem(
            Severity.ERROR,
            Code.NOT_UTF8,
            str(path),
            line,
            1,
            "",
            f"byte 0x{data[error.start]:02x} in this line is not UTF-8",
            "Save the file as UTF-8.",
        )
        return Loaded(None, (problem,), hashlib.sha256(data).hexdigest()[:12])


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
        message=finding.message,
        remedy=finding.remedy,
    )
