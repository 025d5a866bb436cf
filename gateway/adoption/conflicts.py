"""Candidates side by side: which can't run together, and what is guessed of all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gateway.adoption.addresses import machine_of
from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding


def disable_colliding(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates, each with the name of an enabled one that it can't run beside.

    Those that were seen running come first, then the order in which they were found. What two of
    them collide in is told by the rules on fleets, and by `PORT_OTHER_MODEL`.
    """
    enabled: list[Candidate] = []
    others: dict[str, str] = {}
    for candidate in sorted(candidates, key=lambda one: one.account is None):
        other = next((one for one in enabled if _collide(one, candidate)), None)
        if other is None:
            enabled.append(candidate)
        else:
            others[candidate.name] = other.name
    return tuple(replace(one, disabled_by=others.get(one.name, "")) for one in candidates)


def _collide(one: Candidate, other: Candidate) -> bool:
    is_same_port = one.port == other.port and machine_of(one.host) == machine_of(other.host)
    nodes = [machine_of(c.node or c.host) for c in (one, other)]
    return is_same_port or (nodes[0] == nodes[1] and bool(set(one.npus) & set(other.npus)))


def guesses_told(candidates: Sequence[Candidate]) -> Iterator[Finding]:
    """A finding for each guess, and one for all machines that are guessed."""
    for candidate in candidates:
        for guess in candidate.guesses:
            yield Finding(guess.code, candidate.origin, guess.values, candidate.name)
    assumed = [c for c in candidates if c.is_host_guessed]
    if assumed:
        names = ", ".join(c.name for c in assumed)
        values = {"names": names, "host": assumed[0].host}
        yield Finding(Code.HOST_ASSUMED, assumed[0].origin, values)


def two_ports(candidates: Sequence[Candidate]) -> Iterator[Finding]:
    """Two sources that put one model at two ports of a machine, where both can't be meant.

    Two of one model on NPUs of their own are copies, unless one of them can't run anyway.
    """
    for index, other in enumerate(candidates):
        one = next((c for c in candidates[:index] if _is_moved(c, other)), None)
        if one is not None:
            values = {
                "model": other.served_name,
                "host": other.host,
                "here": str(one.origin),
                "port": str(one.port),
                "there": str(other.origin),
                "other_port": str(other.port),
            }
            yield Finding(Code.MODEL_AT_TWO_PORTS, other.origin, values, other.name)


def _is_moved(one: Candidate, other: Candidate) -> bool:
    if one.tier is not other.tier or not set(one.served_names) & set(other.served_names):
        return False
    if one.port == other.port or machine_of(one.host) != machine_of(other.host):
        return False
    if one.origin.file == other.origin.file:
        return False
    are_apart = bool(one.npus and other.npus) and not set(one.npus) & set(other.npus)
    return not are_apart or bool(one.disabled_by or other.disabled_by)
