"""What an emulated backend is: its engine, its speed, and how it presents itself."""

from dataclasses import dataclass, field
from enum import StrEnum


class Task(StrEnum):
    """The kind of model behind a backend; it decides which routes exist."""

    GENERATE = "generate"
    EMBED = "embed"
    SCORE = "score"
    CLASSIFY = "classify"
    TRANSCRIBE = "transcribe"


@dataclass(frozen=True, slots=True)
class StepCosts:
    """Durations of one engine step, in seconds (per step, per sequence, per token).

    A decode-only step of n sequences takes `graph_base_s + graph_slope_s * padded(n)` while a
    captured graph covers n, otherwise `eager_base_s + eager_slope_s * n`.
    """

    graph_base_s: float
    graph_slope_s: float
    eager_base_s: float
    eager_slope_s: float
    prefill_tokens_per_s: float
    prefill_attention_s: float = 0.0
    """Seconds per prefill token and token of context before it (attention is quadratic)."""
    decode_context_s: float = 0.0
    """Seconds per token of context of every decoding sequence."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """One engine: its step costs, batch limits and KV memory."""

    costs: StepCosts
    capture_sizes: tuple[int, ...] = ()
    """Batch sizes with a captured graph; empty means eager."""
    max_num_seqs: int = 8
    max_num_batched_tokens: int = 2048
    kv_tokens: int = 850_000
    block_size: int = 128
    enable_prefix_caching: bool = True
    max_num_queued_reqs: int | None = None
    """Running plus waiting requests above this are refused; None means no limit."""

    def __post_init__(self) -> None:
        """Raise ValueError for limits that no engine can have."""
        for name in ("max_num_seqs", "max_num_batched_tokens", "kv_tokens", "block_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.kv_tokens < 2 * self.block_size:
            raise ValueError(f"kv_tokens must hold two blocks of {self.block_size} tokens")
        if any(size < 1 for size in self.capture_sizes):
            raise ValueError(f"capture_sizes must be positive, got {list(self.capture_sizes)}")

    @property
    def num_blocks(self) -> int:
        """Blocks of KV memory, the null block of vLLM included."""
        return self.kv_tokens // self.block_size

    @property
    def largest_sequence_tokens(self) -> int:
        """The longest sequence that the memory holds when it runs alone."""
        return (self.num_blocks - 1) * self.block_size


@dataclass(frozen=True, slots=True)
class BackendSpec:
    """One emulated server: what it serves, where it listens, and how fast time runs.

    `time_scale` 20 means twenty times faster than the real card. Port 0 picks a free port.
    """

    name: str = "emulated"
    engine: EngineSpec | None = None
    """None means the preset `310p-9b-graph`."""
    served_names: tuple[str, ...] = ("qwen3.5-9b",)
    root: str = "/models/Qwen3.5-9B"
    max_model_len: int = 53248
    task: Task = Task.GENERATE
    host: str = "127.0.0.1"
    port: int = 0
    time_scale: float = 1.0
    api_key: str | None = None
    version: str = "0.20.2"
    system_fingerprint: str = "vllm-0.20.2-emulated"
    text_seed: int = 0
    """Backends with equal seeds say equal things; twins of one model must share it."""
    eos_one_in: int = 8
    """A finished sentence is the last one in this many cases."""
    length_marks: bool = False
    """A chat's last message may say how long the answer is; see `gateway.emulator.lengths`."""
    reasoning_parser: bool = False
    dev_mode: bool = False
    enable_scale_out: bool = False
    enable_request_id_headers: bool = False
    enable_server_load_tracking: bool = True
    enable_force_include_usage: bool = False
    enable_prompt_tokens_details: bool = False
    sse_keep_alive_interval_s: float | None = None
    keep_alive_s: float = 5.0
    """Idle connections close after this (vLLM: VLLM_HTTP_TIMEOUT_KEEP_ALIVE, 5 s)."""
    start_delay_s: float = 0.0
    """The port refuses for this long first, as a server that loads weights does."""
    record_limit: int = 2000
    """How many requests are remembered for inspection; bodies are cut at 256 KiB."""
    labels: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise ValueError for values that cannot be served."""
        if not self.served_names:
            raise ValueError("served_names must name at least one model")
        if self.time_scale <= 0:
            raise ValueError(f"time_scale must be above 0, got {self.time_scale}")
        if self.max_model_len < 1:
            raise ValueError(f"max_model_len must be at least 1, got {self.max_model_len}")
        if self.eos_one_in < 1:
            raise ValueError(f"eos_one_in must be at least 1, got {self.eos_one_in}")
        if self.engine is not None and self.max_model_len > self.engine.largest_sequence_tokens:
            # vLLM refuses to start as well; here such a sequence would preempt itself for ever.
            raise ValueError(
                f"max_model_len {self.max_model_len} does not fit into the KV memory, which holds "
                f"a sequence of {self.engine.largest_sequence_tokens} tokens; lower it or raise "
                "kv_tokens"
            )

    def lets_in(self, path: str, authorization: str | None) -> bool:
        """Whether a request has the key; vLLM guards only what is below /v1, /v2, /inference."""
        if self.api_key is None or not path.startswith(("/v1", "/v2", "/inference")):
            return True
        return authorization == f"Bearer {self.api_key}"
