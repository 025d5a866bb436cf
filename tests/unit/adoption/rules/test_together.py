from dataclasses import replace
from typing import Final

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.sources import PortMap
from gateway.config.vocabulary import Chip
from tests.unit.adoption.rules.backends import (
    Case,
    backend,
    by_hand,
    case,
    container,
    found_in,
    on_host,
)

BASE: Final = "HCCL_IF_BASE_PORT"
METRICS: Final = {"PROMETHEUS_MULTIPROC_DIR": "/tmp/metrics"}
SECOND: Final = container(
    name="vllm-ascend-qwen3.5-27b",
    npus=(2, 3),
    environment={"ASCEND_RT_VISIBLE_DEVICES": "2,3"},
)
HOST_NETWORK: Final = container(is_host_network=True, ports=())
LARGE: Final = {"model": "/models/qwen3.5-27B-w8a8", "served_names": ("qwen3.5-27b",)}


def published(port: int, host_ip: str = "") -> tuple[PortMap, ...]:
    return (PortMap(port, 8000, host_ip),)


FIRES: Final = (
    case(
        Code.ADDRESS_TWICE,
        "published twice",
        backend(),
        backend(LARGE, name="b", container=SECOND),
        port="8000",
        other="qwen3.5-9b",
        place="docker.sh:3",
    ),
    case(
        Code.ADDRESS_TWICE,
        "published, and taken on the machine",
        backend(),
        on_host(LARGE, name="b"),
    ),
    case(
        Code.ADDRESS_TWICE,
        "on all addresses, and on one",
        backend(container=container(ports=published(8000, "10.0.0.5"))),
        backend(LARGE, name="b", container=SECOND),
    ),
    case(
        Code.LISTENER_SHARED,
        "on the machine",
        on_host(),
        on_host(LARGE, name="b"),
        port="8000",
        other="qwen3.5-9b",
    ),
    case(
        Code.LISTENER_SHARED,
        "in the machine's network",
        backend(container=HOST_NETWORK, name="a"),
        backend(LARGE, container=replace(HOST_NETWORK, name="b"), name="b"),
        other="a",
    ),
    case(
        Code.LISTENER_SHARED,
        "in one container",
        by_hand(),
        by_hand(name="b", told=LARGE, env={"ASCEND_RT_VISIBLE_DEVICES": "2,3"}),
        other="qwen3.5-9b",
    ),
    case(
        Code.HCCL_PORTS_SHARED,
        "both by default",
        on_host(),
        on_host(LARGE, name="b", port=8001),
        port="60000",
        last="60015",
        better="60100",
    ),
    case(
        Code.HCCL_PORTS_SHARED,
        "too near",
        on_host(env={BASE: "60010"}),
        on_host(LARGE, name="b", port=8001),
        better="60110",
    ),
    case(
        Code.METRICS_SHARED,
        "one folder",
        on_host(env=METRICS),
        on_host(LARGE, name="b", port=8001, env=METRICS),
        folder="/tmp/metrics",
        other="qwen3.5-9b",
    ),
    case(
        Code.SERVED_NAME_SHARED,
        "two models",
        backend(),
        backend({"model": "/models/Qwen3.5-9B-W8A8"}, name="b", container=SECOND),
        name="qwen3.5-9b",
        model="/models/Qwen3.5-9B-W8A8",
        other="qwen3.5-9b",
        other_model="/models/Qwen3.5-9B",
    ),
    case(
        Code.NAMES_DIFFER_IN_CASE,
        "one letter",
        backend(),
        backend({"served_names": ("Qwen3.5-9B",)}, name="b", container=SECOND),
        name="Qwen3.5-9B",
        other_name="qwen3.5-9b",
        other="qwen3.5-9b",
    ),
)

QUIET: Final = (
    case(
        Code.ADDRESS_TWICE,
        "different ports",
        backend(),
        backend(LARGE, name="b", container=replace(SECOND, ports=published(8001))),
    ),
    case(
        Code.ADDRESS_TWICE,
        "different machines",
        backend(),
        backend(LARGE, name="b", host="10.0.0.6", container=SECOND),
    ),
    case(
        Code.ADDRESS_TWICE,
        "different addresses of the machine",
        backend(container=container(ports=published(8000, "10.0.0.5"))),
        backend(LARGE, name="b", container=replace(SECOND, ports=published(8000, "10.0.0.6"))),
    ),
    case(
        Code.ADDRESS_TWICE,
        "containers that no source starts may have any ports",
        replace(by_hand(), container=None, port_map=None),
        replace(by_hand(SECOND, told=LARGE), container=None, port_map=None),
    ),
    case(
        Code.ADDRESS_TWICE,
        "replicas behind one service",
        backend(host="qwen", container=container(address="qwen")),
        backend(host="qwen", name="b", container=container(address="qwen", name="b")),
    ),
    case(
        Code.ADDRESS_TWICE,
        "a server that was only named",
        backend(),
        backend(name="b", launch=None, container=None, arguments=None),
    ),
    case(Code.ADDRESS_TWICE, "on the machine, which is told apart", on_host(), on_host(name="b")),
    case(Code.LISTENER_SHARED, "different ports", on_host(), on_host(name="b", port=8001)),
    case(
        Code.LISTENER_SHARED,
        "containers with networks of their own",
        backend(container=container(ports=published(8000))),
        backend(name="b", container=replace(SECOND, ports=published(8001))),
    ),
    case(
        Code.HCCL_PORTS_SHARED,
        "far apart",
        on_host(env={BASE: "60100"}),
        on_host(name="b", port=8001),
    ),
    case(
        Code.HCCL_PORTS_SHARED,
        "one NPU needs none",
        on_host({"tensor_parallel": 1}),
        on_host(name="b", port=8001),
    ),
    case(
        Code.HCCL_PORTS_SHARED,
        "chosen by HCCL",
        on_host(env={"HCCL_HOST_SOCKET_PORT_RANGE": "auto"}),
        on_host(name="b", port=8001),
    ),
    case(Code.HCCL_PORTS_SHARED, "containers", backend(), backend(name="b", container=SECOND)),
    case(
        Code.HCCL_PORTS_SHARED,
        "different machines",
        on_host(),
        on_host(name="b", host="10.0.0.6", chip=Chip.A2),
    ),
    case(
        Code.METRICS_SHARED,
        "different containers",
        backend(env=METRICS),
        backend(name="b", container=SECOND, env=METRICS),
    ),
    case(Code.METRICS_SHARED, "not set", on_host(), on_host(name="b", port=8001)),
    case(
        Code.SERVED_NAME_SHARED,
        "twins in different folders",
        backend(),
        backend({"model": "/data/Qwen3.5-9B/"}, name="b", container=SECOND),
    ),
    case(Code.SERVED_NAME_SHARED, "different names", backend(), backend(LARGE, name="b")),
    case(Code.NAMES_DIFFER_IN_CASE, "the same", backend(), backend(name="b")),
    case(
        Code.NAMES_DIFFER_IN_CASE,
        "different altogether",
        backend(),
        backend(LARGE, name="b"),
    ),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []
