"""What a running server says of itself when it is asked: names, version, flags, memory, speed."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gateway.fleet.health.evidence import ModelCard
from gateway.words import Words


class TroubleKind(StrEnum):
    """Why a server could not be asked, or not for everything."""

    BAD_URL = "bad_url"
    REFUSED = "refused"
    """Nothing listens there: certain, where `UNREACHABLE` may pass."""
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    TLS = "tls"
    UNHEALTHY = "unhealthy"
    """Its /health answers something else than 200."""
    KEY_REFUSED = "key_refused"
    NOT_VLLM = "not_vllm"


class Trouble(NamedTuple):
    """Why a server could not be asked, for programs and for people."""

    kind: TroubleKind
    told: Words


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
    """One server at the moment it was asked; what it did not tell is None.

    `failure` says why it could not be asked, None if it could; after a refused key or a bad
    /health the rest may be known all the same. `cards` are its /v1/models, `metrics_name` the
    name that its metrics carry (the first of its served names), `kv_tokens` what its KV cache
    holds, `running` its requests at work or waiting, `decode_tokens_per_s` the measured speed of
    one stream where nothing else was running.
    """

    url: str
    failure: Trouble | None = None
    cards: tuple[ModelCard, ...] | None = None
    version: str | None = None
    engine: EngineFacts | None = None
    metrics_name: str | None = None
    kv_tokens: int | None = None
    running: int | None = None
    decode_tokens_per_s: float | None = None

    @property
    def trouble(self) -> str:
        """The failure in English; "" if it could be asked."""
        return self.failure.told.en if self.failure else ""
