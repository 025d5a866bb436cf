"""Carries out what stands around simple commands: lists, pipelines, choices, loops, groups.

What depends on a condition is read whatever the condition: a server may be started in any branch.
"""

from collections.abc import Callable, Sequence

from gateway.adoption.codes import Code
from gateway.adoption.shell.budget import MAX_ROUNDS, Budget
from gateway.adoption.shell.expansion.bare import Bare
from gateway.adoption.shell.expansion.expand import Expansion
from gateway.adoption.shell.missing import Missing
from gateway.adoption.shell.syntax import (
    Arm,
    Block,
    Calculation,
    Choice,
    CountingFor,
    For,
    Function,
    Group,
    Item,
    Node,
    Redirected,
    Simple,
    Test,
    While,
    Word,
)
from gateway.adoption.shell.walk.capture import printed, prints_known
from gateway.adoption.shell.walk.commands import CommandRunner
from gateway.adoption.shell.walk.flow import Flow
from gateway.adoption.shell.walk.record import Record
from gateway.adoption.shell.walk.shell import Changes, Shell
from gateway.adoption.shell.walk.streams import Plumber, Streams


class Constructs:
    """Goes through the constructs of one shell's script."""

    def __init__(
        self,
        shell: Shell,
        record: Record,
        budget: Budget,
        flow: Flow,
        commands: CommandRunner,
        expansion: Callable[[], Expansion],
    ) -> None:
        self._shell = shell
        self._record = record
        self._budget = budget
        self._flow = flow
        self._commands = commands
        self._expansion = expansion
        self._plumber = Plumber(expansion, lambda: shell.directory)
        self._dry_plumber = Plumber(self._dry_expansion, lambda: shell.directory)

    def __repr__(self) -> str:
        return f"Constructs({self._shell!r})"

    def block(self, block: Block) -> None:
        """A list of commands."""
        for item in block.items:
            if item.is_background or len(item.stages) > 1:
                with self._shell.subshell(), self._flow.shell():
                    self._pipeline(item)
            elif item.link:
                # Behind && or ||: it is run or it is not.
                self._branches([Arm(Block(), Block((item._replace(link=""),)))])
            else:
                self.run(item.stages[0])

    def subshell(self, block: Block) -> None:
        """A list of commands that changes nothing for those behind it."""
        with self._budget.level(), self._shell.subshell(), self._flow.shell():
            self.block(block)

    def run(self, node: Node) -> None:
        """One command or construct."""
        if isinstance(node, Simple):
            self._commands.run(node)
            return
        with self._budget.level():
            if isinstance(node, Redirected):
                self._redirected(node)
            elif isinstance(node, Group):
                (self.subshell if node.is_subshell else self.block)(node.body)
            elif isinstance(node, Choice):
                if node.subject is not None:
                    self._text(node.subject)
                self._branches(node.arms)
            elif isinstance(node, While):
                self._branches([Arm(node.check, node.body)])
            elif isinstance(node, For | CountingFor):
                self._loop(node)
            elif isinstance(node, Function):
                self._shell.functions.put(node.name, node)
                self._shell.defined[node.name] = None
            else:
                self._asked(node)

    def _asked(self, node: Calculation | Test) -> None:
        """`((...))` and `[[ ... ]]`, which may assign variables."""
        if isinstance(node, Calculation):
            self._expansion().number(node.expression)
            return
        for word in node.words:
            self._expansion().text(word)

    def _text(self, word: Word) -> str:
        self._commands.line = word.line
        expansion = self._expansion()
        text = expansion.text(word)
        self._commands.report(expansion)
        return text

    def _redirected(self, node: Redirected) -> None:
        kept = self._shell.streams
        self._shell.streams = self._plumber.redirected(kept, node.redirects)
        try:
            self.run(node.node)
        finally:
            self._shell.streams = kept

    def _branches(self, arms: Sequence[Arm]) -> None:
        """Reads branches, each from the same variables; the last assignment wins afterwards."""
        changes: list[Changes] = []
        for arm in arms:
            with self._shell.branch(changes), self._flow.unsure():
                self.block(arm.check)
                self.block(arm.body)
        self._shell.adopt(changes)

    def _loop(self, node: For | CountingFor) -> None:
        if isinstance(node, For):
            self._loop_over(node)
        else:
            self._counting_loop(node)

    def _loop_over(self, node: For) -> None:
        if node.words is None:
            values = list(self._shell.arguments.positional)
            missing = tuple(part for parts in self._shell.arguments.missing for part in parts)
        else:
            expansion = self._expansion()
            self._commands.line = node.words[0].line if node.words else self._commands.line
            values = [value for word in node.words for value in expansion.fields(word)]
            self._commands.report(expansion)
            missing = tuple(expansion.missing)
        if not values:
            # Nothing known to go over, such as the script's arguments: read once all the same.
            self._shell.variables.assign(
                node.name, "", missing or (Missing(node.name, is_unseen=True),)
            )
            self._round(node.body)
        for value in values[:MAX_ROUNDS]:
            self._shell.variables.assign(node.name, value, missing)
            self._round(node.body)
        if len(values) > MAX_ROUNDS:
            self._too_many_rounds()

    def _too_many_rounds(self) -> None:
        values = {"limit": f"{MAX_ROUNDS} rounds"}
        self._record.find(Code.SHELL_TOO_MUCH, self._commands.line, values)

    def _round(self, body: Block) -> None:
        with self._flow.unsure():
            self.block(body)

    def _counting_loop(self, node: CountingFor) -> None:
        self._expansion().number(node.start)
        for count in range(MAX_ROUNDS):
            expansion = self._expansion()
            check = expansion.number(node.check) if node.check.parts else None
            is_known = check is not None and not expansion.missing
            if count and (check == 0 or not is_known):
                return
            if is_known and check == 0:
                return
            self._round(node.body)
            self._expansion().number(node.step)
        self._too_many_rounds()

    def _pipeline(self, item: Item) -> None:
        """Stages joined by pipes, each in a subshell; or one that runs in the background."""
        outer = self._shell.streams
        known = ""
        for index, node in enumerate(item.stages):
            behind = item.stages[index + 1 :]
            streams = Streams(outer.out, outer.err)
            if behind:
                target = self._dry_plumber.piped(behind, outer.out)
                is_both = item.pipes[index] == "|&"
                streams = Streams(target, target if is_both else outer.err)
            if known and isinstance(node, Simple):
                streams = streams._replace(stdin=known, stdin_line=node.line)
            self._shell.streams = streams
            known = self._printed(node) if behind else ""
            with self._shell.subshell(), self._flow.shell():
                self.run(node)

    def _printed(self, node: Node) -> str:
        """What a stage feeds to the next one, if that can be told: `echo`, `cat <<EOF`."""
        if not isinstance(node, Simple) or not prints_known(node):
            return ""
        directory = self._shell.directory
        return printed(node, self._dry_expansion(), self._dry_plumber, directory)[1] or ""

    def _dry_expansion(self) -> Expansion:
        shell = self._shell
        return Expansion(Bare(shell.variables, shell.arguments, self._budget))
