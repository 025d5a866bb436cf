"""`docker inspect`: containers as they are, for those who have no script any more."""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.containers.devices import npus_of
from gateway.adoption.containers.docker_command import unread_devices
from gateway.adoption.containers.following import follow_container
from gateway.adoption.containers.manifest import Document, Tree
from gateway.adoption.containers.mounts import read_volume
from gateway.adoption.containers.noticed import noticed
from gateway.adoption.containers.ports import map_ports
from gateway.adoption.containers.relevance import may_hold_engine
from gateway.adoption.containers.trees import at, is_on, items, mapping, pairs, text, texts
from gateway.adoption.findings import Origin
from gateway.adoption.sources import Container, Mount, PortMap, Sighting

MAX_CONTAINERS: Final = 1000


def is_inspected(tree: Tree) -> bool:
    """Whether a tree is what `docker inspect` or `podman inspect` print of containers."""
    first = next(iter(items(tree)), tree)
    return isinstance(at(first, "Config"), dict) and isinstance(at(first, "HostConfig"), dict)


def read_inspected(document: Document, file: str) -> Sighting:
    """The containers and the engines that are their own commands; never raises.

    (Docker Engine API, ContainerInspect.)
    """
    found = Sighting()
    tree = document.tree
    given = items(tree) if isinstance(tree, list) else [tree]
    if len(given) > MAX_CONTAINERS:
        problem = f"more than {MAX_CONTAINERS} containers"
        found += Sighting(
            findings=(noticed(Code.MANIFEST_TOO_LARGE, Origin(file), problem=problem),)
        )
    for index, item in enumerate(given[:MAX_CONTAINERS]):
        if isinstance(at(item, "Config"), dict):
            path = (index,) if isinstance(tree, list) else ()
            found += _read(item, Origin(file, document.line(path)))
    return found


def _read(tree: Tree, origin: Origin) -> Sighting:
    config, host = at(tree, "Config"), at(tree, "HostConfig")
    name = text(at(tree, "Name")).removeprefix("/")
    environment = MappingProxyType(
        {key: value for key, value in pairs(at(config, "Env")).items() if value is not None}
    )
    npus = npus_of(
        [text(at(device, "PathOnHost")) for device in items(at(host, "Devices"))],
        environment,
        runtime=_runtime(host),
        is_privileged=is_on(at(host, "Privileged")),
    )
    network = text(at(host, "NetworkMode"))
    container = Container(
        origin=origin,
        name=name,
        image=text(at(config, "Image")) or text(at(tree, "ImageName")),
        npus=npus.numbers,
        environment=environment,
        ports=tuple(dict.fromkeys(_ports(tree))),
        mounts=tuple(dict.fromkeys(_mounts(tree))),
        is_host_network=network == "host",
        argv=(*texts(at(config, "Entrypoint")), *texts(at(config, "Cmd"))),
        network_of=network.partition(":")[2] if network.startswith("container:") else "",
    )
    found = follow_container(container)
    if found.launches or may_hold_engine(container):
        found += Sighting(findings=unread_devices(npus.unread, name, origin))
    return found


def _runtime(host: Tree) -> str:
    """The runtime that was chosen; runc is that of a host where nobody chose one."""
    runtime = text(at(host, "Runtime"))
    return "" if runtime in ("runc", "oci", "crun") else runtime


def _ports(tree: Tree) -> Iterator[PortMap]:
    """What is published now; a random port stands only there. Else what was asked for."""
    live = mapping(at(tree, "NetworkSettings", "Ports"))
    asked = mapping(at(tree, "HostConfig", "PortBindings"))
    for place in dict.fromkeys((*live, *asked)):
        inside, _, protocol = place.partition("/")
        for binding in items(live.get(place)) or items(asked.get(place)):
            ip, port = text(at(binding, "HostIp")), text(at(binding, "HostPort"))
            try:
                yield from map_ports(port, inside, ip, protocol)
            except ValueError:
                continue


def _mounts(tree: Tree) -> Iterator[Mount]:
    for item in items(at(tree, "Mounts")):
        source = text(at(item, "Name")) or text(at(item, "Source"))
        target = text(at(item, "Destination"))
        if source and target:
            yield Mount(source, target)
    for bind in texts(at(tree, "HostConfig", "Binds")):
        if mount := read_volume(bind):
            yield mount
