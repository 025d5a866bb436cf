"""Backends for the rules' tests: one without any trap, and what a case changes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from gateway.adoption.candidate import Candidate, Fleet
from gateway.adoption.codes import Code
from gateway.adoption.engine.arguments import EngineArguments
from gateway.adoption.findings import Finding, Origin
from gateway.adoption.rules import traps_of
from gateway.adoption.sources import Container, EngineLog, Launch, Mount, PortMap
from gateway.config.vocabulary import Chip, Tier
from gateway.fleet.account import Account

NONE: Final[Mapping[str, Any]] = MappingProxyType({})
GOOD: Final = EngineArguments(
    model="/models/Qwen3.5-9B",
    served_names=("qwen3.5-9b",),
    dtype="float16",
    host="0.0.0.0",
    port=8000,
    has_api_key=True,
    tensor_parallel=2,
    max_num_seqs=4,
    max_model_len=16384,
    mamba_cache_mode="align",
    mamba_ssm_cache_dtype="float16",
    has_prefix_caching=True,
    has_compilation_config=True,
    cudagraph_mode="FULL_DECODE_ONLY",
    capture_sizes=(1, 4),
    fuse_norm_quant=False,
    reasoning_parser="qwen3",
    tool_call_parser="qwen3_coder",
    has_auto_tool_choice=True,
)
GOOD_CONTAINER: Final = Container(
    Origin("docker.sh", 3),
    "vllm-ascend-qwen3.5-9b",
    image="quay.io/ascend/vllm-ascend:v0.23.0-310p",
    npus=(0, 1),
    environment=MappingProxyType({"ASCEND_RT_VISIBLE_DEVICES": "0,1"}),
    ports=(PortMap(8000, 8000),),
    mounts=(Mount("/data/models", "/models"),),
    argv=("vllm", "serve", "/models/Qwen3.5-9B"),
)


def backend(
    told: Mapping[str, Any] = NONE,
    *,
    name: str = "qwen3.5-9b",
    container: Container | None = GOOD_CONTAINER,
    env: Mapping[str, str] = NONE,
    options: tuple[str, ...] = (),
    line: int = 7,
    **fields: Any,
) -> Candidate:
    """A backend whose container runs the engine; `told` changes what its command says.

    `env` is set for the command, beside what the container has; `options` are words of the command
    itself, `fields` those of the candidate.
    """
    arguments = replace(GOOD, **told)
    environment = {**(container.environment if container else {}), **env}
    argv = ("vllm", "serve", arguments.model or "", *options)
    launch = Launch(Origin("serve.sh", line), argv, environment, container=container)
    visible = environment.get("ASCEND_RT_VISIBLE_DEVICES")
    made = Candidate(
        name=name,
        launch=launch,
        arguments=arguments,
        container=container,
        environment=environment,
        bind_host=arguments.host,
        engine_port=arguments.port or 8000,
        port_map=container.ports[0] if container and container.ports else None,
        port=(container.ports[0].host_port or 0) if container and container.ports else 8000,
        served_names=arguments.served_names or (arguments.model or "",),
        model_path=arguments.model,
        has_api_key=arguments.has_api_key,
        visible_npus=tuple(int(n) for n in visible.split(",")) if visible else None,
        chip=Chip.A310P,
        version=(0, 23, 0),
        version_text="v0.23.0-310p",
        tensor_parallel=arguments.tensor_parallel,
        tier=Tier.EAGER if arguments.is_enforce_eager else Tier.GRAPH,
        is_eager=arguments.is_enforce_eager,
        graph_mode=arguments.cudagraph_mode,
        capture_sizes=arguments.capture_sizes,
        max_num_seqs=arguments.max_num_seqs,
        max_model_len=arguments.max_model_len,
        max_num_batched_tokens=arguments.max_num_batched_tokens,
        origins=(launch.origin,),
    )
    return replace(made, **fields)


def container(**changes: Any) -> Container:
    """The container of the good backend, changed."""
    return replace(GOOD_CONTAINER, **changes)


def by_hand(of: Container = GOOD_CONTAINER, **changes: Any) -> Candidate:
    """A backend that somebody starts in a running container with `docker exec`."""
    made = backend(container=of, **changes)
    assert made.launch is not None
    logs = ("/var/log/vllm.log",)
    launch = replace(made.launch, container=None, container_name=of.name, log_files=logs)
    return replace(made, launch=launch)


def on_host(told: Mapping[str, Any] = NONE, **changes: Any) -> Candidate:
    """A backend without container."""
    return backend(told, container=None, **changes)


def log(**says: Any) -> EngineLog:
    """A log of an engine."""
    return EngineLog(Origin("engine.log", 2), **says)


def account(**says: Any) -> Account:
    """What a running server says."""
    return Account("http://127.0.0.1:8000", **says)


@dataclass(frozen=True)
class Case:
    """One or several backends, or containers alone, and a code that is to be found there or not."""

    code: Code
    name: str
    fleet: Fleet
    values: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.code}: {self.name}"


def case(code: Code, name: str, /, *candidates: Candidate, **values: str) -> Case:
    """A case of backends; `values` are those of the finding that have to be there."""
    return Case(code, name, Fleet(candidates), values)


def found_in(case: Case) -> list[Finding]:
    """The findings of the case's code."""
    return [finding for finding in traps_of(case.fleet) if finding.code is case.code]
