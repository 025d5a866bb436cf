"""The output of `$(...)`: told where that is harmless, else its commands are read as such."""

from collections.abc import Callable
from typing import Final, Protocol

from gateway.adoption.shell.expansion.expand import Expansion, Output
from gateway.adoption.shell.missing import Missing
from gateway.adoption.shell.syntax import Block, Simple, Substitution
from gateway.adoption.shell.walk.builtins import BUILTINS, Argument, Call
from gateway.adoption.shell.walk.capture import is_harmless, printed
from gateway.adoption.shell.walk.commands import CommandRunner
from gateway.adoption.shell.walk.shell import Shell
from gateway.adoption.shell.walk.streams import Plumber, Streams, Target

_MAX_SHOWN_CHARS: Final = 80


class BlockRunner(Protocol):
    """Who runs lists of commands."""

    def __call__(self, block: Block) -> None:
        """Runs one in a subshell."""


class Substituter:
    """Tells the output of `$(...)` in one shell."""

    def __init__(
        self,
        shell: Shell,
        commands: CommandRunner,
        expansion: Callable[[], Expansion],
        run: BlockRunner,
    ) -> None:
        self._shell = shell
        self._commands = commands
        self._expansion = expansion
        self._run = run
        self._plumber = Plumber(expansion, lambda: shell.directory)

    def __repr__(self) -> str:
        return f"Substituter({self._shell!r})"

    def output(self, substitution: Substitution) -> Output:
        """What the commands print, without the line ends behind it."""
        if is_harmless(substitution.body):
            with self._shell.subshell():
                output = self._printed(substitution.body)
            if output is not None:
                return Output(output.text.rstrip("\n"), output.missing)
        else:
            self.read(substitution.body)
        return Output("", (Missing(shown(substitution.text), is_unseen=True),))

    def read(self, block: Block) -> None:
        """Reads commands whose output goes elsewhere."""
        kept = self._shell.streams
        self._shell.streams = Streams(Target((), is_terminal=False), kept.err)
        try:
            self._run(block)
        finally:
            self._shell.streams = kept

    def _printed(self, block: Block) -> Output | None:
        found: list[str] = []
        missing: dict[Missing, None] = {}
        for item in block.items:
            node = item.stages[0]
            if item.link == "||" or not isinstance(node, Simple):
                continue
            expansion = self._expansion()
            words, text = printed(node, expansion, self._plumber, self._shell.directory)
            self._commands.report(expansion)
            if text is None:
                return None
            found.append(text)
            missing.update(expansion.missing)
            if not words:
                for assignment in node.assignments:
                    self._commands.assign(assignment)
            elif words[0] == "cd":
                arguments = tuple(Argument(word) for word in words[1:])
                BUILTINS["cd"](Call(self._shell, arguments, expansion))
        return Output("".join(found), tuple(missing))


def shown(text: str) -> str:
    """A substitution in one short line, as findings show it."""
    line = " ".join(text.split())
    if len(line) <= _MAX_SHOWN_CHARS:
        return line
    return line[: _MAX_SHOWN_CHARS - len("...)")] + "...)"
