"""What is reloaded, in which order, drawn by a seed. Pure, and made before the run begins."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar

from gateway.config.load import load_text
from tests.storm import breakage
from tests.storm.fleet import GUESTS, Ports, Shape, routing_text, serving

T = TypeVar("T")


class Writer(StrEnum):
    """How the file is changed on disk."""

    ATOMIC = "atomic"
    """A new file is put in its place, as `mv` does."""
    IN_PLACE = "in_place"
    """It is cut to nothing and written again, in two pieces."""
    CONFIG_MAP = "config_map"
    """A link beside it turns to another folder, as the kubelet does with a ConfigMap."""


class Trigger(StrEnum):
    """Who asks for the reload."""

    WATCH = "watch"
    SIGHUP = "sighup"
    POST = "post"
    CLI = "cli"


@dataclass(frozen=True, slots=True)
class Step:
    """One reload: what is written and what must come of it."""

    kind: str
    writer: Writer
    trigger: Trigger
    data: bytes | None
    """What the file holds then; None: it is deleted."""
    version: str
    """What must be in force then."""
    serving: frozenset[str]
    """Servers that requests may go to then."""
    is_refused: bool = False
    is_same: bool = False
    """Nothing changes."""

    def __str__(self) -> str:
        return f"{self.kind} ({self.writer}, {self.trigger})"


Change = Callable[[Shape, random.Random], Shape]
BREAK: Final = "break"
REPAIR: Final = "repair"
TOUCH: Final = "touch"
COMMENT: Final = "comment"


def _add(shape: Shape, rng: random.Random) -> Shape:
    missing = sorted(set(GUESTS) - shape.guests)
    return replace(shape, guests=shape.guests | {rng.choice(missing)}) if missing else shape


def _remove(shape: Shape, rng: random.Random) -> Shape:
    if not shape.guests:
        return shape
    gone = {rng.choice(sorted(shape.guests))}
    return replace(shape, guests=shape.guests - gone, disabled=shape.disabled - gone)


def _switch(shape: Shape, rng: random.Random) -> Shape:
    if not shape.guests:
        return shape
    return replace(shape, disabled=shape.disabled ^ {rng.choice(sorted(shape.guests))})


def _tune(shape: Shape, rng: random.Random) -> Shape:
    return replace(shape, tuning=shape.tuning + rng.randint(1, 4))


def _rename_backend(shape: Shape, _: random.Random) -> Shape:
    return replace(shape, is_backend_renamed=not shape.is_backend_renamed)


def _rename_model(shape: Shape, _: random.Random) -> Shape:
    return replace(shape, is_model_renamed=not shape.is_model_renamed)


def _move(shape: Shape, _: random.Random) -> Shape:
    return replace(shape, is_moved=not shape.is_moved)


CHANGES: Final[Mapping[str, Change]] = MappingProxyType(
    {
        "add_backend": _add,
        "remove_backend": _remove,
        "switch_backend": _switch,
        "rename_backend": _rename_backend,
        "rename_model": _rename_model,
        "tune": _tune,
        "move_backend": _move,
    }
)
_OPPOSITE: Final = MappingProxyType(
    {"add_backend": "remove_backend", "remove_backend": "add_backend"}
)
FULL: Final[Mapping[str, int]] = MappingProxyType(
    {
        "add_backend": 10,
        "remove_backend": 10,
        "switch_backend": 6,
        "rename_backend": 10,
        "rename_model": 8,
        "tune": 10,
        "move_backend": 10,
        TOUCH: 2,
        COMMENT: 2,
        BREAK: 16,
    }
)
"""How often each; a file that is broken is repaired by a reload of its own."""
SHORT: Final[Mapping[str, int]] = MappingProxyType(
    {
        "add_backend": 1,
        "remove_backend": 2,
        "switch_backend": 1,
        "rename_backend": 2,
        "rename_model": 2,
        "tune": 1,
        "move_backend": 2,
        TOUCH: 1,
        BREAK: 4,
    }
)


class Planner:
    """Draws steps, each from where the one before it ended."""

    def __init__(self, seed: int, ports: Ports) -> None:
        self._rng = random.Random(f"plan {seed}")
        self._ports = ports
        self.shape = Shape()

    def __repr__(self) -> str:
        return f"<Planner {self.shape}>"

    def text(self) -> str:
        """The good file as it is now."""
        return routing_text(self.shape, self._ports)

    def steps(self, counts: Mapping[str, int]) -> list[Step]:
        """All steps in an order by the seed, each way to write and each trigger in turn."""
        kinds = [kind for kind, count in counts.items() for _ in range(count)]
        self._rng.shuffle(kinds)
        total = len(kinds) + counts.get(BREAK, 0)
        writers = _in_turn(tuple(Writer), total, self._rng)
        triggers = _in_turn(tuple(Trigger), total, self._rng)
        breakages = _in_turn(breakage.KINDS, counts.get(BREAK, 0), self._rng)
        steps: list[Step] = []
        for kind in kinds:
            at = len(steps)
            if kind == BREAK:
                steps.append(self.broken(breakages.pop(), writers[at], triggers[at]))
                at += 1
            steps.append(self.step(REPAIR if kind == BREAK else kind, writers[at], triggers[at]))
        return steps

    def step(self, kind: str, writer: Writer, trigger: Trigger) -> Step:
        """The next step; a kind that has nothing to do is taken for its opposite."""
        before = self.text()
        was = self.shape
        if kind == COMMENT:
            self.shape = replace(was, note=f"comment {self._rng.randint(0, 10**9)}")
        elif kind == REPAIR:
            # A file may come back as it was, or with a change in it.
            self.shape = _tune(was, self._rng) if self._rng.random() < 0.5 else was
        elif kind != TOUCH:
            self.shape = CHANGES[kind](was, self._rng)
            if self.shape == was:
                kind = _OPPOSITE.get(kind, "add_backend")
                self.shape = CHANGES[kind](was, self._rng)
        text = before if kind == TOUCH else self.text()
        return Step(
            kind,
            writer,
            trigger,
            text.encode(),
            version_of(text),
            serving(self.shape),
            is_same=self.shape == was and kind != REPAIR,
        )

    def broken(self, kind: str, writer: Writer, trigger: Trigger) -> Step:
        """A step that must be refused."""
        text = self.text()
        data = breakage.broken(kind, text)
        return Step(
            f"{BREAK}:{kind}",
            writer,
            trigger,
            data,
            version_of(text),
            serving(self.shape),
            is_refused=True,
        )

    def burst(self, count: int) -> list[Step]:
        """Steps for a burst, a tenth of them broken; the last one is good."""
        found = []
        for number in range(count):
            writer = self._rng.choice((Writer.ATOMIC, Writer.ATOMIC, Writer.IN_PLACE))
            trigger = Trigger.WATCH if number % 2 else Trigger.POST
            if number % 10 == 5:
                found.append(self.broken(self._rng.choice(breakage.KINDS), writer, trigger))
            else:
                found.append(self.step(self._rng.choice(tuple(CHANGES)), writer, trigger))
        last = self.step("tune", Writer.ATOMIC, Trigger.WATCH)
        return [*found, last]


def version_of(text: str) -> str:
    """The version that a good file has; AssertionError for a bad one."""
    loaded = load_text(text, "routing.yaml")
    assert loaded.config is not None, loaded.render()
    return loaded.version_hash


def _in_turn(values: Sequence[T], count: int, rng: random.Random) -> list[T]:
    """`count` values, each about as often as the others, in an order by chance."""
    found = [values[i % len(values)] for i in range(count)]
    rng.shuffle(found)
    return found
