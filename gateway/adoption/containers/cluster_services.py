"""How a pod is reached: the Kubernetes services that select it, and their ports."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.adoption.containers.cluster_objects import ClusterObject, Pod
from gateway.adoption.containers.manifest import Tree
from gateway.adoption.containers.trees import at, items, mapping, text, texts, whole
from gateway.adoption.sources import PortMap

_OUTSIDE: Final = frozenset({"NodePort", "LoadBalancer"})


@dataclass(frozen=True, slots=True)
class Reach:
    """Under which name others in the cluster reach a pod, and on which ports.

    `outside` is how it is reached from elsewhere, such as NODE:30080; "" where it is not.
    """

    address: str = ""
    ports: tuple[PortMap, ...] = ()
    outside: str = ""


def reach_of(pod: Pod, port_names: Mapping[str, int], objects: Sequence[ClusterObject]) -> Reach:
    """The service through which a pod is reached; nothing where none selects it.

    A service of this one pod is taken before one of several, and one with an address of its own
    before a headless one; but a pod with a host name is reached under that, since only there the
    gateway knows whom it talks to. `port_names` are the named ports of the pod.
    """
    found = [one for one in objects if _selects(one, pod)]
    own = [one for one in found if pod.name in _selector(one).values()]
    governing = [one for one in found if pod.subdomain and one.name == pod.subdomain]
    if not own and governing and _host_name(pod):
        service = governing[0]
        address = f"{_host_name(pod)}.{_address(service)}"
        return Reach(address, tuple(_direct(service, port_names)), "")
    for service in (*own, *sorted(found, key=_is_headless)):
        ports = tuple(
            _direct(service, port_names) if _is_headless(service) else _maps(service, port_names)
        )
        if ports:
            return Reach(_address(service), ports, _outside(found, port_names))
    return Reach()


def _host_name(pod: Pod) -> str:
    return text(pod.spec.get("hostname")) or (pod.name if pod.owner.kind == "StatefulSet" else "")


def _selector(service: ClusterObject) -> dict[str, Tree]:
    return mapping(at(service.tree.get("spec"), "selector"))


def _selects(service: ClusterObject, pod: Pod) -> bool:
    selector = _selector(service)
    if service.kind != "Service" or not selector:
        return False
    spaces = {service.namespace, pod.owner.namespace} - {""}
    return len(spaces) < 2 and all(pod.labels.get(k) == v for k, v in selector.items())


def _is_headless(service: ClusterObject) -> bool:
    return text(at(service.tree.get("spec"), "clusterIP")) == "None"


def _address(service: ClusterObject) -> str:
    """`svc.namespace.svc`, which resolves in every namespace; `svc` where none is told."""
    if not service.namespace:
        return service.name
    return f"{service.name}.{service.namespace}.svc"


def _ports(service: ClusterObject) -> Iterator[Tree]:
    for port in items(at(service.tree.get("spec"), "ports")):
        if text(at(port, "protocol")) in ("", "TCP"):
            yield port


def _target(port: Tree, port_names: Mapping[str, int]) -> int:
    """The pod's port: `targetPort` as a number or a name, or the same as the service's."""
    target = text(at(port, "targetPort")) or text(at(port, "port"))
    return whole(target, port_names.get(target, 0))


def _maps(service: ClusterObject, port_names: Mapping[str, int]) -> Iterator[PortMap]:
    for port in _ports(service):
        number, target = whole(at(port, "port"), 0), _target(port, port_names)
        if 0 < number <= 65535 and 0 < target <= 65535:
            yield PortMap(number, target)


def _direct(service: ClusterObject, port_names: Mapping[str, int]) -> Iterator[PortMap]:
    """A headless service maps no ports: its name leads to the pod itself."""
    for port in _ports(service):
        target = _target(port, port_names)
        if 0 < target <= 65535:
            yield PortMap(target, target)


def _outside(services: Sequence[ClusterObject], port_names: Mapping[str, int]) -> str:
    for service in services:
        spec = service.tree.get("spec")
        if text(at(spec, "type")) not in _OUTSIDE:
            continue
        given = items(at(service.tree.get("status"), "loadBalancer", "ingress"))[:1]
        places = [
            *texts(at(spec, "externalIPs")),
            text(at(spec, "loadBalancerIP")),
            *(text(at(one, "ip")) or text(at(one, "hostname")) for one in given),
        ]
        place = next((one for one in places if one), "")
        for port in _ports(service):
            if not _target(port, port_names):
                continue
            if place:
                return f"{place}:{text(at(port, 'port'))}"
            if node_port := text(at(port, "nodePort")):
                return f"NODE:{node_port}"
    return ""
