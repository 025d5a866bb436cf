import pytest

from gateway.adoption.codes import Code
from gateway.adoption.sources import PortMap
from tests.unit.adoption.containers.cluster import TEMPLATE, seen, service, workload


@pytest.mark.parametrize(
    ("services", "address", "ports"),
    [
        (service("selector: {app: q}\nports: [{port: 80, targetPort: 8000}]"), "s", [(80, 8000)]),
        (service("selector: {app: q}\nports: [{port: 80, targetPort: http}]"), "s", [(80, 8000)]),
        (service("selector: {app: q}\nports: [{port: 8000}]"), "s", [(8000, 8000)]),
        (
            service("selector: {app: q}\nports: [{port: 80, targetPort: 8000}]", "s", "ai"),
            "s.ai.svc",
            [(80, 8000)],
        ),
        (
            service("clusterIP: None\nselector: {app: q}\nports: [{port: 80, targetPort: 8000}]"),
            "s",
            [(8000, 8000)],
        ),
        (
            service("clusterIP: None\nselector: {app: q}\nports: [{port: 80}]", "h")
            + service("selector: {app: q}\nports: [{port: 80, targetPort: http}]"),
            "s",
            [(80, 8000)],
        ),
        (service("selector: {app: q, tier: x}\nports: [{port: 80}]"), "", [(None, 8000)]),
        (service("selector: {}\nports: [{port: 80}]"), "", [(None, 8000)]),
        (service("ports: [{port: 80}]"), "", [(None, 8000)]),
        (service("selector: {app: q}\nports: [{port: 80, targetPort: other}]"), "", [(None, 8000)]),
        (service("selector: {app: q}\nports: [{port: 53, protocol: UDP}]"), "", [(None, 8000)]),
        (service("selector: {app: q}\nports: {a: b}"), "", [(None, 8000)]),
    ],
)
def test_services(services: str, address: str, ports: list[tuple[int | None, int]]) -> None:
    (found,) = seen(workload("Deployment", TEMPLATE) + services).containers
    assert found.address == address
    assert found.ports == tuple(PortMap(*port) for port in ports)


def test_a_service_of_another_namespace_selects_nothing() -> None:
    selecting = "selector: {app: q}\nports: [{port: 80, targetPort: 8000}]"
    deployment = workload("Deployment", TEMPLATE, "w", "a")
    assert seen(deployment + service(selecting, "s", "b")).containers[0].address == ""
    assert seen(deployment + service(selecting, "s", "a")).containers[0].address == "s.a.svc"
    assert seen(deployment + service(selecting)).containers[0].address == "s"


@pytest.mark.parametrize(
    ("spec", "outside"),
    [
        ("type: NodePort\nports: [{port: 80, targetPort: 8000, nodePort: 30080}]", "NODE:30080"),
        (
            "type: LoadBalancer\nloadBalancerIP: 1.2.3.4\nports: [{port: 80, targetPort: 8000}]",
            "1.2.3.4:80",
        ),
        (
            "type: NodePort\nexternalIPs: [10.0.0.9]\nports: [{port: 80, targetPort: 8000}]",
            "10.0.0.9:80",
        ),
        ("type: ClusterIP\nports: [{port: 80, targetPort: 8000}]", ""),
    ],
)
def test_how_it_is_reached_from_outside(spec: str, outside: str) -> None:
    sighting = seen(workload("Deployment", TEMPLATE) + service("selector: {app: q}\n" + spec))
    found = [f.values for f in sighting.findings if f.code is Code.OUTSIDE_PORT]
    expected = [{"container": "w", "address": "s", "outside": outside}] if outside else []
    assert [dict(values) for values in found] == expected


def test_every_pod_of_a_stateful_set_has_its_address() -> None:
    text = workload("StatefulSet", "serviceName: h\nreplicas: 2\n" + TEMPLATE, "w", "ai") + service(
        "clusterIP: None\nselector: {app: q}\nports: [{port: 80, targetPort: http}]", "h", "ai"
    )
    sighting = seen(text)
    assert [c.address for c in sighting.containers] == ["w-0.h.ai.svc", "w-1.h.ai.svc"]
    assert {c.ports for c in sighting.containers} == {(PortMap(8000, 8000),)}
    assert len(sighting.launches) == 2
    assert sighting.findings == ()


def test_a_service_of_one_pod_goes_first() -> None:
    text = (
        workload("StatefulSet", "replicas: 1\n" + TEMPLATE)
        + service("selector: {app: q}\nports: [{port: 80, targetPort: 8000}]", "all")
        + service(
            "selector: {statefulset.kubernetes.io/pod-name: w-0}\n"
            "ports: [{port: 81, targetPort: 8000}]"
        )
    )
    (found,) = seen(text).containers
    assert (found.address, found.ports) == ("s", (PortMap(81, 8000),))


def test_a_leader_is_reached_by_the_labels_of_its_group() -> None:
    leader = (
        "leaderWorkerTemplate:\n  leaderTemplate:\n    metadata: {labels: {role: leader}}\n"
        "    spec: {containers: [{name: l, image: vllm}]}\n"
    )
    selecting = "selector: {leaderworkerset.sigs.k8s.io/name: w, role: leader}\nports: [{port: 80}]"
    (found,) = seen(workload("LeaderWorkerSet", leader) + service(selecting)).containers
    assert found.address == "s"
