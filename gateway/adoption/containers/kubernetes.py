"""Kubernetes manifests: every container of a pod, and the service through which it is reached."""

from collections.abc import Iterator, Sequence
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.containers.cluster_objects import (
    MAX_PODS,
    ClusterObject,
    Pod,
    objects_in,
    pods_in,
)
from gateway.adoption.containers.cluster_services import Reach, reach_of
from gateway.adoption.containers.following import follow_container
from gateway.adoption.containers.manifest import Document, Path, Tree
from gateway.adoption.containers.noticed import noticed
from gateway.adoption.containers.pod_containers import PodContainer, read_pod_container
from gateway.adoption.containers.relevance import may_hold_engine
from gateway.adoption.containers.trees import at, is_on, items, text, texts, whole
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import Container, PortMap, Sighting

_HOSTNAME: Final = "kubernetes.io/hostname"


def read_kubernetes(documents: Sequence[Document], file: str) -> Sighting:
    """The containers and engines of all manifests in a file; never raises.

    Custom resources count where they hold containers. Findings of containers that have to do with
    no engine are left out.
    """
    objects = objects_in(documents, file)
    found = Sighting()
    pods = pods_in(objects)
    if len(pods) > MAX_PODS:
        problem = f"more than {MAX_PODS} pods"
        found += Sighting(
            findings=(noticed(Code.MANIFEST_TOO_LARGE, Origin(file), problem=problem),)
        )
    for pod in pods[:MAX_PODS]:
        for index, tree in enumerate(items(pod.spec.get("containers"))):
            found += _read(pod, tree, (*pod.path, "containers", index), objects)
    return found


def _read(pod: Pod, tree: Tree, path: Path, objects: Sequence[ClusterObject]) -> Sighting:
    siblings = len(items(pod.spec.get("containers")))
    own = text(at(tree, "name"))
    name = f"{pod.name}-{own}" if siblings > 1 and own else pod.name or own
    read = read_pod_container(pod, tree, path, name, objects)
    reach = reach_of(pod, _port_names(pod), objects)
    container = _container(pod, tree, path, name, read, reach)
    seen = follow_container(container, read.text_line, read.script)
    if seen.launches or may_hold_engine(container):
        seen += Sighting(findings=(*read.findings, *_remarks(container, reach)))
    return seen


def _container(
    pod: Pod,
    tree: Tree,
    path: Path,
    name: str,
    read: PodContainer,
    reach: Reach,
) -> Container:
    node = _node(pod)
    is_host_network = is_on(pod.spec.get("hostNetwork"))
    address = reach.address or (node if is_host_network else "")
    return Container(
        origin=pod.owner.origin(path),
        name=name,
        image=text(at(tree, "image")),
        npus=read.npus,
        npus_wanted=read.npus_wanted,
        environment=read.environment,
        ports=reach.ports or tuple(_host_ports(tree)),
        mounts=read.mounts,
        is_host_network=is_host_network,
        argv=read.argv,
        address=address,
        node=node,
        replicas=pod.replicas,
        chip=read.chip,
    )


def _remarks(container: Container, reach: Reach) -> Iterator[Finding]:
    origin, name = container.origin, container.name
    if reach.outside:
        yield noticed(
            Code.OUTSIDE_PORT,
            origin,
            container=name,
            address=container.address,
            outside=reach.outside,
        )
    if container.replicas > 1:
        yield noticed(Code.REPLICAS_ONE_ADDRESS, origin, container=name, count=container.replicas)


def _port_names(pod: Pod) -> dict[str, int]:
    return {
        text(at(port, "name")): whole(at(port, "containerPort"), 0)
        for tree in items(pod.spec.get("containers"))
        for port in items(at(tree, "ports"))
        if text(at(port, "name"))
    }


def _host_ports(tree: Tree) -> Iterator[PortMap]:
    """Ports that the machine of the pod gives it."""
    for port in items(at(tree, "ports")):
        inside, outside = whole(at(port, "containerPort"), 0), whole(at(port, "hostPort"), 0)
        if text(at(port, "protocol")) in ("", "TCP") and 0 < inside <= 65535:
            yield PortMap(outside or None, inside, text(at(port, "hostIP")))


def _node(pod: Pod) -> str:
    """The machine that the pod is bound to by name, by a selector or by an affinity to one."""
    named = text(pod.spec.get("nodeName")) or text(at(pod.spec.get("nodeSelector"), _HOSTNAME))
    if named:
        return named
    required = at(
        pod.spec.get("affinity"),
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    )
    for term in items(required):
        for rule in items(at(term, "matchExpressions")):
            values = texts(at(rule, "values"))
            if text(at(rule, "key")) == _HOSTNAME and len(values) == 1:
                return values[0] if text(at(rule, "operator")) == "In" else ""
    return ""
