"""A transition of one backend, for events and logs."""

from dataclasses import dataclass

from gateway.fleet.reconcile import Drift


@dataclass(frozen=True, slots=True)
class Change:
    """A transition of one backend: `what` is state, breaker, or drift from the routing file."""

    backend: str
    what: str
    before: str
    after: str
    reason: str


def drift_changes(
    name: str, before: tuple[Drift, ...], after: tuple[Drift, ...]
) -> tuple[Change, ...]:
    """What changed in how a backend differs from the routing file."""
    if after == before:
        return ()
    if not after:
        return (Change(name, "drift", before[0].kind.value, "none", "it is as configured"),)
    return tuple(Change(name, "drift", "", d.kind.value, d.message) for d in after)
