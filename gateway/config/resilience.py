"""How failures are noticed and made good, as far as a routing file can say."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from gateway.config.backend import Record
from gateway.config.fields import Count, Flag, PositiveNumber
from gateway.config.vocabulary import OnFirstByteLimit, Resume

Priority = Annotated[int, Field(strict=True, ge=-10, le=10)]
Ratio = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
NumberOrZero = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


class HealthConfig(Record):
    """How the state of every backend is judged."""

    canary: Flag = Field(
        default=True,
        description="Ask a backend for two tokens after its start, after a recovery and when it "
        "has been idle: /health alone does not prove that it can generate.",
    )
    canary_idle_s: PositiveNumber = Field(
        default=60.0, description="Seconds without a request after which the canary asks again."
    )
    longest_step_s: PositiveNumber = Field(
        default=10.0,
        description="Least seconds that an engine with work may stand still before it counts as "
        "hung; more where max_num_batched_tokens and the chip's speed need more.",
    )
    breaker_failures: Count = Field(
        default=3, description="Failed requests in a row after which a backend is left alone."
    )
    breaker_open_s: PositiveNumber = Field(
        default=5.0,
        description="Seconds it is left alone, before one request at a time may try it; doubled "
        "each time that fails, up to 60.",
    )
    ramp_s: NumberOrZero = Field(
        default=10.0,
        description="Seconds in which the load of a backend that came back rises to its share.",
    )


class RecoveryConfig(Record):
    """How far the gateway goes to make a failed attempt good."""

    max_attempts: Count = Field(
        default=5, description="Attempts at backends for one request, its resumptions included."
    )
    retry_budget_ratio: Ratio = Field(
        default=0.2,
        description="Attempts beyond the first that may cost an engine work, as a share of all "
        "requests of a model.",
    )
    retry_burst: Count = Field(
        default=200, description="Such attempts that may come at once, beyond that share."
    )
    max_wait_s: NumberOrZero = Field(
        default=15.0,
        description="Longest wait before one more attempt, such as a backend's Retry-After.",
    )


class QueueConfig(Record):
    """Requests that wait at the gateway, since every backend of their model is full."""

    max_requests: Annotated[int, Field(strict=True, ge=0, le=100_000)] = Field(
        default=256, description="Requests of one model that may wait; 0 to refuse at once."
    )
    max_wait_s: PositiveNumber = Field(
        default=120.0,
        description="Seconds after which a waiting request is refused with 429; one that would "
        "surely wait longer is refused at once.",
    )
    priorities: dict[str, Priority] = Field(
        default_factory=dict,
        description="Priority of each client key by its name, -10 to 10, lower goes first; "
        "default 0. A request may ask for less by `priority` or the x-priority header, not for "
        "more.",
    )


def _resume(value: object) -> object:
    # A bare `off` is a boolean in YAML 1.1.
    return Resume.OFF if value is False else value


def _resume_schema() -> dict[str, Any]:
    return {"enum": [*(r.value for r in Resume), False]}


ResumeField = Annotated[Resume, BeforeValidator(_resume), WithJsonSchema(_resume_schema())]

__all__ = [
    "HealthConfig",
    "NumberOrZero",
    "OnFirstByteLimit",
    "QueueConfig",
    "RecoveryConfig",
    "Resume",
    "ResumeField",
]
