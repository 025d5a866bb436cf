"""Which launch runs in which container."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from gateway.adoption.candidate import Guess
from gateway.adoption.codes import Code
from gateway.adoption.containers.noticed import noticed
from gateway.adoption.findings import Finding
from gateway.adoption.saying import Saying, disagreement
from gateway.adoption.sources import Container, Launch, Sighting
from gateway.adoption.starts import Start, start_of, told_once, visible_in


@dataclass(frozen=True, slots=True)
class Paired:
    """All starts with their containers, the containers that are left, and what was noticed."""

    starts: tuple[Start, ...]
    containers: tuple[Container, ...]
    left: tuple[Container, ...]
    findings: tuple[Finding, ...]


def pair(sighting: Sighting, configs: Mapping[str, str] = MappingProxyType({})) -> Paired:
    """Every launch with its container, each launch once.

    A launch names its container, or is its command. One that does neither is paired with a
    container only on unique evidence: the same visible devices, and its port among the container's
    ports; and no engine is known to run there.
    """
    containers, findings = _distinct(sighting.containers)
    starts = [start_of(launch, configs) for launch in sighting.launches]
    silent = [start for start in starts if _silence(start)]
    findings = (*findings, *(_headless(start) for start in silent))
    named = (_in_named(start, containers) for start in starts if not _silence(start))
    once = told_once(named)
    paired = told_once(_pair_lone(once, containers))
    used = [start.container for start in (*paired, *silent) if start.container is not None]
    left = tuple(one for one in containers if not any(_is_one(one, other) for other in used))
    return Paired(paired, containers, left, findings)


def pairing_guess(start: Start) -> Guess | None:
    """What is told of a container that was found by evidence; None where a source names it."""
    if not start.is_paired or start.container is None:
        return None
    values = {
        "launch": str(start.launch.origin),
        "container": start.container.name,
        "npus": ",".join(map(str, start.visible_npus or ())),
        "port": str(start.engine_port),
    }
    return Guess("container", start.container.name, Code.CONTAINER_PAIRED, values)


def _silence(start: Start) -> str:
    """The option for which a launch answers no HTTP; "" for none."""
    if start.arguments.is_headless:
        return "--headless"
    return "--grpc" if start.arguments.is_grpc else ""


def _headless(start: Start) -> Finding:
    model = start.served_names[0] if start.served_names else "?"
    origin = start.launch.origin
    return noticed(Code.LAUNCH_HEADLESS, origin, model=model, option=_silence(start))


def _distinct(
    containers: Iterable[Container],
) -> tuple[tuple[Container, ...], tuple[Finding, ...]]:
    """Each container once, and how later sources of a container differ from the first."""
    kept: list[Container] = []
    findings: list[Finding] = []
    for container in containers:
        first = next((one for one in kept if _is_one(one, container)), None)
        if first is None:
            kept.append(container)
        elif first.origin != container.origin:
            findings += _differences(first, container)
    return tuple(kept), tuple(findings)


def _is_one(one: Container, other: Container) -> bool:
    """Whether both are the same container; one without a name is only like itself."""
    if not one.name or not other.name:
        return one == other
    return (one.name, one.address, one.node) == (other.name, other.address, other.node)


def _differences(one: Container, other: Container) -> Iterator[Finding]:
    here, there = str(one.origin), str(other.origin)
    for field, first, second in (
        ("image", one.image, other.image),
        ("ports", _ports(one), _ports(other)),
        ("npus", _npus(one), _npus(other)),
        ("command", " ".join(one.argv), " ".join(other.argv)),
    ):
        if first and second and first != second:
            name = f"{one.name} {field}"
            yield disagreement(name, Saying(first, here), Saying(second, there), other.origin)


def _ports(container: Container) -> str:
    return ", ".join(f"{one.host_port or '?'}:{one.container_port}" for one in container.ports)


def _npus(container: Container) -> str:
    return "all" if container.npus is None else ",".join(map(str, container.npus))


def _in_named(start: Start, containers: Sequence[Container]) -> Start:
    """The start in the container that it names, the one of its own source first."""
    name = start.launch.container_name
    if start.container is not None:
        first = next((one for one in containers if _is_one(one, start.container)), None)
        return replace(start, container=first or start.container)
    if not name:
        return start
    found = [one for one in containers if one.name == name]
    same_file = [one for one in found if one.origin.file == start.launch.origin.file]
    return replace(start, container=next(iter(same_file or found), None))


def _pair_lone(starts: Sequence[Start], containers: Sequence[Container]) -> Iterator[Start]:
    taken = [start.container for start in starts if start.container is not None]
    free = [one for one in containers if not any(_is_one(one, other) for other in taken)]
    lone = [start for start in starts if _is_lone(start.launch, start)]
    for start in starts:
        fitting = [one for one in free if start in lone and _fits(start, one)]
        if len(fitting) == 1 and sum(_fits(other, fitting[0]) for other in lone) == 1:
            yield replace(start, container=fitting[0], is_paired=True)
        else:
            yield start


def _is_lone(launch: Launch, start: Start) -> bool:
    return start.container is None and not launch.container_name and not launch.host


def _fits(start: Start, container: Container) -> bool:
    devices = visible_in(container.environment)
    if devices is None:
        devices = container.npus
    has_port = any(one.container_port == start.engine_port for one in container.ports)
    return has_port and bool(devices) and start.visible_npus == devices
