"""Which fault strikes which backend in which order: drawn from a seed, pure."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tests.chaos.fleet import SMALL, Member
from tests.chaos.kinds import KINDS, Kind


@dataclass(frozen=True, slots=True)
class Part:
    """One fault at one backend."""

    kind: Kind
    victim: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens at once."""

    name: str
    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return ", ".join(f"{part.kind.name} at {part.victim}" for part in self.parts)


REFUSE_AND_CUT: Final = "refuse_prefill+cut_rst"
PAIRS: Final = (
    ("kill9", "cut_rst"),
    ("kill9", "hang"),
    ("sigstop", "status_500"),
    ("engine_dead", "cut_clean"),
)
"""Faults that strike two backends at once."""
NAMES: Final = (
    *(name for name in KINDS if name != "refuse_prefill"),
    *("+".join(pair) for pair in PAIRS),
    REFUSE_AND_CUT,
)
SHORT_NAMES: Final = (
    "kill9",
    "sigterm_abort",
    "hang",
    "cut_rst",
    "cut_clean",
    "engine_dead",
    "status_429",
    "kill9+cut_rst",
    REFUSE_AND_CUT,
)


def rounds(seed: int, names: Iterable[str], members: Sequence[Member]) -> Iterator[Plan]:
    """Endless plans: all of `names` in one order, then in another, ...; nothing without names."""
    rng = random.Random(f"plans {seed}")
    order = list(names)
    while order:
        rng.shuffle(order)
        for name in order:
            yield _plan(name, members, rng)


def capable(plan: Plan, members: Iterable[Member], model: str) -> list[str]:
    """The backends of `model` that the plan leaves capable."""
    struck = {part.victim for part in plan.parts if part.kind.is_disabling}
    return [m.name for m in members if m.model == model and m.name not in struck]


def _plan(name: str, members: Sequence[Member], rng: random.Random) -> Plan:
    if name == REFUSE_AND_CUT:
        return _refuse_and_cut(members, rng)
    parts: list[Part] = []
    for kind in (KINDS[one] for one in name.split("+")):
        parts.append(Part(kind, rng.choice(_possible(kind, parts, members))))
    return Plan(name, tuple(parts))


def _possible(kind: Kind, parts: Sequence[Part], members: Sequence[Member]) -> list[str]:
    """Who may be struck as well: each model keeps a capable backend."""
    struck = {part.victim for part in parts}
    found = []
    for member in members:
        others = [m for m in members if m.model == member.model and m.name != member.name]
        is_fit = member.is_graph or kind.is_on_eager_too
        if is_fit and member.name not in struck and any(m.name not in struck for m in others):
            found.append(member.name)
    return found


def _refuse_and_cut(members: Sequence[Member], rng: random.Random) -> Plan:
    """Streams of one backend are cut, and no other one takes a chat that is to be continued."""
    own = [member for member in members if member.model == SMALL]
    victim = rng.choice([member.name for member in own if member.is_graph])
    refusing = [Part(KINDS["refuse_prefill"], m.name) for m in own if m.name != victim]
    return Plan(REFUSE_AND_CUT, (*refusing, Part(KINDS["cut_rst"], victim)))
