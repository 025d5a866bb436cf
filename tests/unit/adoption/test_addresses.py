"""Where an engine is reached: published ports, the host's network, clusters, own addresses."""

from typing import Any

import pytest

from gateway.adoption.addresses import address_of, machine_of
from gateway.adoption.codes import Code
from gateway.adoption.sources import Container, PortMap
from tests.unit.adoption.started import box, start

HOST_OF_BOX = {"ports": (PortMap(12322, 12320),)}


@pytest.mark.parametrize(
    ("line", "fields", "url", "guess"),
    [
        ("m --port 12320", HOST_OF_BOX, "http://10.0.0.5:12322", None),
        ("m", {"ports": (PortMap(80, 8000),)}, "http://10.0.0.5:80", None),
        ("m --port 1", HOST_OF_BOX, "http://10.0.0.5:1", Code.PORT_NOT_PUBLISHED),
        ("m --port 1", {}, "http://10.0.0.5:1", Code.PORT_NOT_PUBLISHED),
        ("m --port 1", {"ports": (PortMap(None, 1),)}, "http://10.0.0.5:1", Code.PORT_RANDOM),
        ("m --port 1", {"is_publishing_all": True}, "http://10.0.0.5:1", Code.PORT_RANDOM),
        ("m --port 9", {"is_host_network": True}, "http://10.0.0.5:9", None),
        ("m", {"is_host_network": True}, "http://10.0.0.5:8000", Code.PORT_DEFAULT),
        ("m --port 8", {"address": "svc", "ports": (PortMap(80, 8),)}, "http://svc:80", None),
        ("m --port 8", {"address": "svc"}, "http://svc:8", None),
        (
            "m --port 8",
            {"address": "svc", "ports": (PortMap(80, 9),)},
            "http://svc:8",
            Code.PORT_NOT_PUBLISHED,
        ),
        ("m --port 8", {"node": "n1", "ports": (PortMap(80, 8),)}, "http://n1:80", None),
    ],
)
def test_in_a_container(line: str, fields: dict[str, Any], url: str, guess: Code | None) -> None:
    address = address_of(start(line, box(**fields)), (), "10.0.0.5")
    assert address.url == url
    assert [one.code for one in address.guesses] == ([guess] if guess else [])
    assert not address.is_host_guessed


@pytest.mark.parametrize(
    ("line", "url", "is_host_guessed"),
    [
        ("m --port 1", "http://127.0.0.1:1", True),
        ("m --port 1 --host 0.0.0.0", "http://127.0.0.1:1", True),
        ("m --port 1 --host ::", "http://127.0.0.1:1", True),
        ("m --port 1 --host 127.0.0.1", "http://127.0.0.1:1", False),
        ("m --port 1 --host 10.1.1.1", "http://10.1.1.1:1", False),
        ("m --port 1 --ssl-certfile c --ssl-keyfile k", "https://127.0.0.1:1", True),
        ("m --port 1 --root-path /nine/", "http://127.0.0.1:1/nine", True),
    ],
)
def test_without_container(line: str, url: str, is_host_guessed: bool) -> None:
    address = address_of(start(line), (), "127.0.0.1")
    assert (address.url, address.is_host_guessed) == (url, is_host_guessed)


def test_what_a_socket_or_an_unseen_container_leaves_open() -> None:
    socket = address_of(start("m --uds /run/vllm.sock"), (), "h")
    assert [one.code for one in socket.guesses] == [Code.SOCKET_ONLY]
    unseen = address_of(start("m --port 1", container_name="gone"), (), "h")
    assert [one.code for one in unseen.guesses] == [Code.CONTAINER_UNSEEN]
    assert (unseen.host, unseen.port) == ("h", 1)


def test_the_machine_of_ssh() -> None:
    address = address_of(start("m --port 1", host="root@npu7"), (), "127.0.0.1")
    assert (address.host, address.is_host_guessed) == ("npu7", False)


def test_a_port_that_is_published_at_one_address_of_the_machine() -> None:
    there = box(ports=(PortMap(5, 1, "10.9.9.9"),))
    assert address_of(start("m --port 1", there), (), "127.0.0.1").host == "10.9.9.9"
    own = box(ports=(PortMap(5, 1, "127.0.0.1"),))
    address = address_of(start("m --port 1", own), (), "127.0.0.1")
    assert (address.host, address.is_host_guessed) == ("127.0.0.1", False)


def test_a_container_in_the_network_of_another() -> None:
    outer = box(name="pause", ports=(PortMap(7000, 1),))
    inner = box(network_of="pause")
    assert address_of(start("m --port 1", inner), (outer, inner), "h").port == 7000
    loop: Container = box(network_of="box")
    assert address_of(start("m --port 1", loop), (loop,), "h").port == 1


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.1.1", "::1", "LOCALHOST."])
def test_the_own_machine_has_many_names(host: str) -> None:
    assert machine_of(host) == "localhost"
