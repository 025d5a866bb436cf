"""The command line of a vLLM engine, read into facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from gateway.adoption.codes import Code
from gateway.adoption.engine.command import Entry, find_entry
from gateway.adoption.engine.extras import (
    read_ascend,
    read_limits,
    read_loras,
    read_speculation,
    read_transfer,
)
from gateway.adoption.engine.given import sort_words
from gateway.adoption.engine.graphs import read_graphs
from gateway.adoption.engine.values import HIDDEN, Values, shortened
from gateway.adoption.findings import Finding
from gateway.adoption.sources import Launch

_AUTO_LENGTHS: Final = ("-1", "auto")
_EXTERNAL_BALANCING: Final = ("data-parallel-external-lb", "data-parallel-multi-port-external-lb")


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class EngineArguments:
    """What a command line says; None, () or an empty mapping where an option is not given.

    Sizes and lengths are tokens or requests, `gpu_memory_utilization` a ratio of the device's
    memory, `kv_cache_memory_bytes` bytes a device. A key that clients must send is never kept.
    """

    # what it serves
    model: str | None = None
    served_names: tuple[str, ...] = ()
    tokenizer: str | None = None
    revision: str | None = None
    dtype: str | None = None
    quantization: str | None = None
    load_format: str | None = None
    task: str | None = None  # --task (old), such as "embed"
    runner: str | None = None  # --runner, such as "pooling"
    lora_modules: tuple[tuple[str, str], ...] = ()  # (name, path)
    is_lora_enabled: bool = False
    # where it listens
    host: str | None = None
    port: int | None = None
    uds: str | None = None
    root_path: str | None = None
    has_api_key: bool = False
    has_tls: bool = False
    is_headless: bool = False
    is_grpc: bool = False
    api_server_count: int | None = None
    # chips
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    data_parallel: int | None = None
    data_parallel_local: int | None = None
    data_parallel_rank: int | None = None
    data_parallel_start_rank: int | None = None
    is_data_parallel_external: bool = False  # every rank has a port of its own
    is_data_parallel_hybrid: bool = False  # every node has a port of its own
    prefill_context_parallel: int | None = None
    has_expert_parallel: bool = False
    nodes: int | None = None
    node_rank: int | None = None
    # room
    max_num_seqs: int | None = None
    max_model_len: int | None = None
    is_max_model_len_auto: bool = False  # -1 or auto: as long as the memory allows
    max_num_batched_tokens: int | None = None
    gpu_memory_utilization: float | None = None
    kv_cache_memory_bytes: int | None = None
    kv_cache_dtype: str | None = None
    block_size: int | None = None
    mamba_cache_mode: str | None = None
    mamba_ssm_cache_dtype: str | None = None
    has_prefix_caching: bool | None = None
    has_chunked_prefill: bool | None = None
    # graphs
    is_enforce_eager: bool = False
    has_compilation_config: bool = False
    compilation_mode: str | None = None
    cudagraph_mode: str | None = None  # in capitals, such as "FULL_DECODE_ONLY"
    optimization_level: int | None = None  # -O0 .. -O3
    capture_sizes: tuple[int, ...] | None = None
    max_capture_size: int | None = None
    # speculation, Ascend's own options, disaggregation
    has_speculation: bool = False
    speculative_tokens: int | None = None
    speculative_method: str | None = None
    additional: Mapping[str, object] = field(default_factory=_empty)  # --additional-config, decoded
    fuse_norm_quant: bool | None = None  # additional: ascend_compilation_config
    is_npugraph_ex: bool | None = None  # additional: ascend_compilation_config.enable_npugraph_ex
    has_kv_transfer: bool = False
    kv_role: str | None = None  # "kv_producer", "kv_consumer", "kv_both"
    kv_connector: str | None = None
    ec_role: str | None = None  # role in a separate encoder's transfer
    # what requests may hold
    limit_mm_per_prompt: Mapping[str, int] = field(default_factory=_empty)  # modality -> items
    is_language_model_only: bool = False
    allowed_local_media_path: str | None = None
    reasoning_parser: str | None = None
    tool_call_parser: str | None = None
    has_auto_tool_choice: bool = False
    # the command line itself
    config_file: str | None = None
    shutdown_timeout_s: float | None = None
    is_old_entry_point: bool = False  # python -m vllm.entrypoints.openai.api_server
    unknown: tuple[str, ...] = ()  # options that vLLM does not have


def is_engine_command(argv: tuple[str, ...]) -> bool:
    """Whether this starts a vLLM engine that answers HTTP: `vllm serve` and its older spellings."""
    return find_entry(argv) is not None


def read_arguments(
    launch: Launch, config: tuple[str, ...] = ()
) -> tuple[EngineArguments, tuple[Finding, ...]]:
    """What the command of `launch` says; never raises, what can't be read is a finding.

    `config` is what `read_config_file` makes of the file that --config names; the command line goes
    before it. Nothing is filled in that is not given.
    """
    entry = find_entry(launch.argv) or Entry(launch.argv)
    values = Values(sort_words(entry.words), sort_words(config), launch.origin)
    arguments = EngineArguments(
        is_old_entry_point=entry.is_old,
        unknown=values.unknown,
        config_file=_config_file(values, entry),
        shutdown_timeout_s=values.decimal("shutdown-timeout"),
    )
    arguments = replace(arguments, model=_model(values, entry, arguments.config_file))
    for read in (_serving, _listening, _chips, _room, _graphs, _teamwork, _requests):
        arguments = read(arguments, values)
    return arguments, tuple(values.findings)


def _config_file(values: Values, entry: Entry) -> str | None:
    path = values.text("config")
    if path is None:
        return None
    if "--config" not in entry.words:  # the parser only looks for the word as such
        values.note(Code.CONFIG_NOT_READ, value=shortened(path))
        return None
    if not path.endswith((".yaml", ".yml")):
        values.unreadable("config", path)
    return path


def _model(values: Values, entry: Entry, config_file: str | None) -> str | None:
    named = values.text("model")
    loose = list(values.loose)
    first = loose.pop(0).word if loose and not loose[0].is_secret else None
    for word in loose:
        values.note(Code.WORD_STRAY, value=HIDDEN if word.is_secret else shortened(word.word))
    if first is not None and entry.is_old:
        values.note(Code.MODEL_IGNORED, value=shortened(first))
        return named
    if first is not None and named is not None and first != named and values.is_on_line("model"):
        values.note(Code.OPTION_TWICE, option="--model", value=shortened(first))
    model = first or named
    if model is None and config_file is None:
        values.note(Code.MODEL_NOT_GIVEN)
    return model


def _serving(arguments: EngineArguments, values: Values) -> EngineArguments:
    names = values.words("served-model-name")
    for name in names:
        if "," in name:
            values.note(Code.SERVED_NAME_COMMA, value=shortened(name))
    return replace(
        arguments,
        served_names=names,
        tokenizer=values.text("tokenizer"),
        revision=values.text("revision"),
        dtype=values.text("dtype"),
        quantization=values.text("quantization"),
        load_format=values.text("load-format"),
        task=values.text("task"),
        runner=values.text("runner"),
        lora_modules=read_loras(values),
        is_lora_enabled=values.flag("enable-lora") or False,
    )


def _listening(arguments: EngineArguments, values: Values) -> EngineArguments:
    keys = values.words("api-key")
    return replace(
        arguments,
        host=values.text("host"),
        port=values.number("port"),
        uds=values.text("uds"),
        root_path=values.text("root-path"),
        has_api_key=any(key != "None" for key in keys) or values.is_bare("api-key"),
        has_tls=any(values.text(name) for name in ("ssl-keyfile", "ssl-certfile")),
        is_headless=values.flag("headless") or False,
        is_grpc=values.flag("grpc") or False,
        api_server_count=values.number("api-server-count", least=0),
    )


def _chips(arguments: EngineArguments, values: Values) -> EngineArguments:
    rank = values.number("data-parallel-rank", least=0)
    start_rank = values.number("data-parallel-start-rank", least=0)
    is_hybrid = values.flag("data-parallel-hybrid-lb") or start_rank is not None
    return replace(
        arguments,
        tensor_parallel=values.number("tensor-parallel-size"),
        pipeline_parallel=values.number("pipeline-parallel-size"),
        data_parallel=values.number("data-parallel-size"),
        data_parallel_local=values.number("data-parallel-size-local", least=0),
        data_parallel_rank=rank,
        data_parallel_start_rank=start_rank,
        is_data_parallel_external=rank is not None
        or any(values.flag(name) for name in _EXTERNAL_BALANCING),
        is_data_parallel_hybrid=is_hybrid and not values.flag("headless"),
        prefill_context_parallel=values.number("prefill-context-parallel-size"),
        has_expert_parallel=values.flag("enable-expert-parallel") or False,
        nodes=values.number("nnodes"),
        node_rank=values.number("node-rank", least=0),
    )


def _room(arguments: EngineArguments, values: Values) -> EngineArguments:
    length = values.text("max-model-len") or ""
    is_auto = length.strip().lower() in _AUTO_LENGTHS
    return replace(
        arguments,
        max_num_seqs=values.number("max-num-seqs"),
        max_model_len=None if is_auto else values.human("max-model-len"),
        is_max_model_len_auto=is_auto,
        max_num_batched_tokens=values.human("max-num-batched-tokens"),
        gpu_memory_utilization=values.decimal("gpu-memory-utilization"),
        kv_cache_memory_bytes=values.human("kv-cache-memory-bytes"),
        kv_cache_dtype=values.text("kv-cache-dtype"),
        block_size=values.number("block-size"),
        mamba_cache_mode=values.text("mamba-cache-mode"),
        mamba_ssm_cache_dtype=values.text("mamba-ssm-cache-dtype"),
        has_prefix_caching=values.flag("enable-prefix-caching"),
        has_chunked_prefill=values.flag("enable-chunked-prefill"),
    )


def _graphs(arguments: EngineArguments, values: Values) -> EngineArguments:
    graphs = read_graphs(values)
    return replace(
        arguments,
        is_enforce_eager=graphs.is_enforce_eager,
        has_compilation_config=graphs.has_config,
        compilation_mode=graphs.compilation_mode,
        cudagraph_mode=graphs.cudagraph_mode,
        optimization_level=graphs.optimization_level,
        capture_sizes=graphs.capture_sizes,
        max_capture_size=graphs.max_capture_size,
    )


def _teamwork(arguments: EngineArguments, values: Values) -> EngineArguments:
    speculation = read_speculation(values)
    ascend = read_ascend(values)
    kv = read_transfer(values, "kv-transfer-config", "kv")
    return replace(
        arguments,
        has_speculation=speculation.is_on,
        speculative_tokens=speculation.tokens,
        speculative_method=speculation.method,
        additional=ascend.tree,
        fuse_norm_quant=ascend.fuse_norm_quant,
        is_npugraph_ex=ascend.is_npugraph_ex,
        has_kv_transfer=kv.is_on,
        kv_role=kv.role,
        kv_connector=kv.connector,
        ec_role=read_transfer(values, "ec-transfer-config", "ec").role,
    )


def _requests(arguments: EngineArguments, values: Values) -> EngineArguments:
    return replace(
        arguments,
        limit_mm_per_prompt=read_limits(values),
        is_language_model_only=values.flag("language-model-only") or False,
        allowed_local_media_path=values.text("allowed-local-media-path"),
        reasoning_parser=values.text("reasoning-parser"),
        tool_call_parser=values.text("tool-call-parser"),
        has_auto_tool_choice=values.flag("enable-auto-tool-choice") or False,
    )
