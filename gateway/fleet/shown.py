"""A server's own text made safe to be shown to people."""

from typing import Final

MOST_CHARS: Final = 200
"""What is shown of a text; a path of a model is rarely half as long."""


def shown(text: str) -> str:
    """The text in one line: blanks for what can't be printed, and an end where it is too long."""
    line = "".join(ch if ch.isprintable() else " " for ch in text[: MOST_CHARS + 1]).strip()
    return line if len(line) <= MOST_CHARS else f"{line[: MOST_CHARS - 3]}..."
