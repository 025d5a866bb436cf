"""`export`, `declare`, `local` and `readonly`."""

from collections.abc import Callable, Sequence

from gateway.adoption.shell.syntax import Assignment, Chars, Word
from gateway.adoption.shell.variables import Variable
from gateway.adoption.shell.walk.builtins import Argument
from gateway.adoption.shell.walk.shell import Shell


def declare(
    shell: Shell,
    words: Sequence[Argument | Assignment],
    assign: Callable[[Assignment], None],
) -> list[str]:
    """Carries out a declaration; returns the names that it declares."""
    command = words[0].text if isinstance(words[0], Argument) else ""
    set_on, set_off = ("x", "") if command == "export" else ("", "")
    names: list[str] = []
    for word in words[1:]:
        if isinstance(word, Argument) and word.text[:1] in {"-", "+"}:
            if word.text[0] == "-":
                set_on += word.text[1:]
            else:
                set_off += word.text[1:]
            continue
        assignment = word if isinstance(word, Assignment) else _assignment(word)
        name = assignment.name if assignment else _name(word)
        # -f is about functions, -p prints.
        if not name or "f" in set_on or "p" in set_on:
            continue
        names.append(name)
        if command == "local" or (command in {"declare", "typeset"} and "g" not in set_on):
            _make_local(shell, name)
        is_exported = None
        if "x" in set_on or "x" in set_off:
            is_exported = "x" not in set_off and not (command == "export" and "n" in set_on)
        shell.variables.declare(
            name, is_exported=is_exported, is_keyed="A" in set_on, is_array="a" in set_on
        )
        if assignment:
            assign(assignment)
    return names


def _name(word: Argument | Assignment) -> str:
    name = word.text if isinstance(word, Argument) else word.name
    return name if name.isidentifier() and name.isascii() else ""


def _assignment(word: Argument) -> Assignment | None:
    """The assignment that a word is which was quoted or made by an expansion."""
    name, sign, text = word.text.partition("=")
    is_append = name.endswith("+")
    name = name.removesuffix("+")
    if not sign or not name.isidentifier() or not name.isascii():
        return None
    value = Word((Chars(text, is_quoted=True),), word.line)
    return Assignment(name, word.line, value, is_append=is_append)


def _make_local(shell: Shell, name: str) -> None:
    """Hides a variable until the function ends; one that is exported stays so."""
    if not shell.locals or name in shell.locals[-1]:
        return
    old = shell.variables.get(name)
    shell.locals[-1][name] = old
    shell.variables.put(name, Variable(is_exported=old is not None and old.is_exported))
