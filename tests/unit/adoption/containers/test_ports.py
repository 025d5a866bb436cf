import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.containers.ports import MAX_RANGE, map_ports, read_ports
from gateway.adoption.sources import PortMap

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("12322:12320", [(12322, 12320, "")]),
        ("8000", [(None, 8000, "")]),
        (":8000", [(None, 8000, "")]),
        ("0:8000", [(None, 8000, "")]),
        ("127.0.0.1:8001:8000", [(8001, 8000, "127.0.0.1")]),
        ("127.0.0.1::8000", [(None, 8000, "127.0.0.1")]),
        ("0.0.0.0:80:8000/tcp", [(80, 8000, "")]),
        ("[::1]:80:8000", [(80, 8000, "::1")]),
        ("::1:80:8000", [(80, 8000, "::1")]),
        ("[::]:80:8000", [(80, 8000, "")]),
        ("8000-8002:9000-9002", [(8000, 9000, ""), (8001, 9001, ""), (8002, 9002, "")]),
        ("8000-8001", [(None, 8000, ""), (None, 8001, "")]),
        ("8000-8009:80", [(None, 80, "")]),
        ("8000-8000:80", [(8000, 80, "")]),
        ("80:80/TCP", [(80, 80, "")]),
        ("53:53/udp", []),
        ("9:9/sctp", []),
    ],
)
def test_spellings(text: str, ports: list[tuple[int | None, int, str]]) -> None:
    assert read_ports(text) == tuple(PortMap(*port) for port in ports)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http",
        "80:",
        "1-2:1-3",
        "9-8:1",
        "70000:80",
        "80:0",
        "80:80:80",
        "localhost:80:80",
        "[::1]80:80",
        "[::1]",
        "1.2.3.4",
        "８０:80",
        f"1-{MAX_RANGE + 1}:1-{MAX_RANGE + 1}",
    ],
)
def test_what_docker_refuses_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_ports(text)


def test_the_parts_can_come_apart() -> None:
    assert map_ports("12320", "8000", "127.0.0.1", "tcp") == (PortMap(12320, 8000, "127.0.0.1"),)
    assert map_ports("", "8000") == (PortMap(None, 8000),)


@UNHURRIED
@given(st.text(alphabet="0123456789.:-[]/tcpud", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        ports = read_ports(text)
    except ValueError:
        return
    assert all(0 < port.container_port < 65536 for port in ports)
    assert len(ports) <= MAX_RANGE
