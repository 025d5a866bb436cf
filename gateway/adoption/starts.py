"""One engine's start: its command, its container, and every other source that tells the same."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from posixpath import basename
from types import MappingProxyType
from typing import Final, NamedTuple

from gateway.adoption.engine.arguments import EngineArguments, read_arguments
from gateway.adoption.engine.config_file import read_config_file
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.rules.device_list import read_devices
from gateway.adoption.rules.reading import eager_option
from gateway.adoption.sources import Container, Launch
from gateway.config.containers import short_name

VISIBLE: Final = "ASCEND_RT_VISIBLE_DEVICES"
DEFAULT_PORT: Final = 8000
"""The port of `vllm serve` without --port (vllm entrypoints/openai/cli_args.py)."""


class Telling(NamedTuple):
    """One more source of the same start that says something else."""

    origin: Origin
    arguments: EngineArguments


@dataclass(frozen=True, slots=True)
class Start:
    """A command that starts an engine, with the container in which it runs, if any.

    `findings` are those of its command line, `origins` all places where it was found, `tellings`
    those of them that differ in something. `is_paired` says that the container is a guess.
    """

    launch: Launch
    arguments: EngineArguments
    container: Container | None = None
    findings: tuple[Finding, ...] = ()
    origins: tuple[Origin, ...] = ()
    tellings: tuple[Telling, ...] = ()
    is_paired: bool = False

    @property
    def environment(self) -> Mapping[str, str]:
        """What the process has: the launch sets variables again over its container."""
        below = self.container.environment if self.container else {}
        return MappingProxyType({**below, **self.launch.environment})

    @property
    def visible_npus(self) -> tuple[int, ...] | None:
        """The NPUs that its environment lists, read past blanks; None where it lists none."""
        return visible_in(self.environment)

    @property
    def container_name(self) -> str:
        """The container in which it runs, also where no source shows that one; "" for none."""
        return self.container.name if self.container else self.launch.container_name

    @property
    def engine_port(self) -> int:
        """The port on which the engine itself listens."""
        return self.arguments.port or DEFAULT_PORT

    @property
    def served_names(self) -> tuple[str, ...]:
        """The names it answers to; without --served-model-name that is the path."""
        model = self.arguments.model
        return self.arguments.served_names or ((model,) if model else ())

    @property
    def is_eager(self) -> bool | None:
        """Whether its command is eager; None where it says nothing of graphs."""
        arguments = self.arguments
        if eager_option(arguments) or arguments.cudagraph_mode == "NONE":
            return True
        says_graphs = arguments.cudagraph_mode is not None or bool(arguments.capture_sizes)
        return False if says_graphs else None


def visible_in(environment: Mapping[str, str]) -> tuple[int, ...] | None:
    """ASCEND_RT_VISIBLE_DEVICES as it was meant, each NPU once; None where it is not set."""
    text = environment.get(VISIBLE)
    return None if text is None else tuple(dict.fromkeys(read_devices(text).meant))


def start_of(launch: Launch, configs: Mapping[str, str] = MappingProxyType({})) -> Start:
    """The start of a launch, in its own container if it is that one's command.

    `configs` are the texts of files, by name, that a --config may mean.
    """
    arguments, findings = read_arguments(launch)
    name = basename(arguments.config_file or "")
    if name in configs:
        words, noticed = read_config_file(configs[name], name)
        arguments, findings = read_arguments(launch, words)
        findings = (*findings, *noticed)
    return Start(launch, arguments, launch.container, findings, (launch.origin,))


def told_once(starts: Iterable[Start]) -> tuple[Start, ...]:
    """The starts in their order, those that several sources tell joined to the first of them."""
    kept: list[Start] = []
    for start in starts:
        for index, one in enumerate(kept):
            if _is_same(one, start):
                kept[index] = _joined(one, start)
                break
        else:
            kept.append(start)
    return tuple(kept)


def _is_same(one: Start, other: Start) -> bool:
    """Whether both tell of one engine: nothing sets them apart, and they say the same.

    Commands that differ in some option are of one engine, too, if they stand in different sources
    and start the same model in the same place in the same way.
    """
    if not _is_place_shared(one, other):
        return False
    if one.arguments == other.arguments:
        return True
    return (
        one.launch.origin.file != other.launch.origin.file
        and _has_known_place(one, other)
        and one.engine_port == other.engine_port
        and _model(one) == _model(other) != ""
        and bool(one.is_eager) == bool(other.is_eager)
    )


def _is_place_shared(one: Start, other: Start) -> bool:
    pairs = (
        (one.container_name, other.container_name),
        (one.launch.host, other.launch.host),
        (one.visible_npus, other.visible_npus),
        (_cluster_place(one), _cluster_place(other)),
    )
    return all(a == b or not a or not b for a, b in pairs)


def _cluster_place(start: Start) -> tuple[str, str] | None:
    container = start.container
    if container is None or not (container.address or container.node):
        return None
    return (container.address, container.node)


def _has_known_place(one: Start, other: Start) -> bool:
    """Whether both name the same container, or neither names any."""
    return one.container_name == other.container_name


def _model(start: Start) -> str:
    return short_name(start.served_names[0]) if start.served_names else ""


def _joined(one: Start, other: Start) -> Start:
    launch = replace(
        one.launch,
        environment=MappingProxyType({**other.launch.environment, **one.launch.environment}),
        container=one.launch.container or other.launch.container,
        container_name=one.launch.container_name or other.launch.container_name,
        log_files=tuple(dict.fromkeys(one.launch.log_files + other.launch.log_files)),
        host=one.launch.host or other.launch.host,
    )
    differs = one.arguments != other.arguments
    telling = (Telling(other.launch.origin, other.arguments),) if differs else ()
    return replace(
        one,
        launch=launch,
        container=one.container or other.container,
        origins=tuple(dict.fromkeys(one.origins + other.origins)),
        tellings=one.tellings + telling,
    )
