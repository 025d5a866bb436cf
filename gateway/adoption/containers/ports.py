"""Published ports in the spellings of Docker, Podman and Compose."""

from ipaddress import ip_address
from typing import Final

from gateway.adoption.sources import PortMap

MAX_RANGE: Final = 256
"""The widest range that is read; a wider one is no list of servers."""

_HIGHEST: Final = 65535
_EVERYWHERE: Final = frozenset({"", "0.0.0.0", "::", "*"})


def read_ports(text: str) -> tuple[PortMap, ...]:
    """The ports of one `[ip:][host[-host]]:container[-container][/protocol]`, or of a bare port.

    () for UDP and SCTP, over which nobody speaks HTTP. ValueError where Docker would refuse, or
    where a range is wider than MAX_RANGE.
    """
    place, _, protocol = text.strip().partition("/")
    host_ip, host, inside = _parts(place)
    return map_ports(host, inside, host_ip, protocol)


def map_ports(host: str, inside: str, host_ip: str = "", protocol: str = "") -> tuple[PortMap, ...]:
    """The ports of a host part and a container part, either of them a port or a range.

    An empty host part, `0`, or a range of which the host takes any one leave the host's port open.
    ValueError as in `read_ports`.
    """
    containers = _ports(inside)
    hosts = _ports(host) if host.strip() not in ("", "0") else ()
    if protocol.lower() not in ("", "tcp"):
        return ()
    ip = "" if host_ip in _EVERYWHERE else str(ip_address(host_ip))
    if not hosts or (len(containers) == 1 and len(hosts) > 1):
        return tuple(PortMap(None, port, ip) for port in containers)
    if len(hosts) != len(containers):
        raise ValueError(f"{len(hosts)} ports for {len(containers)}")
    return tuple(PortMap(a, b, ip) for a, b in zip(hosts, containers, strict=True))


def _parts(text: str) -> tuple[str, str, str]:
    """Address, host part and container part; an IPv6 address may lack its brackets."""
    if text.startswith("["):
        ip, bracket, rest = text[1:].partition("]:")
        if not bracket:
            raise ValueError("no ports behind the address")
        host, colon, inside = rest.rpartition(":")
        return ip, host if colon else "", inside
    before, _, inside = text.rpartition(":")
    ip, _, host = before.rpartition(":")
    return ip, host, inside


def _ports(text: str) -> tuple[int, ...]:
    first, dash, last = text.strip().partition("-")
    low = _port(first)
    high = _port(last) if dash else low
    if high < low:
        raise ValueError("the range runs backwards")
    if high - low >= MAX_RANGE:
        raise ValueError(f"more than {MAX_RANGE} ports")
    return tuple(range(low, high + 1))


def _port(text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 5:
        raise ValueError(f"{text!r} is no port")
    if not 0 < (port := int(text)) <= _HIGHEST:
        raise ValueError(f"{port} is no port")
    return port
