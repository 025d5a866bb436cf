"""What a name in `$name` stands for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.adoption.shell.missing import Missing
from gateway.adoption.shell.variables import Variables

# Shown for what every shell has and a script does not say, as `~` stands for the home directory.
STAND_INS: Final[Mapping[str, str]] = {"HOME": "~", "PWD": "."}


@dataclass(frozen=True, slots=True)
class Resolved:
    """The values of a parameter.

    `is_list` is "$@" or an array with [@], `is_joined` "$*" or an array with [*]. `missing` names
    what has no value in it.
    """

    values: tuple[str, ...] = ()
    is_set: bool = True
    is_list: bool = False
    is_joined: bool = False
    missing: tuple[Missing, ...] = ()

    @property
    def text(self) -> str:
        """The values in one."""
        return " ".join(self.values)


@dataclass(frozen=True, slots=True)
class Arguments:
    """`$0` and the positional arguments; `missing` says what has no value in each of them."""

    name: str
    positional: tuple[str, ...] = ()
    missing: tuple[tuple[Missing, ...], ...] = ()

    def shifted(self, count: int) -> "Arguments":
        """Without the first `count`."""
        return Arguments(self.name, self.positional[count:], self.missing[count:])


def special(name: str, arguments: Arguments) -> Resolved | None:
    """The value of `$1`, `$@`, `$#` and the like; None for a variable."""
    if name in {"@", "*"}:
        missing = tuple(part for parts in arguments.missing for part in parts)
        is_set = bool(arguments.positional)
        return Resolved(arguments.positional, is_set, name == "@", name == "*", missing)
    if name == "#":
        return Resolved((str(len(arguments.positional)),))
    if name == "?":
        return Resolved(("0",))
    if name == "-":
        return Resolved(("",))
    if name in {"$", "!"}:
        return Resolved(("",), False, missing=(Missing(name),))
    if not name.isdigit():
        return None
    index = int(name[:9])
    if index == 0:
        return Resolved((arguments.name,))
    if index <= len(arguments.positional):
        missing = arguments.missing[index - 1] if index <= len(arguments.missing) else ()
        return Resolved((arguments.positional[index - 1],), missing=missing)
    return Resolved(("",), False, missing=(Missing(name),))


def whole(name: str, variables: Variables, *, is_joined: bool) -> Resolved:
    """All items of an array.

    One that was never set has no items, which is not a missing value: arrays can't come from
    outside of the script.
    """
    variable = variables.get(name)
    if variable is None:
        return Resolved((), False, not is_joined, is_joined)
    values = tuple(variable.values())
    return Resolved(values, bool(values), not is_joined, is_joined, variable.missing)


def item(name: str, key: str, variables: Variables) -> Resolved:
    """One item of an array, which may be an associative one."""
    variable = variables.get(name)
    if variable is None:
        return Resolved(("",), False, missing=(Missing(name),))
    if variable.items is None:
        return scalar(name, variables) if key in {"0", "-1"} else Resolved(("",), False)
    if key.startswith("-") and not variable.is_keyed:
        keys = variable.keys()
        key = str(int(max(keys, key=int)) + 1 + int(key)) if keys else key
    value = variable.items.get(key)
    missing = variable.missing or ((Missing(f"{name}[{key}]"),) if value is None else ())
    return Resolved((value or "",), value is not None, missing=missing)


def scalar(name: str, variables: Variables) -> Resolved:
    """The value of a variable; the item 0 of an array."""
    variable = variables.get(name)
    value = variable.value if variable else None
    if variable is None or value is None:
        missing = (variable.missing if variable else ()) or (Missing(name),)
        return Resolved((STAND_INS.get(name, ""),), False, missing=missing)
    return Resolved((value,), True, missing=variable.missing)
