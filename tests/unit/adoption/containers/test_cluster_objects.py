from textwrap import indent

import pytest

from gateway.adoption.containers.cluster_objects import is_cluster_object
from gateway.adoption.containers.manifest import read_documents
from gateway.adoption.findings import Origin
from tests.unit.adoption.containers.cluster import TEMPLATE, pod, seen, workload


@pytest.mark.parametrize(
    ("kind", "spec", "names", "replicas"),
    [
        ("Deployment", "replicas: 2\n" + TEMPLATE, ["w"], 2),
        ("Deployment", TEMPLATE, ["w"], 1),
        ("ReplicaSet", "replicas: 0\n" + TEMPLATE, ["w"], 0),
        ("DaemonSet", TEMPLATE, ["w"], 1),
        ("Job", TEMPLATE, ["w"], 1),
        ("CronJob", "jobTemplate:\n  spec:\n" + indent(TEMPLATE, "    "), ["w"], 1),
        ("StatefulSet", "replicas: 2\n" + TEMPLATE, ["w-0", "w-1"], 1),
        ("StatefulSet", "replicas: 2\nordinals: {start: 5}\n" + TEMPLATE, ["w-5", "w-6"], 1),
        ("RolloutThing", "replicas: 3\nnested: {deep: 1}\n" + TEMPLATE, ["w"], 3),
        (
            "Job",
            "tasks:\n- name: a\n  replicas: 2\n"
            + indent(TEMPLATE, "  ")
            + "- replicas: 2\n"
            + indent(TEMPLATE, "  "),
            ["w-a", "w-1"],
            2,
        ),
        (
            "LeaderWorkerSet",
            (
                "leaderWorkerTemplate:\n"
                "  leaderTemplate: {spec: {containers: [{name: l, image: vllm}]}}\n"
                "  workerTemplate: {spec: {containers: [{name: x, image: vllm}]}}\n"
            ),
            ["w-leader", "w-worker"],
            1,
        ),
    ],
)
def test_pods_of_workloads(kind: str, spec: str, names: list[str], replicas: int) -> None:
    found = seen(workload(kind, spec)).containers
    assert [c.name for c in found] == names
    assert {c.replicas for c in found} == {replicas}


def test_containers_beside_each_other_are_named_apart_and_init_containers_are_none() -> None:
    spec = "{initContainers: [{name: i, image: vllm}], containers: [{name: a}, {name: b}]}"
    found = seen(f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {spec}\n").containers
    assert [c.name for c in found] == ["p-a", "p-b"]


def test_lists_are_taken_apart_and_what_an_owner_made_is_not_counted_twice() -> None:
    owned = pod("command: [vllm, serve, /m]").replace(
        "metadata: {", "metadata: {ownerReferences: [{kind: Deployment, name: w}], "
    )
    items = indent(workload("Deployment", TEMPLATE) + "---\n" + owned, "  ").replace("  ---\n", "")
    first, second = items.split("  apiVersion: v1")
    text = f"apiVersion: v1\nkind: List\nitems:\n- {first[2:]}- apiVersion: v1{second}"
    sighting = seen(text)
    assert [c.name for c in sighting.containers] == ["w"]
    assert sighting.containers[0].origin == Origin("k.yaml", 12)
    assert [c.name for c in seen(owned).containers] == ["p"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("apiVersion: v1\nkind: Pod", True),
        ("kind: Pod\nspec: {}", True),
        ("kind: Pod", False),
        ("services: {}", False),
        ("[1]", False),
    ],
)
def test_what_an_object_is(text: str, expected: bool) -> None:
    assert is_cluster_object(read_documents(text)[0][0].tree) is expected
