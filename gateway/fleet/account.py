"""What a running server says of itself when it is asked: names, version, flags, memory, speed."""

from dataclasses import dataclass

from gateway.fleet.health.evidence import ModelCard


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """The engine's own configuration; None where it does not say.

    From `GET /server_info?config_format=json`, which vLLM has only with VLLM_SERVER_DEV_MODE=1
    (vllm/entrypoints/serve/dev/server_info of 0.20 and later).
    """

    model: str | None = None
    served_names: tuple[str, ...] = ()
    is_eager: bool | None = None
    graph_mode: str | None = None
    capture_sizes: tuple[int, ...] | None = None
    max_num_seqs: int | None = None
    max_model_len: int | None = None
    max_num_batched_tokens: int | None = None
    tensor_parallel: int | None = None
    quantization: str | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """One server at the moment it was asked.

    `trouble` says why it could not be asked, "" if it could; `cards` are its /v1/models (None if
    unreadable), `kv_tokens` what its KV cache holds, `decode_tokens_per_s` the measured speed of
    one stream where nothing else was running (None where it was not measured).
    """

    url: str
    trouble: str = ""
    cards: tuple[ModelCard, ...] | None = None
    version: str | None = None
    engine: EngineFacts | None = None
    kv_tokens: int | None = None
    running: int | None = None
    decode_tokens_per_s: float | None = None
