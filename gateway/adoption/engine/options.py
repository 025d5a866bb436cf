"""What a word that begins with a dash stands for, as vLLM's parser takes it."""

from collections.abc import Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Final, NamedTuple

from gateway.adoption.engine.option_names import (
    ALIASES,
    ENDED,
    FLAGS,
    LISTS,
    OPTIONAL,
    SINGLE,
    SWITCHES,
    TREES,
)

_NEAR_ENOUGH: Final = 0.8
_LONGEST_NAME: Final = 64
_SECRETS: Final = frozenset(("api-key", "hf-token"))
_SECRET_WORDS: Final = ("key", "token", "secret", "passw")


class Takes(Enum):
    """How many of the following words belong to an option."""

    NOTHING = "nothing"
    ONE = "one"
    ONE_OR_NONE = "one_or_none"
    TREE = "tree"
    ALL = "all"


class Option(NamedTuple):
    """An option by its full name without dashes.

    `is_off` where it is written as --no-NAME, `is_old` where newer releases refuse the spelling.
    """

    name: str
    takes: Takes
    is_off: bool = False
    is_old: bool = False


def _takes() -> Mapping[str, Takes]:
    kinds = (
        (FLAGS | SWITCHES, Takes.NOTHING),
        (SINGLE, Takes.ONE),
        (OPTIONAL, Takes.ONE_OR_NONE),
        (TREES, Takes.TREE),
        (LISTS, Takes.ALL),
    )
    return {name: takes for names, takes in kinds for name in names}


_TAKES: Final[Mapping[str, Takes]] = _takes()


def _spellings() -> Mapping[str, Option]:
    full = {f"--{name}": Option(name, takes) for name, takes in _TAKES.items()}
    off = {f"--no-{name}": Option(name, Takes.NOTHING, is_off=True) for name in FLAGS}
    short = {spelling: Option(name, _TAKES[name]) for spelling, name in ALIASES.items()}
    return {**full, **off, **short}


_SPELLINGS: Final[Mapping[str, Option]] = _spellings()


def find_option(spelling: str) -> Option | None:
    """The option that is written so, with its dashes, or abbreviated so; None for no such.

    The parser is argparse, so a beginning that fits one option only stands for it (vLLM
    utils/argparse_utils.py does not forbid that). `--a_b` is `--a-b`.
    """
    if spelling.startswith("--"):
        spelling = spelling.replace("_", "-")
    exact = _SPELLINGS.get(spelling)
    if exact is not None or len(spelling) < 2 or spelling == "--":
        return exact
    fitting = {
        option
        for known, option in _SPELLINGS.items()
        if known.startswith(spelling) and option.name not in ENDED
    }
    return fitting.pop() if len(fitting) == 1 else None


def nearest(spelling: str) -> str:
    """The spelling that was probably meant by an unknown one; "" where none is near."""
    wanted = "--" + spelling.lstrip("-").replace("_", "-").lower()
    if len(wanted) > _LONGEST_NAME:
        return ""
    found = get_close_matches(wanted, _SPELLINGS, n=1, cutoff=_NEAR_ENOUGH)
    return found[0] if found else ""


def is_secret(name: str) -> bool:
    """Whether what follows the option of that name, known to vLLM or not, must not be shown."""
    name = name.lstrip("-")
    if name in _TAKES:
        return name in _SECRETS
    return any(word in name.lower() for word in _SECRET_WORDS)
