"""Surroundings in which words are expanded and nothing runs."""

from gateway.adoption.shell.budget import Budget
from gateway.adoption.shell.expansion.expand import Output
from gateway.adoption.shell.expansion.values import Arguments
from gateway.adoption.shell.missing import Missing
from gateway.adoption.shell.syntax import Process, Substitution
from gateway.adoption.shell.variables import Variables


class Bare:
    """Variables and arguments without a shell: the output of commands is never known."""

    def __init__(self, variables: Variables, arguments: Arguments, budget: Budget) -> None:
        self.variables = variables
        self.arguments = arguments
        self.budget = budget

    def __repr__(self) -> str:
        return f"Bare({self.variables!r})"

    def substitute(self, substitution: Substitution) -> Output:
        """No output, since nothing runs."""
        return Output("", (Missing(substitution.text, is_unseen=True),))

    def connect(self, process: Process) -> None:
        """Nothing, since nothing runs."""
