"""Compose files: every service is a container, and its command may start an engine."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.containers.command_words import split_command
from gateway.adoption.containers.compose_services import Service, services_of
from gateway.adoption.containers.devices import npus_of
from gateway.adoption.containers.docker_command import MAX_PORT_TEXTS, unread_devices, unread_ports
from gateway.adoption.containers.following import follow_container
from gateway.adoption.containers.manifest import Document, Tree
from gateway.adoption.containers.mounts import read_volume
from gateway.adoption.containers.noticed import noticed
from gateway.adoption.containers.ports import map_ports, read_ports
from gateway.adoption.containers.relevance import may_hold_engine
from gateway.adoption.containers.trees import at, is_on, items, mapping, pairs, text, texts, whole
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import Container, Mount, PortMap, Sighting

_HOSTNAME: Final = re.compile(r"^\s*node\.hostname\s*==\s*([\w.-]+)\s*$")


def read_compose(documents: Sequence[Document], file: str) -> Sighting:
    """The containers and engines of a Compose file; never raises.

    What `${VARIABLE}` has no value for is empty, as with Compose; findings of services that have
    to do with no engine are left out. (Compose specification.)
    """
    services = services_of(documents, file)
    names = {s.name: text(s.fields.get("container_name")) or s.name for s in services}
    found = Sighting(findings=tuple(_included(documents, file)))
    for service in services:
        container, findings = _container(service, names, file)
        seen = follow_container(container, service.command_line)
        if seen.launches or may_hold_engine(container):
            seen += Sighting(findings=(*service.findings, *findings))
        found += seen
    return found


def _included(documents: Sequence[Document], file: str) -> Iterator[Finding]:
    for document in documents:
        given = at(document.tree, "include")
        for item in [given] if isinstance(given, str) else items(given):
            for name in texts(item if isinstance(item, str) else at(item, "path")):
                origin = Origin(file, document.line(("include",)))
                yield noticed(Code.FILE_NOT_FOLLOWED, origin, what="include", file=name)


def _container(
    service: Service, names: Mapping[str, str], file: str
) -> tuple[Container, tuple[Finding, ...]]:
    fields = service.fields
    origin = Origin(file, service.line)
    name = names[service.name]
    environment = MappingProxyType(
        {key: value for key, value in pairs(fields.get("environment")).items() if value is not None}
    )
    reserved = [mapping(item) for item in items(_reservations(fields))]
    npus = npus_of(
        (*_devices(fields.get("devices")), *_reserved_ids(reserved)),
        environment,
        runtime=text(fields.get("runtime")),
        is_privileged=is_on(fields.get("privileged")),
    )
    ports, bad_ports = _ports(items(fields.get("ports")))
    network = text(fields.get("network_mode"))
    argv, notes = _argv(service, name, origin)
    container = Container(
        origin=origin,
        name=name,
        image=text(fields.get("image")),
        npus=npus.numbers,
        npus_wanted=0 if npus.numbers else _reserved_count(reserved),
        environment=environment,
        ports=ports,
        mounts=tuple(_mounts(items(fields.get("volumes")))),
        is_host_network=network == "host",
        argv=argv,
        node=_node(fields),
        replicas=whole(at(fields.get("deploy"), "replicas"), whole(fields.get("scale"), 1)),
        network_of=_network_of(network, names),
    )
    findings = (
        *notes,
        *unread_devices(npus.unread, name, origin),
        *unread_ports(bad_ports, name, origin),
        *_remarks(container, fields),
    )
    return container, findings


def _remarks(container: Container, fields: Mapping[str, Tree]) -> Iterator[Finding]:
    origin, name = container.origin, container.name
    given = fields.get("env_file")
    for item in [given] if isinstance(given, str) else items(given):
        source = text(item) or text(at(item, "path"))
        yield noticed(Code.ENV_FILE_UNREAD, origin, container=name, source=source)
    if profiles := texts(fields.get("profiles")):
        yield noticed(Code.PROFILE_NEEDED, origin, container=name, profile=" ".join(profiles))
    if container.replicas > 1:
        yield noticed(Code.REPLICAS_ONE_ADDRESS, origin, container=name, count=container.replicas)


def _argv(
    service: Service, name: str, origin: Origin
) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    findings: list[Finding] = []
    argv: list[str] = []
    place = Origin(origin.file, service.command_line or origin.line)
    for key in ("entrypoint", "command"):
        given = service.fields.get(key)
        if not isinstance(given, str):
            argv += texts(given)
            continue
        split = split_command(given)
        argv += split.words
        if split.has_backslash:
            findings.append(noticed(Code.COMMAND_BACKSLASH, place, container=name))
        if split.open_quote:
            findings.append(noticed(Code.QUOTE_UNCLOSED, place, quote=split.open_quote))
    return tuple(argv), tuple(findings)


def _ports(given: Sequence[Tree]) -> tuple[tuple[PortMap, ...], tuple[str, ...]]:
    found: dict[PortMap, None] = {}
    bad: list[str] = []
    for item in given[:MAX_PORT_TEXTS]:
        if item is None:
            continue
        try:
            found.update(dict.fromkeys(_port(item)))
        except ValueError:
            bad.append(text(item) or text(at(item, "published")) or text(at(item, "target")))
    return tuple(found), tuple(bad)


def _port(item: Tree) -> tuple[PortMap, ...]:
    """The short form is that of `docker run -p`, the long one a mapping."""
    if isinstance(item, str):
        return read_ports(item)
    return map_ports(
        text(at(item, "published")),
        text(at(item, "target")),
        text(at(item, "host_ip")),
        text(at(item, "protocol")),
    )


def _devices(given: Tree) -> Iterator[str]:
    for item in items(given):
        yield text(item) or text(at(item, "source"))


def _reservations(fields: Mapping[str, Tree]) -> Tree:
    return at(fields.get("deploy"), "resources", "reservations", "devices")


def _reserved_ids(reserved: Iterable[Mapping[str, Tree]]) -> Iterator[str]:
    """Devices that are reserved by their number or CDI name; those of other makers are no NPUs."""
    for item in reserved:
        for name in texts(item.get("device_ids")):
            if "/" in name:
                yield name
            elif not _is_foreign(item):
                yield f"/dev/davinci{name}"


def _reserved_count(reserved: Iterable[Mapping[str, Tree]]) -> int:
    return sum(whole(item.get("count"), 0) for item in reserved if not _is_foreign(item))


def _is_foreign(item: Mapping[str, Tree]) -> bool:
    return text(item.get("driver")).lower() in ("nvidia", "amdgpu", "amd", "cdi")


def _mounts(volumes: Sequence[Tree]) -> Iterator[Mount]:
    for item in volumes:
        source, target = text(at(item, "source")), text(at(item, "target"))
        mount = read_volume(item) if isinstance(item, str) else Mount(source, target)
        if mount is not None and mount.source and mount.target:
            yield mount


def _node(fields: Mapping[str, Tree]) -> str:
    for constraint in texts(at(fields.get("deploy"), "placement", "constraints")):
        if match := _HOSTNAME.match(constraint):
            return match[1]
    return ""


def _network_of(network: str, names: Mapping[str, str]) -> str:
    kind, _, other = network.partition(":")
    if kind == "service":
        return names.get(other, other)
    return other if kind == "container" else ""
