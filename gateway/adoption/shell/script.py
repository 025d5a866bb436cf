"""Shell scripts read as bash would run them: which commands do they launch, and with what?

Nothing is run and nothing outside of the text is looked at. Where bash decides by what it finds
(conditions, the output of commands), every way is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.shell.budget import MAX_TEXT_CHARS, Budget, TooMuchError
from gateway.adoption.shell.expansion.values import Arguments
from gateway.adoption.shell.source_text import source_text
from gateway.adoption.shell.walk.builtins import Argument
from gateway.adoption.shell.walk.launching import Launching
from gateway.adoption.shell.walk.record import Command, Record
from gateway.adoption.shell.walk.shell import Shell
from gateway.adoption.shell.walk.streams import Streams
from gateway.adoption.shell.walk.walker import Walker

__all__ = ["Command", "Script", "read_argv", "read_script"]

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Script:
    """What a script launches, in the order in which it does, and what was noticed."""

    commands: tuple[Command, ...]
    findings: tuple[Finding, ...]


def read_script(
    text: str,
    file: str,
    *,
    environment: Mapping[str, str] = _NOTHING,
    first_line: int = 1,
    positional: tuple[str, ...] = (),
) -> Script:
    """The commands of a script; never raises.

    `environment` is what the script is given, `positional` are its arguments, `first_line` is the
    number of the text's first line in `file`. Listed are commands only, not the builtins that
    change the shell, which are carried out here. The texts of `bash -c`, `bash <<EOF`, `eval`,
    `su -c`, `tmux` and the like are read in their place, so these are not listed. What is fed to
    others, as in `docker exec -i NAME bash <<EOF`, is their `stdin_script`. Conditions are not
    decided: every branch is read, a loop over known words once for each, others once. Bounded as
    said in `budget`; where that ends reading, the finding SHELL_TOO_MUCH tells so.
    """
    source = source_text(text)
    record = Record(file)
    if source.dos_line:
        record.find(Code.LINE_ENDS_DOS, first_line + source.dos_line - 1, _NOTHING)
    shell = Shell(environment, Arguments(file, positional), {})
    last_line = first_line + source.text.count("\n")
    if source.is_cut:
        values = {"limit": f"{MAX_TEXT_CHARS} characters"}
        record.find(Code.SHELL_TOO_MUCH, last_line, values)
    try:
        Walker(shell, record, Budget()).read_script(source.text, first_line)
    except TooMuchError as error:
        record.find(Code.SHELL_TOO_MUCH, last_line, {"limit": error.limit})
    return Script(record.commands, record.findings)


def read_argv(
    argv: Sequence[str],
    file: str,
    *,
    environment: Mapping[str, str] = _NOTHING,
    line: int = 0,
    stdin_script: str = "",
    stdin_line: int = 0,
) -> Script:
    """The commands of a command line that is split already; never raises.

    For what another command runs, such as `bash -lc '...'` behind `docker exec NAME`: wrappers are
    taken off and inner scripts are read as in `read_script`. The words are not expanded again.
    """
    record = Record(file)
    shell = Shell(environment, Arguments(file), {})
    launching = Launching(
        tuple(Argument(word, line) for word in argv),
        environment,
        Streams(stdin=stdin_script, stdin_line=stdin_line),
    )
    try:
        if argv:
            Walker(shell, record, Budget()).launch(launching)
    except TooMuchError as error:
        record.find(Code.SHELL_TOO_MUCH, line, {"limit": error.limit})
    return Script(record.commands, record.findings)
