"""Builtins that change the shell; none of them is a command of its own."""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from gateway.adoption.shell.expansion.arithmetic import CalculationError, calculate
from gateway.adoption.shell.expansion.expand import Expansion
from gateway.adoption.shell.expansion.fields import Kind, Piece, split_fields
from gateway.adoption.shell.expansion.values import Arguments
from gateway.adoption.shell.missing import Missing
from gateway.adoption.shell.variables import Variable
from gateway.adoption.shell.walk.outputs import printed_format
from gateway.adoption.shell.walk.shell import Shell

# They change nothing that is followed here, and launch nothing.
QUIET: Final = frozenset(
    {
        ":",
        "true",
        "false",
        "[",
        "test",
        "trap",
        "break",
        "continue",
        "hash",
        "umask",
        "ulimit",
        "times",
        "jobs",
        "bg",
        "fg",
        "disown",
        "enable",
        "bind",
        "complete",
        "compgen",
        "history",
        "caller",
        "suspend",
        "logout",
        "dirs",
        "help",
        "fc",
    }
)


class Argument(NamedTuple):
    """A word of a command after expansion: its line, and what had no value in it."""

    text: str
    line: int = 0
    missing: tuple[Missing, ...] = ()


class Call(NamedTuple):
    """A builtin's words behind its name, in the shell that it changes."""

    shell: Shell
    words: tuple[Argument, ...]
    expansion: Expansion

    @property
    def texts(self) -> list[str]:
        """The words."""
        return [word.text for word in self.words]


Builtin = Callable[[Call], None]


def _unseen(name: str) -> tuple[Missing, ...]:
    return (Missing(name, is_unseen=True),)


def _operands(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word.startswith(("-", "+"))]


def _cd(call: Call) -> None:
    shell = call.shell
    targets = [word for word in call.words if word.text == "-" or not word.text.startswith("-")]
    if not targets:
        path = shell.variables.text("HOME") or "~"
        missing: tuple[Missing, ...] = ()
    elif targets[0].text == "-":
        path = shell.variables.text("OLDPWD") or "."
        missing = ()
    else:
        path, missing = targets[0].text or ".", targets[0].missing
    if not path.startswith("~"):
        path = posixpath.normpath(posixpath.join(shell.directory, path))
    shell.variables.put("OLDPWD", Variable(shell.directory))
    shell.variables.put("PWD", Variable(path, missing=missing))


def _popd(call: Call) -> None:
    back = call.shell.variables.text("OLDPWD")
    call.shell.variables.put("PWD", Variable(back or "."))


def _set(call: Call) -> None:
    words = list(call.words)
    while words and words[0].text[:1] in {"-", "+"}:
        option = words.pop(0).text
        if option in {"-", "--"}:
            _set_arguments(call.shell, words)
            return
        name = words.pop(0).text if option[1:].endswith("o") and words else ""
        if "a" in option[1:] or name == "allexport":
            call.shell.variables.exports_all = option[0] == "-"
    if words:
        _set_arguments(call.shell, words)


def _set_arguments(shell: Shell, words: Sequence[Argument]) -> None:
    shell.arguments = Arguments(
        shell.arguments.name,
        tuple(word.text for word in words),
        tuple(word.missing for word in words),
    )


def _shift(call: Call) -> None:
    count = call.texts[0] if call.texts else "1"
    if count.isdigit() and len(count) < len("12345"):
        call.shell.arguments = call.shell.arguments.shifted(int(count))


def _unset(call: Call) -> None:
    for name in _operands(call.texts):
        if "-f" in call.texts or call.shell.variables.get(name) is None:
            call.shell.functions.put(name, None)
        else:
            call.shell.variables.journal.put(name, None)


def _shopt(call: Call) -> None:
    if "expand_aliases" in call.texts:
        call.shell.expands_aliases = "-s" in call.texts


def _alias(call: Call) -> None:
    for word in call.texts:
        name, sign, value = word.partition("=")
        if sign:
            call.shell.aliases.put(name, value)


def _unalias(call: Call) -> None:
    for name in call.texts:
        call.shell.aliases.put(name, None)


def _let(call: Call) -> None:
    for word in call.texts:
        try:
            calculate(word, call.expansion)
        except CalculationError:
            call.expansion.refused[f"let {word}"] = None


def _read(call: Call) -> None:
    """`read NAME...`: known only if the script itself feeds it."""
    names: list[str] = []
    skips_next = False
    is_array = False
    for word in call.texts:
        if skips_next:
            skips_next = False
        elif word.startswith("-"):
            is_array = is_array or "a" in word
            skips_next = word[-1] in "pdnNtui"
        else:
            names.append(word)
    names = names or ["REPLY"]
    line = call.shell.streams.stdin.partition("\n")[0]
    ifs = call.shell.variables.text("IFS")
    fields = split_fields([Piece(line, Kind.SPLIT)], " \t\n" if ifs is None else ifs)
    if is_array:
        items = {str(index): text for index, text in enumerate(fields)}
        call.shell.variables.assign_array(names[0], items, () if line else _unseen(names[0]))
        return
    for index, name in enumerate(names):
        # The last name gets the rest; what parted it is a blank in nearly all scripts.
        text = " ".join(fields[index:]) if index == len(names) - 1 else "".join(fields[index:][:1])
        call.shell.variables.assign(name, text, () if line else _unseen(name))


def _mapfile(call: Call) -> None:
    names = _operands(call.texts)
    name = names[-1] if names else "MAPFILE"
    lines = call.shell.streams.stdin.splitlines()
    items = {str(index): line for index, line in enumerate(lines)}
    call.shell.variables.assign_array(name, items, () if lines else _unseen(name))


def _getopts(call: Call) -> None:
    if len(call.texts) > 1:
        call.shell.variables.assign(call.texts[1], "", _unseen(call.texts[1]))
        call.shell.variables.assign("OPTARG", "", _unseen("OPTARG"))


def _printf(call: Call) -> None:
    """`printf -v NAME FORMAT ...`."""
    name, words = call.texts[1], call.texts[2:]
    text = printed_format(words)
    missing = tuple(part for word in call.words for part in word.missing)
    call.shell.variables.assign(name, text or "", missing if text is not None else _unseen(name))


BUILTINS: Final[Mapping[str, Builtin]] = MappingProxyType(
    {
        "cd": _cd,
        "pushd": _cd,
        "popd": _popd,
        "set": _set,
        "shift": _shift,
        "unset": _unset,
        "shopt": _shopt,
        "alias": _alias,
        "unalias": _unalias,
        "let": _let,
        "read": _read,
        "mapfile": _mapfile,
        "readarray": _mapfile,
        "getopts": _getopts,
    }
)


def builtin_of(words: Sequence[str]) -> Builtin | None:
    """The builtin that a command line calls, if it is one that changes the shell."""
    if words[0] == "printf" and words[1:2] == ["-v"] and len(words) > len(("printf", "-v", "X")):
        return _printf
    return BUILTINS.get(words[0])
