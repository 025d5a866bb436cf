"""What sources say of one fact, which of them wins, and how it is told that they differ."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, TypeVar

from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding, Origin

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Saying(Generic[T_co]):
    """A value and the place that says it, as people read it."""

    value: T_co
    place: str


def says(value: object) -> bool:
    """Whether a value says anything."""
    return value is not None and value != () and value != ""


def disagreement(field: str, one: Saying[object], other: Saying[object], origin: Origin) -> Finding:
    """The finding that two sources differ; `one` is what was taken."""
    values = {
        "field": field,
        "one": _written(one.value),
        "here": one.place,
        "other": _written(other.value),
        "there": other.place,
    }
    return Finding(Code.SOURCES_DISAGREE, origin, MappingProxyType(values))


def _written(value: object) -> str:
    """As it is written in commands: numbers with commas between them."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
