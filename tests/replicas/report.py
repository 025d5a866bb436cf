"""Goals of a measurement, and whether they were met."""

from typing import Any, NamedTuple


class Goal(NamedTuple):
    """One target: its figure, what it must be, and whether it is."""

    name: str
    value: float | None
    target: str
    is_met: bool


def at_most(name: str, value: float | None, most: float) -> Goal:
    """A figure that must not be above `most`; one that is missing misses it."""
    told = None if value is None else round(value, 4)
    return Goal(name, told, f"<= {most:g}", value is not None and value <= most)


def at_least(name: str, value: float | None, least: float) -> Goal:
    """A figure that must not be below `least`."""
    told = None if value is None else round(value, 4)
    return Goal(name, told, f">= {least:g}", value is not None and value >= least)


def as_tree(goals: list[Goal], figures: dict[str, Any]) -> dict[str, Any]:
    """All of it, for JSON."""
    return {"goals": [goal._asdict() for goal in goals], **figures}
