"""Where the gateway reaches an engine, and where the engine itself listens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Final

from gateway.adoption.candidate import Guess
from gateway.adoption.codes import Code
from gateway.adoption.rules.network import is_loopback
from gateway.adoption.rules.reading import joined
from gateway.adoption.sources import Container, PortMap
from gateway.adoption.starts import DEFAULT_PORT, Start
from gateway.config.url import BackendUrl, UrlProblem, parse_backend_url

_HOPS: Final = 4


@dataclass(frozen=True, slots=True)
class Address:
    """Where an engine is reached; see `Candidate`.

    `guesses` are of the port; while there are any, the port is no proof of anything.
    """

    scheme: str
    host: str
    port: int
    prefix: str = ""
    is_host_guessed: bool = False
    port_map: PortMap | None = None
    guesses: tuple[Guess, ...] = ()

    @property
    def url(self) -> str:
        """The address as a URL."""
        return BackendUrl(self.scheme, self.host, self.port, self.prefix).base

    @property
    def listener(self) -> tuple[str, int]:
        """Host and port, with every name of the own machine the same."""
        return (machine_of(self.host), self.port)


def machine_of(host: str) -> str:
    """A host for comparing; localhost, 127.0.0.1 and ::1 are one."""
    host = host.casefold().rstrip(".")
    return "localhost" if is_loopback(host) else host


def address_in(url: str) -> Address | None:
    """The address of a running server; None for a URL that no backend can have."""
    try:
        read = parse_backend_url(url)
    except UrlProblem:
        return None
    return Address(read.scheme, read.host, read.port, read.prefix)


def confirmed_at(address: Address, seen: Address) -> Address:
    """The address of an engine whose running server was asked: nothing of it is a guess."""
    return replace(
        address,
        scheme=seen.scheme,
        host=seen.host,
        port=seen.port,
        prefix=seen.prefix,
        is_host_guessed=False,
        guesses=(),
    )


def address_of(start: Start, containers: Sequence[Container], host: str) -> Address:
    """Where an engine is reached, as its command and its container say it.

    `host` is the machine where no source tells another.
    """
    outside = _network_of(start.container, containers)
    is_guessed = False
    place = _place(start, outside)
    if not place:
        place, is_guessed = _host_of_port(start, outside, host)
    address = Address(
        scheme="https" if start.arguments.has_tls else "http",
        host=place,
        port=start.engine_port,
        prefix=_prefix(start.arguments.root_path),
        is_host_guessed=is_guessed,
    )
    return _with_port(address, start, outside)


def _network_of(container: Container | None, containers: Sequence[Container]) -> Container | None:
    """The container whose network one uses, over a few steps."""
    for _ in range(_HOPS):
        if container is None or not container.network_of:
            break
        name = container.network_of
        container = next((one for one in containers if one.name == name), container)
    return container


def _place(start: Start, outside: Container | None) -> str:
    """The machine, or the name in a cluster, that a source tells; "" for none."""
    if outside is not None and (outside.address or outside.node):
        return outside.address or outside.node
    return start.launch.host.rpartition("@")[2]


def _host_of_port(start: Start, outside: Container | None, host: str) -> tuple[str, bool]:
    """The machine where only addresses tell it: that of the port map, or that of --host.

    One that is reached at a certain address of the machine is not reached at 127.0.0.1.
    """
    in_host_network = outside is None or outside.is_host_network
    port_map = None if in_host_network else _map_of(outside, start.engine_port)
    told = port_map.host_ip if port_map else ""
    if in_host_network and not start.container_name:
        told = start.arguments.host or ""
    if not is_loopback(host):
        return host, False
    if _is_own_address(told):
        return told.strip("[]"), False
    return host, not is_loopback(told or None)


def _is_own_address(text: str) -> bool:
    """Whether it is an address of one machine that others can use."""
    try:
        address = ip_address(text.strip("[]"))
    except ValueError:
        return False
    return not (address.is_unspecified or address.is_loopback)


def _prefix(root_path: str | None) -> str:
    path = (root_path or "").strip("/")
    return f"/{path}" if path else ""


def _map_of(container: Container | None, port: int) -> PortMap | None:
    ports = container.ports if container else ()
    known = [one for one in ports if one.container_port == port]
    return next((one for one in known if one.host_port is not None), next(iter(known), None))


def _with_port(address: Address, start: Start, outside: Container | None) -> Address:
    """The address with the port under which others see that of the engine."""
    port, name = start.engine_port, start.container_name
    if start.arguments.uds:
        values = {"path": start.arguments.uds, "port": str(port)}
        return _guessing(address, Code.SOCKET_ONLY, values)
    if outside is None and name:
        values = {"container": name, "port": str(port)}
        return _guessing(address, Code.CONTAINER_UNSEEN, values)
    if outside is None or outside.is_host_network:
        return _by_default(address, start)
    found = _map_of(outside, port)
    if found is not None and found.host_port is not None:
        return replace(address, port=found.host_port, port_map=found)
    values = {"container": name, "port": str(port)}
    if found is not None or outside.is_publishing_all:
        address = replace(address, port_map=found)
        return _guessing(address, Code.PORT_RANDOM, values)
    if outside.address and not outside.ports:
        return _by_default(address, start)
    published = joined(one.container_port for one in outside.ports)
    return _guessing(address, Code.PORT_NOT_PUBLISHED, {**values, "published": published})


def _by_default(address: Address, start: Start) -> Address:
    if start.arguments.port is not None:
        return address
    values = {"host": address.host, "port": str(DEFAULT_PORT)}
    return _guessing(address, Code.PORT_DEFAULT, values)


def _guessing(address: Address, code: Code, values: dict[str, str]) -> Address:
    guess = Guess("url", address.url, code, values)
    return replace(address, guesses=(*address.guesses, guess))
