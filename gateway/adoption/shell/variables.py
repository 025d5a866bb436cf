"""The variables of a shell: values, arrays, and which part of a value is not known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from gateway.adoption.shell.budget import MAX_VALUE_CHARS, MAX_VARIABLES, TooMuchError
from gateway.adoption.shell.journal import Journal
from gateway.adoption.shell.missing import Missing, assigned_to

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable. `text` is None while it is declared only; `items` is not None for an array.

    `missing` is what has no value in it. `is_keyed` is an associative array, whose items keep the
    order in which they came.
    """

    text: str | None = None
    items: Mapping[str, str] | None = None
    is_keyed: bool = False
    is_exported: bool = False
    missing: tuple[Missing, ...] = ()

    @property
    def value(self) -> str | None:
        """What `$name` is: of an array the item 0."""
        return self.text if self.items is None else self.items.get("0")

    def values(self) -> list[str]:
        """All items of an array in their order; a plain value is its only item."""
        if self.items is None:
            return [] if self.text is None else [self.text]
        return [self.items[key] for key in self.keys()]

    def keys(self) -> list[str]:
        """The subscripts of the items."""
        if self.items is None:
            return [] if self.text is None else ["0"]
        return list(self.items) if self.is_keyed else sorted(self.items, key=int)


class Variables:
    """All variables of a shell by name."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.journal: Journal[Variable] = Journal(
            {name: Variable(text, is_exported=True) for name, text in environment.items()}
        )
        self.exports_all = False

    def __repr__(self) -> str:
        return f"Variables({self.journal!r})"

    def get(self, name: str) -> Variable | None:
        """A variable that was declared or set."""
        return self.journal.get(name)

    def text(self, name: str) -> str | None:
        """The value of a variable; None if it has none."""
        variable = self.get(name)
        return variable.value if variable else None

    def put(self, name: str, variable: Variable) -> None:
        """Sets a variable with all that belongs to it; raises TooMuchError beyond the limits."""
        size = len(variable.text or "") + sum(map(len, (variable.items or _NOTHING).values()))
        if size > MAX_VALUE_CHARS:
            raise TooMuchError(f"{MAX_VALUE_CHARS} characters in {name}")
        if len(self.journal) >= MAX_VARIABLES and self.get(name) is None:
            raise TooMuchError(f"{MAX_VARIABLES} variables")
        self.journal.put(name, variable)

    def assign(self, name: str, text: str, missing: Iterable[Missing] = ()) -> None:
        """`name=text`; of an array the item 0."""
        old = self.get(name) or Variable()
        is_exported = old.is_exported or self.exports_all
        new = replace(old, is_exported=is_exported, missing=assigned_to(name, missing))
        if old.items is None:
            self.put(name, replace(new, text=text))
        else:
            self.put(name, replace(new, items={**old.items, "0": text}))

    def assign_array(self, name: str, items: Mapping[str, str], missing: Iterable[Missing]) -> None:
        """`name=(...)`."""
        old = self.get(name) or Variable()
        new = replace(old, text=None, items=dict(items), missing=assigned_to(name, missing))
        self.put(name, new)

    def assign_item(self, name: str, key: str, text: str, missing: Iterable[Missing]) -> None:
        """`name[key]=text`."""
        old = self.get(name) or Variable()
        before = old.items
        if before is None:
            before = {} if old.text is None else {"0": old.text}
        found = tuple(dict.fromkeys((*old.missing, *assigned_to(name, missing))))
        self.put(name, replace(old, text=None, items={**before, key: text}, missing=found))

    def declare(
        self,
        name: str,
        *,
        is_exported: bool | None = None,
        is_keyed: bool = False,
        is_array: bool = False,
    ) -> None:
        """`declare`, `export` and the like without a value; None leaves the export as it is."""
        old = self.get(name) or Variable()
        items = old.items
        if items is None and (is_keyed or is_array):
            items = {} if old.text is None else {"0": old.text}
        exported = old.is_exported if is_exported is None else is_exported
        keyed = old.is_keyed or is_keyed
        text = None if items is not None else old.text
        self.put(name, replace(old, text=text, items=items, is_exported=exported, is_keyed=keyed))

    def environment(self) -> tuple[Mapping[str, str], tuple[Missing, ...]]:
        """What a command gets, and what is missing in it.

        A variable of whose value nothing is known is left out: its being there with an empty value
        would say something.
        """
        found: dict[str, str] = {}
        missing: dict[Missing, None] = {}
        for name in self.journal:
            variable = self.get(name)
            if variable is None or not variable.is_exported or variable.text is None:
                continue
            if variable.missing and not variable.text:
                missing.update(dict.fromkeys(variable.missing))
            else:
                found[name] = variable.text
        return found, tuple(missing)
