from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.codes import Code
from gateway.adoption.containers.kubernetes import read_kubernetes
from gateway.adoption.containers.manifest import Document, Tree
from gateway.adoption.findings import Origin
from gateway.adoption.sources import Mount, PortMap
from tests.unit.adoption.containers.cluster import TEMPLATE, container, pod, seen, workload

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


SERVE = ("vllm", "serve", "/m", "--port", "8000")


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ("command: [vllm, serve, /m, --port, '8000']", 10),
        ("command: [vllm, serve]\nargs: [/m, --port, 8000]", 10),
        ('command: ["bash", "-c", "vllm serve /m --port 8000"]', 10),
        ("command: [/bin/sh, -c]\nargs: [vllm serve /m --port 8000]", 10),
        ("command: [sh, -c]\nargs:\n- |\n  export A=1\n  exec vllm serve /m --port 8000\n", 14),
        ("command: [/bin/bash, -c]\nargs:\n- >\n  vllm serve /m\n  --port 8000\n", 13),
        ("command: [vllm, serve, /m, --port, $(P)]\nenv: [{name: P, value: '8000'}]", 10),
        (
            (
                "command: [sh, -c, vllm serve $(M) --port $P]\n"
                "env: [{name: P, value: 8000}, {name: D, value: /}, {name: M, value: $(D)m}]"
            ),
            10,
        ),
    ],
)
def test_commands(fields: str, line: int) -> None:
    sighting = seen(pod(fields))
    (launch,) = sighting.launches
    assert launch.argv == SERVE
    assert launch.origin == Origin("k.yaml", line)
    assert launch.container is sighting.containers[0]
    assert sighting.findings == ()


@pytest.mark.parametrize(
    ("fields", "spec", "expected"),
    [
        (
            "resources: {limits: {huawei.com/Ascend310P: 2}}",
            "{}",
            {"npus": (), "npus_wanted": 2, "chip": "Ascend310P"},
        ),
        (
            'resources: {limits: {huawei.com/Ascend910: "8", cpu: 4}}',
            "{}",
            {"npus_wanted": 8, "chip": "Ascend910"},
        ),
        (
            "resources: {requests: {huawei.com/Ascend910B4: 1}}",
            "{}",
            {"npus_wanted": 1, "chip": "Ascend910B4"},
        ),
        ("resources: {limits: {huawei.com/npu: 4}}", "{}", {"npus_wanted": 4, "chip": ""}),
        (
            "resources: {limits: {huawei.com/Ascend310P-4c: 1}}",
            "{}",
            {"npus_wanted": 1, "chip": "Ascend310P"},
        ),
        (
            "resources: {limits: {huawei.com/Ascend310P-memory: 8192, nvidia.com/gpu: 1}}",
            "{}",
            {"npus_wanted": 0, "chip": ""},
        ),
        ("securityContext: {privileged: true}", "{}", {"npus": None}),
        (
            "volumeMounts: [{name: a, mountPath: /dev/davinci0}, {name: b, mountPath: /m}]",
            (
                "{volumes: [{name: a, hostPath: {path: /dev/davinci3}},"
                " {name: b, hostPath: {path: /d}}]}"
            ),
            {"npus": (3,), "mounts": (Mount("/dev/davinci3", "/dev/davinci0"), Mount("/d", "/m"))},
        ),
        (
            "volumeMounts: [{name: a, mountPath: /m, subPath: q}, {name: e, mountPath: /t}]",
            "{volumes: [{name: a, persistentVolumeClaim: {claimName: c}}, {name: e}]}",
            {"mounts": (Mount("c/q", "/m"),)},
        ),
        (
            "ports: [{containerPort: 8000}, {containerPort: 53, protocol: UDP}]",
            "{}",
            {"ports": (PortMap(None, 8000),), "address": ""},
        ),
        (
            "ports: [{containerPort: 8000, hostPort: 12320}]",
            "{nodeName: n1}",
            {"ports": (PortMap(12320, 8000),), "address": "", "node": "n1"},
        ),
        (
            "",
            "{hostNetwork: true, nodeName: n1}",
            {"is_host_network": True, "node": "n1", "address": "n1"},
        ),
        ("", "{nodeSelector: {kubernetes.io/hostname: n2}}", {"node": "n2", "address": ""}),
        (
            "",
            (
                "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                "{nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, "
                "operator: In, values: [n3]}]}]}}}}"
            ),
            {"node": "n3"},
        ),
        (
            "env: [{name: A, value: b}, {name: N, value: 1}, {name: S, valueFrom: {}}, {}]",
            "{}",
            {"environment": {"A": "b", "N": "1"}},
        ),
        ("", "{}", {"name": "p", "image": "vllm", "replicas": 1, "argv": ()}),
        (
            "command: 5\nargs: {a: b}\nenv: x\nports: [x]\nresources: [1]",
            "{volumes: {a: b}}",
            {"environment": {}, "ports": ()},
        ),
    ],
)
def test_fields(fields: str, spec: str, expected: dict[str, Any]) -> None:
    found = container(fields, spec)
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("fields", "code", "values"),
    [
        (
            "args: [$(S), --model, x]\nenv: [{name: S, valueFrom: {secretKeyRef: {}}}]",
            Code.VARIABLE_UNSET,
            {"variable": "S"},
        ),
        (
            "envFrom: [{secretRef: {name: s}}]",
            Code.ENV_FILE_UNREAD,
            {"container": "p", "source": "secret/s"},
        ),
        (
            "envFrom: [{configMapRef: {name: m}}]",
            Code.ENV_FILE_UNREAD,
            {"container": "p", "source": "configmap/m"},
        ),
        (
            "args: [--model, /m]",
            Code.ENTRYPOINT_ASSUMED,
            {"container": "p", "entrypoint": "vllm serve"},
        ),
        ("command: [bash, /s.sh]", Code.SHELL_NOT_FOLLOWED, {"what": "/s.sh"}),
        ("command: [sh, -c, vllm serve /m --port $P]", Code.VARIABLE_UNSET, {"variable": "P"}),
    ],
)
def test_what_is_noticed(fields: str, code: Code, values: dict[str, str]) -> None:
    found = {f.code: dict(f.values) for f in seen(pod(fields)).findings}
    assert found[code] == values


def test_pods_that_have_to_do_with_no_engine_are_quiet() -> None:
    text = pod("args: [$(S)]\nenv: [{name: S, valueFrom: {}}]\nenvFrom: [{secretRef: {name: s}}]")
    sighting = seen(text.replace("vllm", "redis"))
    assert [c.image for c in sighting.containers] == ["redis"]
    assert sighting.findings == ()


CONFIG_MAP = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: m}
data:
  start.sh: "vllm serve $1 --port $PORT"
  PORT: "8000"
"""


@pytest.mark.parametrize(
    ("command", "volume", "mount"),
    [
        ("[bash, /s/start.sh, /m]", "configMap: {name: m}", "mountPath: /s/"),
        ("[/s/start.sh, /m]", "configMap: {name: m}", "mountPath: /s"),
        (
            "[sh, -e, /s/go.sh, /m]",
            "configMap: {name: m, items: [{key: start.sh, path: go.sh}]}",
            "mountPath: /s",
        ),
        ("[bash, /go.sh, /m]", "configMap: {name: m}", "mountPath: /go.sh, subPath: start.sh"),
    ],
)
def test_a_start_script_of_a_config_map_is_read(command: str, volume: str, mount: str) -> None:
    text = pod(
        f"command: {command}\nenvFrom: [{{configMapRef: {{name: m}}}}]\n"
        f"volumeMounts: [{{name: v, {mount}}}]",
        f"{{volumes: [{{name: v, {volume}}}]}}",
    )
    sighting = seen(text + CONFIG_MAP)
    assert sighting.launches[0].argv == SERVE
    assert sighting.findings == ()
    assert sighting.containers[0].argv[-1] == "/m"


def test_a_variable_of_a_config_map_is_known() -> None:
    fields = "env: [{name: P, valueFrom: {configMapKeyRef: {name: m, key: PORT}}}]"
    assert seen(pod(fields) + CONFIG_MAP).containers[0].environment == {"P": "8000"}


def test_copies_behind_one_address_are_told() -> None:
    sighting = seen(workload("Deployment", "replicas: 3\n" + TEMPLATE))
    (finding,) = sighting.findings
    assert finding.code is Code.REPLICAS_ONE_ADDRESS
    assert finding.values == {"container": "w", "count": "3"}


def words(text: str) -> list[str]:
    return text.split()


KEYS = words(
    "spec template metadata labels name containers volumes volumeMounts mountPath hostPath path"
    " configMap items key command args env value valueFrom envFrom configMapRef resources limits"
    " huawei.com/Ascend310P ports containerPort replicas selector port targetPort serviceName"
    " nodeSelector affinity status ownerReferences namespace image securityContext"
)
SCALARS = st.none() | st.sampled_from(["a", "1", "$(A)", "vllm", "9" * 12, "$$", "true", "-1"])
TREES: st.SearchStrategy[Tree] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=25,
)
KINDS = st.sampled_from(["Pod", "StatefulSet", "Service", "ConfigMap", "List", "LeaderWorkerSet"])


@UNHURRIED
@given(st.lists(st.tuples(KINDS, TREES, TREES, TREES), max_size=3))
def test_any_tree_is_read(objects: list[tuple[str, Tree, Tree, Tree]]) -> None:
    documents = [
        Document({"kind": kind, "metadata": metadata, "spec": spec, "items": items, "data": items})
        for kind, metadata, spec, items in objects
    ]
    read_kubernetes(documents, "k")
