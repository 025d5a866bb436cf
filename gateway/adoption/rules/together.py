"""Rules: backends of one fleet do not get in each other's way."""

from collections.abc import Callable, Hashable, Iterator
from itertools import combinations
from typing import Final

from gateway.adoption.candidate import Candidate, Fleet
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules.network import is_loopback
from gateway.adoption.rules.reading import (
    container_name,
    is_in_host_network,
    joined,
    tensor_parallel_of,
)
from gateway.adoption.rules.rule import at_container, at_launch, found
from gateway.config.containers import short_name

Pair = tuple[Candidate, Candidate]

_HCCL_BASE_PORT: Final = 60000
_HCCL_PORTS: Final = 16
_METRICS_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"


def npu_shared(fleet: Fleet) -> Iterator[Finding]:
    """Two backends of one machine use different NPUs, and their containers mount different ones."""
    for one, other in _pairs(fleet, _node):
        used = sorted(_used(one) & _used(other))
        mounted = sorted(_mounted(one) & _mounted(other))
        if used:
            yield found(
                Code.NPU_SHARED,
                other,
                at_container(other),
                npus=joined(used),
                other=_called(one),
                place=str(at_container(one)),
            )
        elif mounted and container_name(one) != container_name(other):
            yield found(
                Code.NPU_MOUNTED_TWICE,
                other,
                at_container(other),
                npus=joined(mounted),
                container=container_name(other),
                other=container_name(one),
                place=str(at_container(one)),
            )


def _used(candidate: Candidate) -> frozenset[int]:
    if candidate.visible_npus is not None:
        return frozenset(candidate.visible_npus)
    return frozenset(candidate.npus) or _mounted(candidate)


def _mounted(candidate: Candidate) -> frozenset[int]:
    return frozenset((candidate.container.npus if candidate.container else None) or ())


def address_twice(fleet: Fleet) -> Iterator[Finding]:
    """Each published port, and each port of the machine, belongs to one backend."""
    for one, other in _pairs(fleet, lambda c: (_machine(c), c.port)):
        if not _is_port_known(one) or not _is_port_known(other):
            continue
        if is_in_host_network(one) and is_in_host_network(other):
            code = Code.LISTENER_SHARED
        elif _is_one_service(one, other) or not _meet(one, other):
            continue
        else:
            code = Code.ADDRESS_TWICE
        yield found(
            code,
            other,
            at_container(other),
            port=other.port,
            other=_called(one),
            place=str(at_container(one)),
        )


def listener_shared_inside(fleet: Fleet) -> Iterator[Finding]:
    """Two engines of one container listen on different ports."""
    for one, other in _pairs(fleet, lambda c: (_machine(c), container_name(c), c.engine_port)):
        if container_name(one) and not is_in_host_network(one) and _has_two_launches(one, other):
            yield found(
                Code.LISTENER_SHARED,
                other,
                at_launch(other),
                port=other.engine_port,
                other=_called(one),
                place=str(at_launch(one)),
            )


def _has_two_launches(one: Candidate, other: Candidate) -> bool:
    return one.launch is not None and other.launch is not None


def _is_port_known(candidate: Candidate) -> bool:
    """Whether a command or a container says its port, and not only who gave its address."""
    if candidate.launch is None and candidate.container is None:
        return False
    return is_in_host_network(candidate) or candidate.port_map is not None


def _is_one_service(one: Candidate, other: Candidate) -> bool:
    """Whether both stand behind one name of a cluster, as replicas of one model do."""
    first, second = one.container, other.container
    is_behind = first is not None and second is not None and bool(first.address)
    return is_behind and one.served_names == other.served_names


def _meet(one: Candidate, other: Candidate) -> bool:
    """Whether two published ports collide: on the same address of the host, or on all of them."""
    if container_name(one) and container_name(one) == container_name(other):
        return False
    ips = [c.port_map.host_ip if c.port_map else "" for c in (one, other)]
    everywhere = ("", "0.0.0.0", "::", "[::]")
    return ips[0] == ips[1] or any(ip in everywhere for ip in ips)


def hccl_ports_shared(fleet: Fleet) -> Iterator[Finding]:
    """Two engines with several NPUs in one network namespace have HCCL ports of their own.

    From CANN's HCCL_IF_BASE_PORT (60000 to 60015 by default) and HCCL_HOST_SOCKET_PORT_RANGE.
    """
    for one, other in _pairs(fleet, _machine):
        pair = (one, other)
        if not all(c.launch is not None and is_in_host_network(c) for c in pair):
            continue
        if any((tensor_parallel_of(c) or 1) < 2 for c in pair):
            continue
        if any("HCCL_HOST_SOCKET_PORT_RANGE" in c.environment for c in pair):
            continue
        if abs(_base_port(one) - _base_port(other)) < _HCCL_PORTS:
            yield found(
                Code.HCCL_PORTS_SHARED,
                other,
                at_launch(other),
                port=_base_port(other),
                last=_base_port(other) + _HCCL_PORTS - 1,
                other=_called(one),
                better=max(_base_port(one), _base_port(other)) + 100,
            )


def _base_port(candidate: Candidate) -> int:
    text = candidate.environment.get("HCCL_IF_BASE_PORT", "").strip()
    is_number = text.isascii() and text.isdecimal() and len(text) < 6
    return int(text) if is_number else _HCCL_BASE_PORT


def metrics_shared(fleet: Fleet) -> Iterator[Finding]:
    """Two engines on one machine, or in one container, count into different folders."""
    for one, other in _pairs(fleet, lambda c: (_machine(c), container_name(c))):
        folder = one.environment.get(_METRICS_FOLDER)
        if folder and folder == other.environment.get(_METRICS_FOLDER):
            yield found(
                Code.METRICS_SHARED,
                other,
                at_launch(other),
                folder=folder,
                other=_called(one),
            )


def served_name_shared(fleet: Fleet) -> Iterator[Finding]:
    """One name is one model: backends of a name hold the same model."""
    for one, other in combinations(fleet.candidates, 2):
        shared = sorted(set(one.served_names) & set(other.served_names))
        first, second = one.model_path or "", other.model_path or ""
        if shared and first and second and short_name(first) != short_name(second):
            yield found(
                Code.SERVED_NAME_SHARED,
                other,
                at_launch(other),
                name=joined(shared),
                model=second,
                other=_called(one),
                other_model=first,
            )


def names_differ_in_case(fleet: Fleet) -> Iterator[Finding]:
    """Names that differ only in the case of letters are different names to vLLM."""
    seen: dict[str, tuple[str, Candidate]] = {}
    for candidate in fleet.candidates:
        for name in candidate.served_names:
            first, owner = seen.setdefault(name.casefold(), (name, candidate))
            if first != name:
                yield found(
                    Code.NAMES_DIFFER_IN_CASE,
                    candidate,
                    at_launch(candidate),
                    name=name,
                    other_name=first,
                    other=_called(owner),
                )


def _called(candidate: Candidate) -> str:
    return candidate.name or container_name(candidate) or str(candidate.origin)


def _node(candidate: Candidate) -> Hashable:
    """The machine with the NPUs."""
    container = candidate.container
    return (candidate.node or (container.node if container else "") or candidate.host).casefold()


def _machine(candidate: Candidate) -> Hashable:
    """The machine, or the name in a cluster, at which it is reached."""
    host = candidate.host.casefold()
    return "127.0.0.1" if is_loopback(host) else host


def _pairs(fleet: Fleet, place: Callable[[Candidate], Hashable]) -> Iterator[Pair]:
    """Candidates that share a place, two by two, in the order of the fleet."""
    neighbours: dict[Hashable, list[Candidate]] = {}
    for candidate in fleet.candidates:
        neighbours.setdefault(place(candidate), []).append(candidate)
    for group in neighbours.values():
        yield from combinations(group, 2)
