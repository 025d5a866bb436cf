"""One backend as all sources together show it, and all of them with what was noticed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from gateway.adoption.codes import Code
from gateway.adoption.engine.arguments import EngineArguments
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.sources import Container, EngineLog, Launch, PortMap
from gateway.config.vocabulary import Chip, Tier
from gateway.fleet.account import Account

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class Guess(NamedTuple):
    """A value that no source says: the field of the routing file, the value, and why it was taken.

    The reason is the text of `code`, filled with `values`; it is a comment in the file and a
    finding.
    """

    field: str
    value: str
    code: Code
    values: Mapping[str, str] = _NOTHING


@dataclass(frozen=True, slots=True)
class Candidate:
    """One backend, put together from the sources in which it appears.

    `name` is what the routing file calls it: unique, and made from what it serves, never from the
    container's name. What was merged stands in `launch` to `account`; `environment` is what the
    process has, where a launch sets a variable again over its container.

    `scheme`, `host`, `port` and `prefix` are the address at which the gateway reaches it;
    `engine_port` is the port on which the engine itself listens, and `bind_host` its --host, both
    as seen from inside its container. `port_map` is the published port that leads there, None where
    there is no container, no such port, or the network of the host is used. `node` is the machine
    that holds the NPUs, "" where it is `host`.

    `visible_npus` is ASCEND_RT_VISIBLE_DEVICES, read past blanks; None where it is not set. `npus`
    are the NPUs of the machine that it will use as far as can be told; () for not known.

    `version` is that of vLLM or vllm-ascend, which go together, in numbers, such as (0, 20, 2);
    `version_text` as it was written. `is_eager` is None where nothing says it; `tier` is what the
    routing file says then. Everything else that is None is not known; defaults of the engine are
    not filled in.

    `disabled_by` names the candidate with which it can't run at the same time, "" for none.
    """

    name: str
    launch: Launch | None = None
    arguments: EngineArguments | None = None
    container: Container | None = None
    log: EngineLog | None = None
    account: Account | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    # where it is
    scheme: str = "http"
    host: str = "127.0.0.1"
    port: int = 8000
    prefix: str = ""
    is_host_guessed: bool = False
    bind_host: str | None = None
    engine_port: int = 8000
    port_map: PortMap | None = None
    node: str = ""
    # what it serves
    served_names: tuple[str, ...] = ()
    lora_names: tuple[str, ...] = ()
    model_path: str | None = None
    quantization: str | None = None
    has_api_key: bool = False
    # chips
    visible_npus: tuple[int, ...] | None = None
    npus: tuple[int, ...] = ()
    chip: Chip | None = None
    chip_reason: str = ""
    version: tuple[int, ...] | None = None
    version_text: str = ""
    tensor_parallel: int | None = None
    data_parallel: int | None = None
    # how it runs
    tier: Tier = Tier.GRAPH
    is_eager: bool | None = None
    graph_mode: str | None = None
    capture_sizes: tuple[int, ...] | None = None
    max_num_seqs: int | None = None
    max_model_len: int | None = None
    max_num_batched_tokens: int | None = None
    # what is to be told of it
    guesses: tuple[Guess, ...] = ()
    origins: tuple[Origin, ...] = ()
    disabled_by: str = ""

    @property
    def served_name(self) -> str:
        """The name to ask it for; the engine answers to all, and calls itself by the first."""
        return self.served_names[0] if self.served_names else ""

    @property
    def origin(self) -> Origin:
        """The place to point at when something is to be said of it as a whole."""
        return self.origins[0] if self.origins else Origin("")

    @property
    def sources(self) -> tuple[Origin, ...]:
        """Where the launch, the container and the log stand, without those that are not there."""
        found = (self.launch, self.container, self.log)
        return tuple(source.origin for source in found if source is not None)


@dataclass(frozen=True, slots=True)
class Fleet:
    """All candidates in the order in which they were found, and what was left over.

    `containers` are those in which no launch of an engine was found, `logs` those that belong to
    none of the candidates, or to several alike. `findings` are the contradictions and guesses.
    """

    candidates: tuple[Candidate, ...] = ()
    containers: tuple[Container, ...] = ()
    logs: tuple[EngineLog, ...] = ()
    findings: tuple[Finding, ...] = ()

    def named(self, name: str) -> Candidate | None:
        """The candidate of that name."""
        return next((one for one in self.candidates if one.name == name), None)
