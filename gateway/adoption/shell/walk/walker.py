"""Reads a script as bash would run it: line by line, in one shell, with scripts inside of it."""

from collections.abc import Sequence

from gateway.adoption.codes import Code
from gateway.adoption.shell.budget import (
    MAX_SYNTAX_ERRORS,
    Budget,
    ExhaustedError,
    TooMuchError,
)
from gateway.adoption.shell.expansion.expand import Expansion, Output
from gateway.adoption.shell.expansion.values import Arguments
from gateway.adoption.shell.reader.command_reader import new_reading, read_line, skip_line
from gateway.adoption.shell.reader.reading import Note, ShellSyntaxError
from gateway.adoption.shell.syntax import Block, Function, Item, Process, Substitution
from gateway.adoption.shell.variables import Variables
from gateway.adoption.shell.walk.builtins import Argument
from gateway.adoption.shell.walk.commands import CommandRunner
from gateway.adoption.shell.walk.constructs import Constructs
from gateway.adoption.shell.walk.flow import Flow
from gateway.adoption.shell.walk.launching import InnerScript, Launcher, Launching
from gateway.adoption.shell.walk.record import Record
from gateway.adoption.shell.walk.shell import Shell
from gateway.adoption.shell.walk.substituting import Substituter


class Walker:
    """Reads one script in one shell; scripts inside of it get walkers of their own."""

    def __init__(self, shell: Shell, record: Record, budget: Budget) -> None:
        self._shell = shell
        self._record = record
        self._budget = budget
        self._flow = Flow()
        self._calls: list[str] = []
        self._launcher = Launcher(shell, record, self._read_inner)
        self._commands = CommandRunner(self, self._launcher)
        self._constructs = Constructs(
            shell, record, budget, self._flow, self._commands, self._expansion
        )
        self._substituter = Substituter(
            shell, self._commands, self._expansion, self._constructs.subshell
        )

    def __repr__(self) -> str:
        return f"Walker({self._shell!r})"

    @property
    def shell(self) -> Shell:
        """The shell in which commands are carried out."""
        return self._shell

    @property
    def record(self) -> Record:
        """Where findings go."""
        return self._record

    @property
    def variables(self) -> Variables:
        """The shell's variables."""
        return self._shell.variables

    @property
    def arguments(self) -> Arguments:
        """The shell's positional arguments."""
        return self._shell.arguments

    @property
    def budget(self) -> Budget:
        """What is left of the limits."""
        return self._budget

    def substitute(self, substitution: Substitution) -> Output:
        """The output of a `$(...)`; what is not known of it is found here, once."""
        line = self._commands.line
        output = self._substituter.output(substitution)
        self._commands.line = line
        for part in output.missing:
            if part.is_output:
                self._record.find(Code.SHELL_NOT_FOLLOWED, line, {"what": part.name})
        return output

    def connect(self, process: Process) -> None:
        """Reads the commands of a `<(...)`."""
        line = self._commands.line
        self._substituter.read(process.body)
        self._commands.line = line

    def read_script(self, text: str, line: int) -> None:
        """Reads a whole script, and then its functions that nothing in it calls."""
        with self._flow.shell():
            self.read(text, line)
        self._read_uncalled()

    def launch(self, launching: Launching) -> None:
        """Launches a command line that was split and expanded elsewhere."""
        self._launcher.launch(launching)

    def read(self, text: str, line: int) -> None:
        """Reads a text as a part of the script, one complete command after the other."""
        with self._budget.level():
            notes: list[Note] = []
            reading = new_reading(text, line, notes, self._budget.depth)
            errors = 0
            while errors <= MAX_SYNTAX_ERRORS:
                reading.skip_lines()
                start = reading.pos
                try:
                    block = read_line(reading)
                except ShellSyntaxError as error:
                    # Bash would give up here; what comes later is of use all the same.
                    notes.append(error.note)
                    errors += 1
                    skip_line(reading, start)
                    block = Block()
                self._find(notes)
                if block is None:
                    return
                self._run(block, reading.line(start))
            raise ExhaustedError(f"{MAX_SYNTAX_ERRORS} errors of syntax")

    def _find(self, notes: list[Note]) -> None:
        for note in notes:
            self._record.find(note.code, note.line, note.values)
        notes.clear()

    def _run(self, block: Block, line: int) -> None:
        try:
            self._constructs.block(block)
        except ExhaustedError:
            raise
        except TooMuchError as error:
            self._record.find(Code.SHELL_TOO_MUCH, line, {"limit": error.limit})

    def _read_uncalled(self) -> None:
        """Reads the functions that were not called, once each.

        Those that others of them call turn up there, with their arguments.
        """
        parts = []
        try:
            for name in tuple(self._shell.defined):
                function = self._shell.functions.get(name)
                if function is not None and name not in self._record.called:
                    with self._record.apart() as part, self._flow.unsure():
                        parts.append((name, part))
                        self._run(Block((Item((function.body,)),)), self._commands.line)
        finally:
            for name, part in parts:
                if name not in self._record.called:
                    self._record.add(part)

    def _read_inner(self, script: InnerScript) -> None:
        """Reads a script in a shell of its own.

        It knows the functions too, as if all were exported: otherwise it would not call them.
        """
        functions = self._shell.defined_functions()
        shell = Shell(script.environment, script.arguments, functions, script.missing)
        shell.variables.journal.put("PWD", self._shell.variables.get("PWD"))
        shell.streams = script.streams._replace(stdin="", stdin_line=0)
        with self._budget.level():
            Walker(shell, self._record, self._budget).read_script(script.text, script.line)

    def call(self, function: Function, arguments: Sequence[Argument]) -> None:
        """Runs the body of a function."""
        shell = self._shell
        self._record.called.add(function.name)
        if function.name in self._calls:
            what = f"{function.name} in {function.name}"
            self._record.find(Code.SHELL_NOT_FOLLOWED, self._commands.line, {"what": what})
            return
        kept = shell.arguments
        shell.arguments = Arguments(
            kept.name,
            tuple(argument.text for argument in arguments),
            tuple(argument.missing for argument in arguments),
        )
        shell.locals.append({})
        self._calls.append(function.name)
        try:
            with self._budget.level(), self._flow.function():
                self._constructs.run(function.body)
        finally:
            for name, variable in shell.locals.pop().items():
                shell.variables.journal.put(name, variable)
            shell.arguments = kept
            self._calls.pop()

    def leave(self, *, is_function: bool) -> None:
        """Ends the function or the script, if it is certain that bash gets here."""
        self._flow.leave(is_function=is_function)

    def _expansion(self) -> Expansion:
        return Expansion(self)
