"""What a running shell knows: variables, functions, arguments, where its output goes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from gateway.adoption.shell.expansion.values import Arguments
from gateway.adoption.shell.journal import Journal
from gateway.adoption.shell.missing import Missing
from gateway.adoption.shell.syntax import Function
from gateway.adoption.shell.variables import Variable, Variables
from gateway.adoption.shell.walk.streams import Streams


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that the script itself writes, and the line where its text begins."""

    text: str
    line: int


class Changes(NamedTuple):
    """What a branch left different."""

    variables: Mapping[str, Variable | None]
    functions: Mapping[str, Function | None]
    aliases: Mapping[str, str | None]
    files: Mapping[str, WrittenFile | None]


class Shell:
    """The state of one shell. `missing` is what had no value in the text that it reads."""

    def __init__(
        self,
        environment: Mapping[str, str],
        arguments: Arguments,
        functions: Mapping[str, Function],
        missing: tuple[Missing, ...] = (),
    ) -> None:
        self.variables = Variables(environment)
        self.variables.put("BASH_SOURCE", Variable(items={"0": arguments.name}))
        self.functions: Journal[Function] = Journal(functions)
        self.aliases: Journal[str] = Journal({})
        self.files: Journal[WrittenFile] = Journal({})
        self.arguments = arguments
        self.streams = Streams()
        self.missing = missing
        self.expands_aliases = False
        # The names of the functions that this shell defined, as against those it was given.
        self.defined: dict[str, None] = {}
        self.locals: list[dict[str, Variable | None]] = []

    def __repr__(self) -> str:
        return f"Shell({self.arguments.name!r}, {self.variables!r})"

    @property
    def directory(self) -> str:
        """The current directory; "." or what follows from it while that is not known."""
        return self.variables.text("PWD") or "."

    def defined_functions(self) -> dict[str, Function]:
        """All functions by name."""
        found = ((name, self.functions.get(name)) for name in self.functions)
        return {name: function for name, function in found if function is not None}

    @contextmanager
    def subshell(self) -> Iterator[None]:
        """Everything that happens in it is forgotten afterwards."""
        kept = (self.arguments, self.streams, self.expands_aliases, self.variables.exports_all)
        self._begin()
        try:
            yield
        finally:
            self._undo()
            self.arguments, self.streams, self.expands_aliases, exports_all = kept
            self.variables.exports_all = exports_all

    @contextmanager
    def branch(self, changes: list[Changes]) -> Iterator[None]:
        """What happens in it is taken back and added to `changes`, to be adopted or not."""
        self._begin()
        try:
            yield
        finally:
            changes.append(self._undo())

    def adopt(self, branches: list[Changes]) -> None:
        """Takes over what branches left of which it is not known whether they are run.

        The last assignment wins; but one whose value is not known, such as that of an argument,
        does not take the place of a known one, such as the default it would replace.
        """
        for changes in branches:
            for name, variable in changes.variables.items():
                current = self.variables.get(name)
                is_known = current is not None and not current.missing
                if variable is not None and not (variable.missing and is_known):
                    self.variables.put(name, variable)
            for name, function in changes.functions.items():
                self.functions.put(name, function or self.functions.get(name))
            for name, alias in changes.aliases.items():
                self.aliases.put(name, alias or self.aliases.get(name))
            for name, file in changes.files.items():
                self.files.put(name, file or self.files.get(name))

    def _begin(self) -> None:
        for journal in (self.variables.journal, self.functions, self.aliases, self.files):
            journal.begin()

    def _undo(self) -> Changes:
        return Changes(
            self.variables.journal.undo(),
            self.functions.undo(),
            self.aliases.undo(),
            self.files.undo(),
        )
