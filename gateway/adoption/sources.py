"""What scripts, manifests, logs and running servers show, before it is put together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from gateway.adoption.findings import Finding, Origin

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PortMap:
    """A published port; a range is several of these. None where the source does not say.

    `host_ip` is "" for all addresses of the host.
    """

    host_port: int | None
    container_port: int
    host_ip: str = ""


@dataclass(frozen=True, slots=True)
class Mount:
    """A path of the host (or a volume's name) that is seen at `target` in the container."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Container:
    """A container as a command or a manifest starts it.

    `npus` are the numbers N of the devices /dev/davinciN that it gets; None where it gets all, as
    with --privileged. `npus_wanted` is how many a cluster's scheduler is to choose for it. `argv`
    is what it runs, entrypoint and arguments; empty where the image decides. `address` is a host
    name at which others reach it, such as that of a Kubernetes service or pod's node; "" where it
    is reached by the published ports of its host. `node` is the machine it is bound to. `chip` is
    the kind of NPU as a cluster names it, such as Ascend310P. `network_of` is the container whose
    network it shares. With `is_publishing_all` the host chooses ports that no source tells.
    """

    origin: Origin
    name: str
    image: str = ""
    npus: tuple[int, ...] | None = ()
    npus_wanted: int = 0
    environment: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    ports: tuple[PortMap, ...] = ()
    mounts: tuple[Mount, ...] = ()
    is_host_network: bool = False
    argv: tuple[str, ...] = ()
    address: str = ""
    node: str = ""
    replicas: int = 1
    chip: str = ""
    network_of: str = ""
    is_publishing_all: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that starts an engine, with quotes, variables and continuations resolved.

    `argv` begins with the engine's own command: `vllm serve ...`, or
    `python -m vllm.entrypoints.openai.api_server ...`. `environment` is what it is given: exported
    before, assigned in front, or set by its container or unit. `container_name` is that of
    `docker exec NAME`; `container` the one whose own command this is. `log_files` are where its
    output goes. `host` is the machine on which it runs where the source says so, as `ssh HOST`.
    """

    origin: Origin
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    container_name: str = ""
    container: Container | None = None
    log_files: tuple[str, ...] = ()
    host: str = ""


@dataclass(frozen=True, slots=True)
class EngineLog:
    """What an engine's log says of it; None where it does not say.

    `capture_count` is how many graphs were captured, `truncated_to` the largest size that was left
    when vLLM cut the list, `kv_tokens` what the KV cache holds in all, `concurrency_ratio` how many
    requests of the full length that is. `prefix_hit_ratio` and `decode_tokens_per_s` are from the
    periodic lines. `is_ready` says that start-up was completed. `concurrency_tokens` is the length
    that `concurrency_ratio` is for, `attention_block_tokens` the enlarged block of a hybrid model.
    """

    origin: Origin
    is_eager: bool | None = None
    graph_mode: str | None = None
    capture_sizes: tuple[int, ...] | None = None
    capture_count: int | None = None
    truncated_to: int | None = None
    kv_tokens: int | None = None
    concurrency_ratio: float | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    tensor_parallel: int | None = None
    model: str | None = None
    served_names: tuple[str, ...] = ()
    port: int | None = None
    version: str | None = None
    decode_tokens_per_s: float | None = None
    prefix_hit_ratio: float | None = None
    is_ready: bool = False
    concurrency_tokens: int | None = None
    max_num_batched_tokens: int | None = None
    attention_block_tokens: int | None = None
    has_capture_failed: bool = False
    has_stopped: bool = False


@dataclass(frozen=True, slots=True)
class Sighting:
    """Everything that was read from one or more sources, and what was noticed while reading."""

    launches: tuple[Launch, ...] = ()
    containers: tuple[Container, ...] = ()
    logs: tuple[EngineLog, ...] = ()
    findings: tuple[Finding, ...] = ()

    def __add__(self, other: "Sighting") -> "Sighting":
        return Sighting(
            self.launches + other.launches,
            self.containers + other.containers,
            self.logs + other.logs,
            self.findings + other.findings,
        )
