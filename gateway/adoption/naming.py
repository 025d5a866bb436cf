"""What backends are called: by what they serve, each by a name of its own."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_FOREIGN: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST: Final = 60
_NAMELESS: Final = "backend"


class Served(NamedTuple):
    """What a backend serves: the name clients ask for, the model's path, whether it runs eager."""

    name: str
    path: str
    is_eager: bool


def names_for(backends: Sequence[Served]) -> tuple[str, ...]:
    """A name for each: letters, digits, dot, hyphen and underscore, different beyond case.

    An eager one gets -eager beside one with graphs of the same name, then -2, -3 tell them apart.
    """
    plain = [_plain(one.name) or _plain(one.path) or _NAMELESS for one in backends]
    with_graphs = {
        name.casefold() for name, one in zip(plain, backends, strict=True) if not one.is_eager
    }
    taken: set[str] = set()
    names: list[str] = []
    for name, one in zip(plain, backends, strict=True):
        is_twin = one.is_eager and name.casefold() in with_graphs
        names.append(_free(f"{name}-eager" if is_twin else name, taken))
        taken.add(names[-1].casefold())
    return tuple(names)


def _plain(text: str) -> str:
    last = text.rstrip("/").rsplit("/", 1)[-1]
    return _FOREIGN.sub("-", last).strip("-._")[:_LONGEST].rstrip("-._")


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free.casefold() in taken:
        number += 1
        free = f"{name}-{number}"
    return free
