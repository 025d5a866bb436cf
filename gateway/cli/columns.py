"""Rows of text in columns; Chinese signs are two columns wide."""

import unicodedata
from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """The rows with their columns below each other; all rows have as many cells."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell + " " * (most - width(cell)) for cell, most in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)
