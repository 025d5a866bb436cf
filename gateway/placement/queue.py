"""Who waits for a model, in order: a plain data structure without time or tasks of its own."""

from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class WaitingLine(Generic[T]):
    """A bounded line, first come, first served.

    A place is given up by `leave` from anywhere in the line; nobody overtakes.
    """

    __slots__ = ("_max", "_places")

    def __init__(self, max_requests: int) -> None:
        self._max = max_requests
        self._places: dict[T, None] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[T]:
        return iter(self._places)

    def __repr__(self) -> str:
        return f"<WaitingLine {len(self)} of {self._max}>"

    def join(self, one: T) -> bool:
        """Takes the last place; false if the line is full."""
        if len(self._places) >= self._max:
            return False
        self._places[one] = None
        return True

    def leave(self, one: T) -> None:
        """Gives the place up; does nothing for one that has none."""
        self._places.pop(one, None)

    @property
    def first(self) -> T | None:
        """Whose turn it is."""
        return next(iter(self._places), None)
