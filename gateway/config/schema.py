"""The routing file as immutable records, each field with its meaning.

These check one field at a time. What concerns several fields or several entries (collisions,
references, capture sizes, time-outs, names of containers) is checked by the rules beside this
file, which `gateway.config.load` runs all at once.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from gateway.config.backend import BackendConfig, Record, TlsConfig
from gateway.config.fields import (
    Count,
    Flag,
    Name,
    PositiveNumber,
    PublicName,
    Text,
    as_tuple,
    refuse,
)
from gateway.config.labels import Labels
from gateway.config.resilience import (
    HealthConfig,
    NumberOrZero,
    QueueConfig,
    RecoveryConfig,
    ResumeField,
)
from gateway.config.vocabulary import (
    Chip,
    EndpointName,
    OnFirstByteLimit,
    Order,
    PlacementRule,
    Resume,
    Tier,
)
from gateway.words import Words

__all__ = [
    "BackendConfig",
    "BackendRef",
    "Chip",
    "EndpointName",
    "EndpointSwitches",
    "HealthConfig",
    "Limits",
    "ModelConfig",
    "OnFirstByteLimit",
    "QueueConfig",
    "RecoveryConfig",
    "Resume",
    "RoutingConfig",
    "Tier",
    "Timeouts",
    "TlsConfig",
]


class BackendRef(Record):
    """A backend of a model; in the file also just the backend's name."""

    backend: Name = Field(description="Name of the backend.")
    served_name: Text | None = Field(
        default=None,
        description="Name to ask this backend for, e.g. a LoRA; default: its served_name.",
    )


def _as_ref(value: object) -> object:
    return {"backend": value} if isinstance(value, str) else value


def _ref_schema() -> dict[str, Any]:
    name = {"type": "string", "description": "Name of the backend."}
    return {"anyOf": [name, BackendRef.model_json_schema()]}


Ref = Annotated[BackendRef, BeforeValidator(_as_ref), WithJsonSchema(_ref_schema())]


class Limits(Record):
    """Bounds of one request of a model; a larger one is refused before any backend sees it."""

    max_body_bytes: Count | None = Field(default=None, description="Largest request body in bytes.")
    max_output_tokens: Count | None = Field(default=None, description="Largest answer in tokens.")
    max_context_tokens: Count | None = Field(
        default=None,
        description="Largest prompt plus answer in tokens; default: the backends' own.",
    )


class Timeouts(Record):
    """How long each phase of a request may last; what is not given follows the tier's speed."""

    connect_s: PositiveNumber | None = Field(
        default=None, description="Seconds for name look-up, connection and TLS; default 5."
    )
    first_byte_s: PositiveNumber | None = Field(
        default=None,
        description="Seconds from the request sent to the first event of a stream; default 300. "
        "An answer that is not streamed comes whole when it is ready: without a value of its own, "
        "only total_s bounds it.",
    )
    between_events_s: PositiveNumber | None = Field(
        default=None,
        description="Seconds between two events of a stream; default 60 (graph) or 120 (eager).",
    )
    total_s: PositiveNumber | None = Field(
        default=None, description="Seconds for the whole request; default 3600."
    )


class ModelConfig(Record):
    """One public model name and who serves it."""

    name: PublicName = Field(description="Name that clients send; any text, exact, with case.")
    aliases: Annotated[tuple[PublicName, ...], BeforeValidator(as_tuple)] = Field(
        default=(), description="Other names for the same model."
    )
    backends: Annotated[tuple[Ref, ...], BeforeValidator(as_tuple)] = Field(
        default=(), description="Backends that serve it, by name or as {backend, served_name}."
    )
    selector: Labels | None = Field(
        default=None,
        description="Instead of `backends`: labels that a backend must have; also tier, chip, "
        "node, card.",
    )
    fallback_models: Annotated[tuple[PublicName, ...], BeforeValidator(as_tuple)] = Field(
        default=(), description="Models to answer in its place when no backend can, in this order."
    )
    enabled: Flag = Field(default=True, description="`false`: the name is unknown to clients.")
    list_aliases: Flag | None = Field(
        default=None,
        description="Show the aliases in /v1/models; default: the file's list_aliases.",
    )
    limits: Limits = Field(default=Limits(), description="Bounds of one request.")
    timeouts: Timeouts = Field(default=Timeouts(), description="Time limits of one request.")
    placement: PlacementRule = Field(
        default=PlacementRule.LEAST_COST,
        description="How requests are spread over the backends: `least_cost` (learnt speeds, "
        "captured sizes, cached prefixes, KV memory), or one of the simple rules `round_robin`, "
        "`least_inflight`, `least_kv`, `prefix`, `weighted`. All wait at the gateway for a free "
        "slot.",
    )
    order: Order = Field(
        default=Order.FAIR,
        description="Who of those that wait is next: `shortest` first with ageing, `fair`, which "
        "is the same but holds keys back that had more than others, or `fcfs`.",
    )
    resume: ResumeField = Field(
        default=Resume.TEXT,
        description="How a chat or completion stream that broke goes on elsewhere: `text` asks "
        "another backend to continue the text, `exact` its tokens (asks engines for token ids), "
        "`off` ends it with an error event.",
    )
    on_first_byte_limit: OnFirstByteLimit = Field(
        default=OnFirstByteLimit.GIVE_UP,
        description="When no answer has begun within first_byte_s: `give_up`, or `move` to another "
        "backend once. Slow is not dead: moving makes a busy fleet busier.",
    )
    heartbeat_s: NumberOrZero = Field(
        default=15.0,
        description="Seconds of silence after which a waiting stream gets an SSE comment, so that "
        "proxies keep it open; 0 for never.",
    )
    endpoints: Annotated[tuple[EndpointName, ...] | None, BeforeValidator(as_tuple)] = Field(
        default=None, description="Endpoints that may be used with it; default: all."
    )

    def allows(self, endpoint: str) -> bool:
        """Whether the endpoint (an `EndpointName` value) may be used with this model."""
        return self.endpoints is None or endpoint in self.endpoints


class EndpointSwitches(Record):
    """Which endpoints the gateway serves at all."""

    chat: Flag = Field(default=True, description="/v1/chat/completions")
    completions: Flag = Field(default=True, description="/v1/completions")
    embeddings: Flag = Field(default=True, description="/v1/embeddings")
    responses: Flag = Field(default=True, description="/v1/responses")
    messages: Flag = Field(default=True, description="/v1/messages")
    count_tokens: Flag = Field(default=True, description="/v1/messages/count_tokens")
    rerank: Flag = Field(default=True, description="/rerank, /v1/rerank, /v2/rerank")
    score: Flag = Field(default=True, description="/score, /v1/score")
    classify: Flag = Field(default=True, description="/classify")
    pooling: Flag = Field(default=True, description="/pooling")
    tokenize: Flag = Field(default=True, description="/tokenize")
    detokenize: Flag = Field(default=True, description="/detokenize")
    transcriptions: Flag = Field(default=True, description="/v1/audio/transcriptions")
    translations: Flag = Field(default=True, description="/v1/audio/translations")

    def is_on(self, endpoint: str) -> bool:
        """Whether the endpoint (an `EndpointName` value) is served."""
        return bool(getattr(self, EndpointName(endpoint).value))


def _whole_version(value: object) -> object:
    """Without this, true and 1.0 would pass for 1."""
    if type(value) is not int:
        raise refuse(
            "wrong_type",
            Words("version must be a whole number", "version 必须是整数"),
            Words("Write version: 1.", "写成 version: 1。"),
        )
    return value


class RoutingConfig(Record):
    """The whole routing file."""

    version: Annotated[Literal[1], BeforeValidator(_whole_version)] = Field(
        description="Version of this format: 1."
    )
    backends: Annotated[tuple[BackendConfig, ...], BeforeValidator(as_tuple)] = Field(
        description="The vLLM servers."
    )
    models: Annotated[tuple[ModelConfig, ...], BeforeValidator(as_tuple)] = Field(
        description="The models that clients may ask for."
    )
    health: HealthConfig = Field(
        default=HealthConfig(), description="How the state of backends is judged."
    )
    recovery: RecoveryConfig = Field(
        default=RecoveryConfig(), description="How failed attempts are made good."
    )
    queue: QueueConfig = Field(
        default=QueueConfig(), description="Requests that wait for a free backend."
    )
    default_model: PublicName | None = Field(
        default=None, description="Model for requests without `model`; without it they are refused."
    )
    list_aliases: Flag = Field(
        default=False, description="Show the aliases of models in /v1/models."
    )
    endpoints: EndpointSwitches = Field(
        default=EndpointSwitches(), description="Endpoints that the gateway serves; all by default."
    )
