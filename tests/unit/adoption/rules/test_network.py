from dataclasses import replace
from typing import Final

import pytest

from gateway.adoption.codes import Code
from gateway.adoption.sources import PortMap
from tests.unit.adoption.rules.backends import (
    Case,
    backend,
    by_hand,
    case,
    container,
    found_in,
    on_host,
)

PUBLISHED: Final = container(ports=(PortMap(12322, 12320),))
ON_HOST_NETWORK: Final = container(is_host_network=True, ports=())

FIRES: Final = (
    case(
        Code.PORT_DIFFERS,
        "published under another number",
        backend({"port": 12320}, container=PUBLISHED),
        port="12320",
        host_port="12322",
        container="vllm-ascend-qwen3.5-9b",
    ),
    case(
        Code.PORT_NOT_PUBLISHED,
        "another one is",
        backend({"port": 8001}, container=PUBLISHED, port_map=None),
        port="8001",
        published="12320",
    ),
    case(
        Code.PORT_NOT_PUBLISHED,
        "none is",
        backend(container=container(ports=()), port_map=None),
        published="-",
    ),
    case(
        Code.PORT_RANDOM,
        "docker chooses",
        backend(container=container(ports=(PortMap(None, 8000),))),
        port="8000",
    ),
    case(
        Code.PORT_RANDOM,
        "docker publishes all",
        backend(container=container(ports=(), is_publishing_all=True), port_map=None),
    ),
    case(
        Code.LOOPBACK_IN_CONTAINER,
        "with a published port",
        backend({"host": "127.0.0.1"}),
        host="127.0.0.1",
    ),
    case(
        Code.LOOPBACK_IN_CONTAINER,
        "in a container that no source starts",
        replace(by_hand(told={"host": "localhost"}), container=None, port_map=None),
    ),
    case(
        Code.LOOPBACK_ONLY,
        "on the machine",
        on_host({"host": "127.0.0.1", "port": 1025}),
        host="127.0.0.1",
        port="1025",
    ),
    case(
        Code.LOOPBACK_ONLY,
        "in the machine's network",
        backend({"host": "::1"}, container=ON_HOST_NETWORK),
    ),
)

QUIET: Final = (
    case(Code.PORT_DIFFERS, "the same number", backend()),
    case(Code.PORT_DIFFERS, "no container", on_host({"port": 12320})),
    case(Code.PORT_NOT_PUBLISHED, "published", backend({"port": 12320}, container=PUBLISHED)),
    case(Code.PORT_NOT_PUBLISHED, "host network", backend(container=ON_HOST_NETWORK)),
    case(
        Code.PORT_NOT_PUBLISHED,
        "reached by a name of its own",
        backend(container=container(ports=(), address="qwen.default"), port_map=None),
    ),
    case(
        Code.PORT_NOT_PUBLISHED,
        "in the network of another container",
        backend(container=container(ports=(), network_of="proxy"), port_map=None),
    ),
    case(Code.PORT_RANDOM, "fixed", backend()),
    case(Code.LOOPBACK_IN_CONTAINER, "all addresses", backend({"host": "0.0.0.0"})),
    case(
        Code.LOOPBACK_IN_CONTAINER,
        "host network",
        backend({"host": "127.0.0.1"}, container=ON_HOST_NETWORK),
    ),
    case(Code.LOOPBACK_ONLY, "an address", on_host({"host": "10.0.0.5"})),
    case(Code.LOOPBACK_ONLY, "not given", on_host({"host": None})),
)


@pytest.mark.parametrize("case", FIRES, ids=str)
def test_fires(case: Case) -> None:
    found = found_in(case)
    assert len(found) == 1
    assert case.values.items() <= dict(found[0].values).items()


@pytest.mark.parametrize("case", QUIET, ids=str)
def test_keeps_quiet(case: Case) -> None:
    assert found_in(case) == []
