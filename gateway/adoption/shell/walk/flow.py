"""Where a script certainly ends: `exit`, `return` and `exec` that no condition stands before."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress


class _ShellExit(Exception):  # noqa: N818 - it is no error
    """The script ends here."""


class _FunctionReturn(Exception):  # noqa: N818 - it is no error
    """The function ends here."""


class Flow:
    """Counts the constructs around a command of which it is not known whether they are run."""

    def __init__(self) -> None:
        self._conditions = 0
        # How many there were where each of the functions was called that are run now.
        self._entered: list[int] = []

    def __repr__(self) -> str:
        return f"Flow(conditions={self._conditions}, calls={len(self._entered)})"

    @contextmanager
    def unsure(self) -> Iterator[None]:
        """What is done in it may not be run, or more than once."""
        self._conditions += 1
        try:
            yield
        finally:
            self._conditions -= 1

    @contextmanager
    def function(self) -> Iterator[None]:
        """A call of a function, which `return` ends."""
        self._entered.append(self._conditions)
        try:
            with suppress(_FunctionReturn):
                yield
        finally:
            self._entered.pop()

    @contextmanager
    def shell(self) -> Iterator[None]:
        """A script or a subshell, which `exit` ends."""
        with suppress(_ShellExit):
            yield

    def leave(self, *, is_function: bool) -> None:
        """Ends the function or the script, if it is certain that bash gets here.

        Nothing is certain within a function that is left by a condition of its caller, except its
        own end.
        """
        if is_function and self._entered:
            if self._conditions == self._entered[-1]:
                raise _FunctionReturn
        elif not self._conditions:
            raise _ShellExit
