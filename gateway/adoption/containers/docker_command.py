"""`docker run`, `create` and `exec`, and the same of podman, nerdctl and isula."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.containers.devices import npus_of
from gateway.adoption.containers.docker_options import CLIENT, EXEC, RUN
from gateway.adoption.containers.mounts import mounts_of
from gateway.adoption.containers.noticed import noticed
from gateway.adoption.containers.options import Parsed, read_options
from gateway.adoption.containers.ports import read_ports
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import Container, PortMap

MAX_PORT_TEXTS: Final = 1000
"""More published ports than any container has; each may be a range."""

_TOOLS: Final = frozenset({"docker", "podman", "nerdctl", "isula", "docker-compose"})
_HOST_VARIABLES: Final[Mapping[str, str]] = MappingProxyType(
    {"docker": "DOCKER_HOST", "docker-compose": "DOCKER_HOST", "podman": "CONTAINER_HOST"}
)
_RUNS: Final = frozenset({"run", "create"})
_SHELLS: Final = frozenset({"bash", "sh", "dash", "ash", "zsh", "ksh"})
_GROUPS: Final = frozenset({"container", "compose"})


@dataclass(frozen=True, slots=True)
class DockerCall:
    """A call of a container tool: its subcommand, what follows it, and the host it talks to.

    `host` is "" for the machine on which it is called.
    """

    verb: str
    words: tuple[str, ...]
    host: str = ""

    @property
    def is_run(self) -> bool:
        """Whether it makes a container."""
        return self.verb in _RUNS


@dataclass(frozen=True, slots=True)
class Inside:
    """A command that is run in a container which is already there.

    With `is_entered` it is a shell for somebody to type in, so what comes next is run there.
    """

    container_name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    is_entered: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    """A container that is made; `is_entered` as above."""

    container: Container
    is_entered: bool = False


def read_call(argv: Sequence[str], environment: Mapping[str, str]) -> DockerCall | None:
    """What `argv` asks of a container tool; None where it is no such call.

    `environment` is the caller's, for DOCKER_HOST and CONTAINER_HOST.
    `docker compose run` and `up` start what the Compose file says and are no calls of their own;
    the `exec` of Compose names a service.
    """
    tool = argv[0].rpartition("/")[2] if argv else ""
    if tool not in _TOOLS:
        return None
    client = read_options(argv[1:], CLIENT)
    words = client.words
    is_compose = tool == "docker-compose"
    if words and words[0] in _GROUPS:
        is_compose = words[0] == "compose"
        words = read_options(words[1:], CLIENT).words
    if not words or words[0] not in (*_RUNS, "exec") or (is_compose and words[0] != "exec"):
        return None
    given = client.last("host", "url") or environment.get(_HOST_VARIABLES.get(tool, ""), "")
    return DockerCall(words[0], words[1:], _host(given))


def _host(url: str) -> str:
    """The machine in `tcp://10.0.0.5:2375` or `ssh://user@node1`; "" for a local socket."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in ("tcp", "ssh", "http", "https"):
        return ""
    place = rest.partition("/")[0].rpartition("@")[2]
    if place.startswith("["):
        return place[1:].partition("]")[0]
    return place.partition(":")[0]


def read_exec(
    call: DockerCall, environment: Mapping[str, str], origin: Origin
) -> tuple[Inside, tuple[Finding, ...]]:
    """The command of an `exec` and its container; `environment` is the caller's, for `-e NAME`."""
    parsed = read_options(call.words, EXEC)
    name, argv = (parsed.words[0], parsed.words[1:]) if parsed.words else ("", ())
    inside = Inside(name, argv, _environment(parsed, environment), _is_entered(parsed, argv))
    return inside, tuple(_files_and_unknown(parsed, name, origin))


def read_run(
    call: DockerCall, environment: Mapping[str, str], origin: Origin
) -> tuple[Started, tuple[Finding, ...]]:
    """The container of a `run` or `create`; `environment` is the caller's, for `-e NAME`."""
    parsed = read_options(call.words, RUN)
    image, arguments = (parsed.words[0], parsed.words[1:]) if parsed.words else ("", ())
    name = parsed.last("name") or ""
    inner = _environment(parsed, environment)
    network = next(iter(parsed.every("network", "net")), "")
    npus = npus_of(
        parsed.every("device"),
        inner,
        runtime=parsed.last("runtime") or "",
        is_privileged=parsed.has("privileged"),
    )
    ports, bad_ports = read_all_ports(parsed.every("publish"))
    entrypoint = parsed.last("entrypoint")
    container = Container(
        origin=origin,
        name=name,
        image=image,
        npus=npus.numbers,
        environment=inner,
        ports=ports,
        mounts=mounts_of(parsed.every("volume"), parsed.every("mount")),
        is_host_network=network == "host",
        argv=((entrypoint,) if entrypoint else ()) + arguments,
        node=call.host,
        network_of=network.removeprefix("container:") if network.startswith("container:") else "",
        is_publishing_all=parsed.has("publish-all"),
    )
    findings = (
        *_files_and_unknown(parsed, name or image, origin),
        *unread_devices(npus.unread, name or image, origin),
        *unread_ports(bad_ports, name or image, origin),
    )
    is_entered = call.verb == "run" and _is_entered(parsed, arguments)
    return Started(container, is_entered), findings


def read_all_ports(texts: Iterable[str]) -> tuple[tuple[PortMap, ...], tuple[str, ...]]:
    """The ports of several texts without repetition, and the texts that can't be read."""
    found: dict[PortMap, None] = {}
    bad: list[str] = []
    for text in islice(texts, MAX_PORT_TEXTS):
        try:
            found.update(dict.fromkeys(read_ports(text)))
        except ValueError:
            bad.append(text)
    return tuple(found), tuple(bad)


def unread_devices(texts: Iterable[str], container: str, origin: Origin) -> tuple[Finding, ...]:
    """A finding for each list of devices that could not be read."""
    return tuple(
        noticed(Code.DEVICES_UNREADABLE, origin, container=container, devices=text)
        for text in texts
    )


def unread_ports(texts: Iterable[str], container: str, origin: Origin) -> tuple[Finding, ...]:
    """A finding for each published port that could not be read."""
    return tuple(
        noticed(Code.PORT_UNREADABLE, origin, container=container, port=text) for text in texts
    )


def is_bare_shell(argv: Sequence[str]) -> bool:
    """Whether `argv` is a shell that reads what somebody types."""
    if not argv or argv[0].rpartition("/")[2] not in _SHELLS:
        return False
    return all(
        word.startswith("--") or (word.startswith("-") and "c" not in word) for word in argv[1:]
    )


def _is_entered(parsed: Parsed, argv: Sequence[str]) -> bool:
    is_open = parsed.has("interactive", "tty") and not parsed.has("detach")
    return is_open and (not argv or is_bare_shell(argv))


def _environment(parsed: Parsed, caller: Mapping[str, str]) -> Mapping[str, str]:
    """`-e A=b`, and `-e A`, which hands on what the caller has."""
    found: dict[str, str] = {}
    for text in parsed.every("env"):
        name, equals, value = text.partition("=")
        if equals:
            found[name] = value
        elif name in caller:
            found[name] = caller[name]
    return MappingProxyType(found)


def _files_and_unknown(parsed: Parsed, container: str, origin: Origin) -> Iterable[Finding]:
    for file in parsed.every("env-file"):
        yield noticed(Code.ENV_FILE_UNREAD, origin, container=container, source=file)
    for option in parsed.unknown:
        yield noticed(Code.CONTAINER_OPTION_UNKNOWN, origin, container=container, option=option)
