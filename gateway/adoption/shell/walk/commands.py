"""Carries out simple commands: assignments, builtins, calls of functions, launches."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from gateway.adoption.codes import Code
from gateway.adoption.shell.expansion.expand import Expansion, Surroundings
from gateway.adoption.shell.missing import Missing
from gateway.adoption.shell.reader.command_reader import DECLARATIONS
from gateway.adoption.shell.syntax import Assignment, Function, Simple, Word
from gateway.adoption.shell.variables import Variable
from gateway.adoption.shell.walk.aliases import without_aliases
from gateway.adoption.shell.walk.assigning import Assigner
from gateway.adoption.shell.walk.builtins import QUIET, Argument, Call, builtin_of
from gateway.adoption.shell.walk.declaring import declare
from gateway.adoption.shell.walk.launching import Launcher, Launching
from gateway.adoption.shell.walk.record import Record
from gateway.adoption.shell.walk.shell import Shell
from gateway.adoption.shell.walk.streams import Plumber

# What prepares the tools that these scripts use, and sets nothing that matters here.
_WELL_KNOWN: Final = (
    "set_env.sh",
    "setenv.bash",
    "setenv.sh",
    "setvars.sh",
    "activate",
    "conda.sh",
    "/etc/profile",
    "/etc/bashrc",
    "/etc/bash.bashrc",
    ".bashrc",
    ".bash_profile",
    ".profile",
)


class Runner(Surroundings, Protocol):
    """Who goes through the constructs around simple commands."""

    @property
    def shell(self) -> Shell:
        """The shell in which commands are carried out."""

    @property
    def record(self) -> Record:
        """Where findings go."""

    def call(self, function: Function, arguments: Sequence[Argument]) -> None:
        """Runs the body of a function."""

    def read(self, text: str, line: int) -> None:
        """Reads a text as a part of the script."""

    def leave(self, *, is_function: bool) -> None:
        """Ends the function or the script, if it is certain that bash gets here."""


class CommandRunner:
    """Carries out one simple command after the other."""

    def __init__(self, runner: Runner, launcher: Launcher) -> None:
        self._runner = runner
        self._launcher = launcher
        self._made: list[Expansion] = []
        shell = runner.shell
        self._assigner = Assigner(shell.variables, self._expansion)
        self._plumber = Plumber(self._expansion, lambda: shell.directory)
        self.line = 0

    def __repr__(self) -> str:
        return f"CommandRunner(line={self.line})"

    def run(self, written: Simple) -> None:
        """One command."""
        shell = self._runner.shell
        self._runner.budget.step()
        node = without_aliases(written, shell)
        self.line = node.line
        words, missing = self._words(node.words)
        kept = shell.streams
        with self._reported() as made:
            shell.streams = self._plumber.redirected(kept, node.redirects)
        missing.extend(part for expansion in made for part in expansion.missing)
        streams = shell.streams
        try:
            if words:
                with self._assigned_in_front(node.assignments) as unknown:
                    self._dispatch(words, (*missing, *unknown))
            else:
                self.report_missing(missing, node.line)
                for assignment in node.assignments:
                    self.assign(assignment)
        finally:
            is_for_good = len(words) == 1 and _text(words[0]) == "exec"
            shell.streams = streams if is_for_good else kept

    def assign(self, assignment: Assignment) -> None:
        """An assignment that stays."""
        with self._reported():
            self._assigner.assign(assignment)

    def report(self, expansion: Expansion) -> None:
        """Finds what was noticed while words were expanded."""
        record = self._runner.record
        for name, value in expansion.defaults:
            values = {"variable": name, "value": value}
            record.find(Code.VARIABLE_DEFAULT, self.line, values)
        for what in expansion.refused:
            record.find(Code.SHELL_NOT_FOLLOWED, self.line, {"what": what})

    def report_missing(self, missing: Sequence[Missing], line: int) -> None:
        """Finds the variables without a value; outputs that are not known were found before."""
        for part in missing:
            if not part.is_output:
                self._runner.record.find(Code.VARIABLE_UNSET, line, {"variable": part.name})

    def _expansion(self) -> Expansion:
        expansion = Expansion(self._runner)
        self._made.append(expansion)
        return expansion

    @contextmanager
    def _reported(self, *, is_quiet: bool = False) -> Iterator[list[Expansion]]:
        """Reports all expansions that are made meanwhile, unless they don't matter."""
        outer, self._made = self._made, []
        line = self.line
        try:
            yield self._made
        finally:
            self.line = line
            for expansion in () if is_quiet else self._made:
                self.report(expansion)
            self._made = outer

    def _words(
        self, words: Sequence[Word | Assignment]
    ) -> tuple[list[Argument | Assignment], list[Missing]]:
        """The words after expansion, and what had no value in those that vanished."""
        found: list[Argument | Assignment] = []
        vanished: list[Missing] = []
        for word in words:
            if isinstance(word, Assignment):
                found.append(word)
                continue
            is_test = bool(found) and _text(found[0]) in {"[", "test"}
            with self._reported(is_quiet=is_test):
                expansion = self._expansion()
                texts = expansion.fields(word)
            missing = tuple(expansion.missing)
            found.extend(Argument(text, word.line, missing) for text in texts)
            if not texts:
                vanished.extend(missing)
        return found, vanished

    @contextmanager
    def _assigned_in_front(self, assignments: Sequence[Assignment]) -> Iterator[list[Missing]]:
        """Sets and exports variables for one command; yields what has no value in them."""
        variables = self._runner.shell.variables
        kept: list[tuple[str, Variable | None]] = []
        unknown: list[Missing] = []
        try:
            for assignment in assignments:
                with self._reported():
                    name, text, missing = self._assigner.evaluated(assignment)[0]
                kept.append((name, variables.get(name)))
                variables.put(name, Variable(text, is_exported=True, missing=missing))
                unknown.extend(missing)
            self.report_missing(unknown, self.line)
            yield unknown
        finally:
            for name, variable in reversed(kept):
                variables.journal.put(name, variable)

    def _dispatch(
        self, words: Sequence[Argument | Assignment], missing: tuple[Missing, ...]
    ) -> None:
        if _text(words[0]) in DECLARATIONS:
            self._declare(words)
            return
        arguments = [word for word in words if isinstance(word, Argument)]
        is_function = True
        while (
            len(arguments) > 1
            and arguments[0].text in {"command", "builtin"}
            and not arguments[1].text.startswith("-")
        ):
            del arguments[0]
            is_function = False
        name = arguments[0].text
        function = self._runner.shell.functions.get(name) if is_function else None
        if function is not None:
            self._runner.call(function, arguments[1:])
        elif not self._special(name, arguments, missing):
            self._builtin(name, arguments, missing)

    def _special(
        self, name: str, arguments: Sequence[Argument], missing: tuple[Missing, ...]
    ) -> bool:
        """The builtins that read other texts or end this one."""
        if name == "eval":
            self._eval(arguments[1:], missing)
        elif name in {"source", "."}:
            self._source(arguments[1:])
        elif name in {"exit", "return"}:
            self._runner.leave(is_function=name == "return")
        elif name == "exec":
            if len(arguments) > 1:
                self._launch(arguments, missing)
                self._runner.leave(is_function=False)
        else:
            return False
        return True

    def _builtin(self, name: str, arguments: list[Argument], missing: tuple[Missing, ...]) -> None:
        builtin = builtin_of([argument.text for argument in arguments])
        if builtin is not None:
            with self._reported():
                builtin(Call(self._runner.shell, tuple(arguments[1:]), self._expansion()))
        elif name not in QUIET:
            self._launch(arguments, missing)

    def _declare(self, words: Sequence[Argument | Assignment]) -> None:
        shell = self._runner.shell
        for name in declare(shell, words, self.assign):
            variable = shell.variables.get(name)
            if variable is not None and variable.is_exported and not variable.text:
                self.report_missing(
                    [part for part in variable.missing if not part.is_unseen], self.line
                )

    def _eval(self, arguments: Sequence[Argument], missing: tuple[Missing, ...]) -> None:
        shell = self._runner.shell
        kept = shell.missing
        inside = tuple(part for argument in arguments for part in argument.missing)
        self.report_missing(inside, self.line)
        shell.missing = tuple(dict.fromkeys((*kept, *missing, *inside)))
        text = " ".join(argument.text for argument in arguments)
        self._runner.read(text, arguments[0].line if arguments else self.line)
        shell.missing = kept

    def _source(self, arguments: Sequence[Argument]) -> None:
        name = arguments[0].text if arguments else ""
        shell = self._runner.shell
        written = shell.files.get(self._launcher.path(name))
        if written is not None:
            self._runner.read(written.text, written.line)
        elif not name.endswith(_WELL_KNOWN):
            what = name or "source"
            self._runner.record.find(Code.SHELL_NOT_FOLLOWED, self.line, {"what": what})

    def _launch(self, arguments: Sequence[Argument], missing: tuple[Missing, ...]) -> None:
        shell = self._runner.shell
        environment, absent = shell.variables.environment()
        used = (*missing, *(part for argument in arguments for part in argument.missing))
        unset = tuple(dict.fromkeys((*used, *absent, *shell.missing)))
        line = self.line
        self._launcher.launch(Launching(tuple(arguments), environment, shell.streams, unset))
        self.line = line
        self.report_missing(tuple(dict.fromkeys(used)), arguments[0].line)


def _text(word: Argument | Assignment) -> str:
    return word.text if isinstance(word, Argument) else ""
