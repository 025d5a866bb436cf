"""A kind of problem: how bad it is, what it means, and what to do, in both languages."""

from dataclasses import dataclass

from gateway.config.codes import Severity
from gateway.words import Words


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: its severity, what it means, and what to do."""

    severity: Severity
    meaning: Words
    remedy: Words


def error(meaning: Words, remedy: Words) -> Kind:
    """A kind for which the file is refused."""
    return Kind(Severity.ERROR, meaning, remedy)


def warning(meaning: Words, remedy: Words) -> Kind:
    """A kind with which the file loads."""
    return Kind(Severity.WARNING, meaning, remedy)
