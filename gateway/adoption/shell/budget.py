"""How much one script may make of itself, so that none can take the reader's time or memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MAX_TEXT_CHARS: Final = 1024 * 1024
MAX_COMMANDS: Final = 2000
MAX_STEPS: Final = 20_000
MAX_EXPANDED_CHARS: Final = 16 * 1024 * 1024
MAX_VALUE_CHARS: Final = 256 * 1024
MAX_VARIABLES: Final = 1000
MAX_DEPTH: Final = 24
MAX_ROUNDS: Final = 256
MAX_SYNTAX_ERRORS: Final = 20
MAX_FINDINGS: Final = 1000


class TooMuchError(Exception):
    """A limit is reached, `limit` names it; what comes after the command may still be read."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class ExhaustedError(TooMuchError):
    """A limit of the script as a whole is reached: reading ends."""


class Budget:
    """What is left of the limits."""

    def __init__(self) -> None:
        self._steps = MAX_STEPS
        self._chars = MAX_EXPANDED_CHARS
        self._depth = 0

    def __repr__(self) -> str:
        return f"Budget(steps={self._steps}, chars={self._chars}, depth={self._depth})"

    @property
    def depth(self) -> int:
        """How many constructs stand around what is read now."""
        return self._depth

    def step(self) -> None:
        """One simple command more."""
        self._steps -= 1
        if self._steps < 0:
            raise ExhaustedError(f"{MAX_STEPS} steps")

    def spend(self, chars: int) -> None:
        """So many characters more that come from expansions."""
        self._chars -= chars
        if self._chars < 0:
            raise ExhaustedError(f"{MAX_EXPANDED_CHARS} characters")

    @contextmanager
    def level(self) -> Iterator[None]:
        """One construct deeper."""
        if self._depth >= MAX_DEPTH:
            raise TooMuchError(f"depth {MAX_DEPTH}")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
