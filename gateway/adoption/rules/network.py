"""Rules: the gateway reaches the port on which the engine listens."""

from collections.abc import Iterator

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules.reading import container_name, is_in_host_network, joined
from gateway.adoption.rules.rule import at_container, at_launch, found


def is_loopback(host: str | None) -> bool:
    """Whether an address is that of the machine, or of the container, itself."""
    return host is not None and (host in ("localhost", "::1", "[::1]") or host.startswith("127."))


def port_published(candidate: Candidate) -> Iterator[Finding]:
    """The port of the engine is published, under a number that is known.

    A container that others reach by a name of its own, as in Kubernetes, needs no published port.
    Where the port had to be guessed, the guess tells why already.
    """
    container = candidate.container
    if candidate.launch is None or container is None:
        return
    if container.is_host_network or container.address or container.network_of:
        return
    if any(
        guess.code in (Code.PORT_RANDOM, Code.PORT_NOT_PUBLISHED) for guess in candidate.guesses
    ):
        return
    name, port = container.name, candidate.engine_port
    origin = at_container(candidate)
    is_random = candidate.port_map is not None and candidate.port_map.host_port is None
    if is_random or (candidate.port_map is None and container.is_publishing_all):
        yield found(Code.PORT_RANDOM, candidate, origin, container=name, port=port)
    elif candidate.port_map is None:
        yield found(
            Code.PORT_NOT_PUBLISHED,
            candidate,
            origin,
            container=name,
            port=port,
            published=joined(entry.container_port for entry in container.ports),
        )
    elif candidate.port_map.host_port != port:
        yield found(
            Code.PORT_DIFFERS,
            candidate,
            at_launch(candidate),
            container=name,
            port=port,
            host_port=str(candidate.port_map.host_port),
        )


def loopback(candidate: Candidate) -> Iterator[Finding]:
    """The engine listens on an address that others reach."""
    if candidate.launch is None or not is_loopback(candidate.bind_host):
        return
    host = candidate.bind_host or ""
    if is_in_host_network(candidate):
        yield found(
            Code.LOOPBACK_ONLY,
            candidate,
            at_launch(candidate),
            host=host,
            port=candidate.engine_port,
        )
    else:
        yield found(
            Code.LOOPBACK_IN_CONTAINER,
            candidate,
            at_launch(candidate),
            host=host,
            container=container_name(candidate),
        )


def is_open_to_others(candidate: Candidate) -> bool:
    """Whether machines other than its own can connect to the engine.

    Without --host vLLM listens on all addresses (vllm entrypoints/openai/api_server.py).
    """
    if candidate.launch is None or is_loopback(candidate.bind_host):
        return False
    return candidate.port_map is None or not is_loopback(candidate.port_map.host_ip or None)
