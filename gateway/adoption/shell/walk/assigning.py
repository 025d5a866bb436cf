"""Carries out assignments: plain ones, `+=`, arrays and their items."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gateway.adoption.shell.budget import MAX_STEPS
from gateway.adoption.shell.expansion.expand import Expansion
from gateway.adoption.shell.missing import Missing
from gateway.adoption.shell.syntax import Assignment, Element, Word
from gateway.adoption.shell.variables import Variable, Variables

# More items than this are not kept apart; no script has them.
_MAX_INDEX = MAX_STEPS


class Assigned(NamedTuple):
    """A name with the value it got, as it is put in front of a command."""

    name: str
    text: str
    missing: tuple[Missing, ...]


class Assigner:
    """Sets variables; `expansion` gives a new expansion of which it is told what had no value."""

    def __init__(self, variables: Variables, expansion: Callable[[], Expansion]) -> None:
        self._variables = variables
        self._expansion = expansion

    def __repr__(self) -> str:
        return f"Assigner({self._variables!r})"

    def evaluated(self, assignment: Assignment) -> tuple[Assigned, Expansion]:
        """The value of `name=value` or `name+=value`, without setting it."""
        expansion = self._expansion()
        text = expansion.assigned(assignment.value or Word(()))
        if assignment.is_append:
            old = self._variables.get(assignment.name) or Variable()
            text = (old.value or "") + text
            expansion.missing.update(dict.fromkeys(old.missing))
        return Assigned(assignment.name, text, tuple(expansion.missing)), expansion

    def assign(self, assignment: Assignment) -> Expansion:
        """Sets a variable, and returns how its value was made."""
        if assignment.elements is not None:
            return self._assign_array(assignment, assignment.elements)
        variable = self._variables.get(assignment.name)
        subscript = assignment.subscript
        if subscript is None and (variable is None or variable.items is None):
            assigned, expansion = self.evaluated(assignment)
            self._variables.assign(*assigned)
            return expansion
        expansion = self._expansion()
        key = "0" if subscript is None else self._key(assignment.name, subscript, expansion)
        text = expansion.assigned(assignment.value or Word(()))
        if assignment.is_append and variable is not None and variable.items is not None:
            text = variable.items.get(key, "") + text
        self._variables.assign_item(assignment.name, key, text, tuple(expansion.missing))
        return expansion

    def _key(self, name: str, subscript: Word, expansion: Expansion) -> str:
        key = expansion.subscript(name, subscript)
        variable = self._variables.get(name)
        if not key.startswith("-") or (variable is not None and variable.is_keyed):
            return key
        keys = list(map(int, variable.keys())) if variable else []
        return str(max(0, max(keys, default=-1) + 1 + int(key)))

    def _assign_array(self, assignment: Assignment, elements: Sequence[Element]) -> Expansion:
        expansion = self._expansion()
        old = self._variables.get(assignment.name) or Variable()
        items: dict[str, str] = {}
        if assignment.is_append:
            items = dict(zip(old.keys(), old.values(), strict=True))
            expansion.missing.update(dict.fromkeys(old.missing))
        index = 0 if old.is_keyed else max((int(key) for key in items), default=-1) + 1
        for subscript, word in elements:
            if subscript is not None:
                key = expansion.subscript(assignment.name, subscript)
                items[key] = expansion.assigned(word)
                index = _index_after(key, index)
                continue
            for text in expansion.fields(word):
                items[str(index)] = text
                index += 1
        self._variables.assign_array(assignment.name, items, tuple(expansion.missing))
        return expansion


def _index_after(key: str, index: int) -> int:
    return int(key) + 1 if key.isdigit() and len(key) < len(str(_MAX_INDEX)) else index
