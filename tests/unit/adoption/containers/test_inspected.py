import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.codes import Code
from gateway.adoption.containers.inspected import is_inspected, read_inspected
from gateway.adoption.containers.manifest import Document, Tree, read_json
from gateway.adoption.findings import Origin
from gateway.adoption.sources import Container, Mount, PortMap, Sighting

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

FULL: dict[str, Any] = {
    "Id": "a" * 64,
    "Name": "/qwen-9b",
    "State": {"Running": True},
    "Config": {
        "Image": "quay.io/ascend/vllm-ascend:v1",
        "Env": ["PATH=/bin", "ASCEND_RT_VISIBLE_DEVICES=0,1", "NOVALUE"],
        "Cmd": ["-c", "vllm serve /m"],
        "Entrypoint": ["/bin/bash"],
    },
    "HostConfig": {
        "Binds": ["/data:/models:ro"],
        "Devices": [
            {"PathOnHost": "/dev/davinci0", "PathInContainer": "/dev/davinci0"},
            {"PathOnHost": "/dev/davinci1"},
            {"PathOnHost": "/dev/davinci_manager"},
        ],
        "NetworkMode": "bridge",
        "PortBindings": {"8000/tcp": [{"HostIp": "", "HostPort": "12320"}]},
        "Privileged": False,
        "Runtime": "runc",
    },
    "Mounts": [
        {"Type": "bind", "Source": "/data", "Destination": "/models"},
        {"Type": "volume", "Name": "v", "Source": "/var/lib/docker/v", "Destination": "/v"},
    ],
    "NetworkSettings": {
        "Ports": {
            "8000/tcp": [
                {"HostIp": "0.0.0.0", "HostPort": "12320"},
                {"HostIp": "::", "HostPort": "12320"},
            ],
            "9000/tcp": None,
        }
    },
}


def seen(*containers: dict[str, Any]) -> Sighting:
    return read_inspected(read_json(json.dumps(containers)), "i.json")


def changed(**changes: Any) -> Container:
    host = {**FULL["HostConfig"], **changes.pop("host", {})}
    config = {**FULL["Config"], **changes.pop("config", {})}
    return seen({**FULL, "HostConfig": host, "Config": config, **changes}).containers[0]


def test_a_container_as_it_is() -> None:
    sighting = seen(FULL)
    (container,) = sighting.containers
    assert container == Container(
        Origin("i.json"),
        "qwen-9b",
        "quay.io/ascend/vllm-ascend:v1",
        npus=(0, 1),
        environment={"PATH": "/bin", "ASCEND_RT_VISIBLE_DEVICES": "0,1"},
        ports=(PortMap(12320, 8000),),
        mounts=(Mount("/data", "/models"), Mount("v", "/v")),
        argv=("/bin/bash", "-c", "vllm serve /m"),
    )
    assert sighting.launches[0].argv == ("vllm", "serve", "/m")
    assert sighting.launches[0].container is container
    assert sighting.findings == ()


def test_each_of_several_is_read() -> None:
    assert [c.name for c in seen(FULL, {**FULL, "Name": "/b"}, {"Image": "i"}).containers] == [
        "qwen-9b",
        "b",
    ]


def test_one_that_stands_by_itself() -> None:
    document = read_json(json.dumps(FULL))
    assert is_inspected(document.tree)
    assert read_inspected(document, "i").containers[0].name == "qwen-9b"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"host": {"Privileged": True}}, {"npus": None}),
        ({"host": {"NetworkMode": "host"}}, {"is_host_network": True}),
        ({"host": {"NetworkMode": "container:abc"}}, {"network_of": "abc"}),
        ({"NetworkSettings": {}}, {"ports": (PortMap(12320, 8000),)}),
        (
            {"NetworkSettings": {"Ports": {"8000/tcp": [{"HostPort": "32768"}]}}},
            {"ports": (PortMap(32768, 8000),)},
        ),
        (
            {"NetworkSettings": {"Ports": {"x/tcp": [{"HostPort": "1"}], "5/udp": [{}]}}},
            {"ports": (PortMap(12320, 8000),)},
        ),
        (
            {
                "host": {"Runtime": "ascend", "Devices": None},
                "config": {"Env": ["ASCEND_VISIBLE_DEVICES=6-7"]},
            },
            {"npus": (6, 7)},
        ),
        (
            {"host": {"Devices": []}, "config": {"Env": ["ASCEND_VISIBLE_DEVICES=6"]}},
            {"npus": (6,)},
        ),
        ({"config": {"Cmd": None, "Entrypoint": "bash -l"}}, {"argv": ("bash -l",)}),
        ({"config": {"Image": ""}, "ImageName": "podman"}, {"image": "podman"}),
        ({"Mounts": None, "host": {"Binds": None}}, {"mounts": ()}),
    ],
)
def test_other_forms(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    found = changed(**changes)
    assert {name: getattr(found, name) for name in expected} == expected


def test_a_list_of_npus_that_is_none_is_told() -> None:
    host = {**FULL["HostConfig"], "Runtime": "ascend"}
    config = {**FULL["Config"], "Env": ["ASCEND_VISIBLE_DEVICES=x"]}
    (finding,) = seen({**FULL, "HostConfig": host, "Config": config}).findings
    assert finding.code is Code.DEVICES_UNREADABLE
    assert finding.values == {"container": "qwen-9b", "devices": "x"}


@pytest.mark.parametrize(
    "tree", [{}, [], "x", None, {"Config": {}}, [{"Config": {}, "HostConfig": 1}]]
)
def test_what_is_no_container(tree: Tree) -> None:
    assert not is_inspected(tree)


TREES: st.SearchStrategy[Tree] = st.recursive(
    st.none() | st.sampled_from(["a", "1", "true", "8000/tcp"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "Name",
                    "Env",
                    "Cmd",
                    "Devices",
                    "PathOnHost",
                    "Ports",
                    "8000/tcp",
                    "HostPort",
                    "Mounts",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@UNHURRIED
@given(TREES, TREES, TREES, TREES)
def test_any_tree_is_read(config: Tree, host: Tree, network: Tree, top: Tree) -> None:
    one: dict[str, Tree] = {"Config": config, "HostConfig": host, "NetworkSettings": network}
    read_inspected(Document([one, top]), "i")
    read_inspected(Document(top), "i")
