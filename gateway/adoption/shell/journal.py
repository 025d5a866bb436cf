"""Mappings that can be taken back to how they were, for what happens in a subshell or a branch."""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Journal(Generic[Value]):
    """Names with values. Between `begin` and `undo` it keeps what changes replaced."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(values)
        self._replaced: list[dict[str, Value | None]] = []

    def __repr__(self) -> str:
        return f"Journal({self._values!r}, depth={len(self._replaced)})"

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._values))

    def get(self, name: str) -> Value | None:
        """The value of a name; None if it has none."""
        return self._values.get(name)

    def put(self, name: str, value: Value | None) -> None:
        """Gives a name another value; None takes it away."""
        if self._replaced:
            self._replaced[-1].setdefault(name, self._values.get(name))
        if value is None:
            self._values.pop(name, None)
        else:
            self._values[name] = value

    def begin(self) -> None:
        """Remembers how everything is, until `undo`."""
        self._replaced.append({})

    def undo(self) -> Mapping[str, Value | None]:
        """Makes everything as it was at the last `begin`; returns what is lost by that."""
        replaced = self._replaced.pop()
        lost = {name: self._values.get(name) for name in replaced}
        for name, value in replaced.items():
            if value is None:
                self._values.pop(name, None)
            else:
                self._values[name] = value
        return lost
