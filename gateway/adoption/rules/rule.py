"""What a rule is, and how it says what it found."""

from collections.abc import Callable, Iterator
from types import MappingProxyType

from gateway.adoption.candidate import Candidate, Fleet
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding, Origin

Rule = Callable[[Candidate], Iterator[Finding]]
"""Looks at one backend."""

FleetRule = Callable[[Fleet], Iterator[Finding]]
"""Looks at how backends get along."""


def found(code: Code, candidate: Candidate, origin: Origin, **values: str | int) -> Finding:
    """A finding about one backend at a place, with what its text is filled with."""
    texts = MappingProxyType({name: str(value) for name, value in values.items()})
    return Finding(code, origin, texts, candidate.name)


def at_launch(candidate: Candidate) -> Origin:
    """Where the command of the backend stands, or else the backend as a whole."""
    return candidate.launch.origin if candidate.launch else candidate.origin


def at_container(candidate: Candidate) -> Origin:
    """Where the container of the backend is started, or else its command."""
    return candidate.container.origin if candidate.container else at_launch(candidate)


def at_log(candidate: Candidate) -> Origin:
    """The log of the backend, or else the backend as a whole."""
    return candidate.log.origin if candidate.log else candidate.origin
