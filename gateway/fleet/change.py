"""A transition of one backend, for events and logs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """A transition of one backend: `what` is state, breaker, or drift from the routing file."""

    backend: str
    what: str
    before: str
    after: str
    reason: str
