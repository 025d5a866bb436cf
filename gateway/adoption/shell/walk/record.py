"""What was found in a script so far: the commands it launches, and what was noticed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.shell.budget import MAX_COMMANDS, MAX_FINDINGS, ExhaustedError

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Command:
    """A command as bash would launch it, wrappers such as `nohup` taken off.

    `origin` is where the first word of `argv` stands. `environment` is what is exported by then and
    assigned in front of it; a variable of whose value nothing is known is left out. `log_files` are
    where its output goes. `stdin_script` is the text that the script itself feeds it, by a
    here-document or a pipe from `echo`. `unset` are the names of what has no value in all of that:
    variables, and `$(...)` that were not followed. `stdin_line` is where `stdin_script` begins.
    """

    origin: Origin
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    log_files: tuple[str, ...] = ()
    stdin_script: str = ""
    unset: tuple[str, ...] = ()
    stdin_line: int = 0


class Part:
    """Commands and findings, in the order in which they were met."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.findings: dict[tuple[Code, Origin, tuple[tuple[str, str], ...]], Finding] = {}

    def __repr__(self) -> str:
        return f"Part(commands={len(self.commands)}, findings={len(self.findings)})"

    def add(self, other: "Part") -> None:
        """Takes over what another part has."""
        self.commands.extend(other.commands)
        self.findings.update(other.findings)


class Record:
    """All that is found in one source. `called` are the names of functions that were called."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._part = Part()
        self._left_commands = MAX_COMMANDS
        self._left_findings = MAX_FINDINGS
        self.called: set[str] = set()

    def __repr__(self) -> str:
        return f"Record({self._file!r}, {self._part!r})"

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands so far."""
        return tuple(self._part.commands)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings so far, each one once."""
        return tuple(self._part.findings.values())

    def origin(self, line: int) -> Origin:
        """A place in the source."""
        return Origin(self._file, line)

    def launch(self, command: Command) -> None:
        """One more command; raises ExhaustedError beyond the limit."""
        self._left_commands -= 1
        if self._left_commands < 0:
            raise ExhaustedError(f"{MAX_COMMANDS} commands")
        self._part.commands.append(command)

    def find(self, code: Code, line: int, values: Mapping[str, str]) -> None:
        """One more finding, unless it is there already; raises ExhaustedError beyond the limit."""
        key = (code, self.origin(line), tuple(values.items()))
        if key in self._part.findings:
            return
        self._left_findings -= 1
        if self._left_findings < 0 and code is not Code.SHELL_TOO_MUCH:
            raise ExhaustedError(f"{MAX_FINDINGS} findings")
        self._part.findings[key] = Finding(code, key[1], MappingProxyType(dict(values)))

    def add(self, part: Part) -> None:
        """Takes over what was found apart."""
        self._part.add(part)

    @contextmanager
    def apart(self) -> Iterator[Part]:
        """What is found meanwhile goes into a part of its own."""
        outer, self._part = self._part, Part()
        try:
            yield self._part
        finally:
            self._part = outer
