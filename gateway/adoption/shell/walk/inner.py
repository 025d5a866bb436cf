"""What a command runs in its place."""

from typing import NamedTuple


class Inner(NamedTuple):
    """What a wrapper runs: the words from `start` on, or the text of a script.

    `words` take the place of the words before `start` where they can't be found there. With
    `is_clean` nothing of the environment is handed on, `removed` are variables that are not.
    With `is_elsewhere` its output goes to a terminal of its own.
    """

    start: int
    words: tuple[str, ...] = ()
    script: str | None = None
    assignments: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    is_clean: bool = False
    log_files: tuple[str, ...] = ()
    is_nohup: bool = False
    is_elsewhere: bool = False
