"""Numbers as they stand on a command line."""

import math
import re
from typing import Final

_LONGEST: Final = 32
_HUMAN: Final = re.compile(r"(\d+(?:\.\d+)?)([kKmMgGtT])")
_POWERS: Final = "kmgt"


def whole_number(text: str) -> int | None:
    """A plain whole number, None for anything else."""
    if len(text) > _LONGEST:
        return None
    try:
        return int(text)
    except ValueError:
        return None


def human_number(text: str) -> int | None:
    """A whole number that may end in k, m, g, t (powers of 1000) or K, M, G, T (of 1024).

    Only the small letters allow decimals: 25.6k is 25600. From vLLM utils/argparse_utils.py.
    """
    text = text.strip()
    match = _HUMAN.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return whole_number(text)
    number, letter = match.groups()
    power = _POWERS.index(letter.lower()) + 1
    if letter.islower():
        return int(float(number) * 1000**power)
    return None if "." in number else int(number) * 1024**power


def decimal_number(text: str) -> float | None:
    """A finite decimal number, None for anything else."""
    if len(text) > _LONGEST:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
