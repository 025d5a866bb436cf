"""What the wire showed, as one of a closed list of failures, and whose fault it is."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from gateway.errors import (
    BackendLost,
    ConnectFailed,
    ConnectionLost,
    LimitReached,
    Phase,
    PoolExhausted,
    ResponseCut,
    UpstreamFault,
)
from gateway.protocol.backend_error import error_fields


class Kind(StrEnum):
    """How an attempt at one backend failed."""

    UNREACHABLE = "unreachable"
    POOL_EXHAUSTED = "pool_exhausted"
    LOST_BEFORE_HEAD = "lost_before_head"
    JUDGED_DOWN = "judged_down"
    LIMIT = "limit"
    CUT = "cut"
    MALFORMED = "malformed"
    EMPTY = "empty"
    ABORTED = "aborted"
    ENGINE_ERROR = "engine_error"
    ENGINE_DEAD = "engine_dead"
    NAME_DRIFT = "name_drift"
    KEY_REFUSED = "key_refused"
    UNAVAILABLE = "unavailable"
    SERVER_ERROR = "server_error"
    MISMATCH = "mismatch"
    """What a backend said again is not what it, or another one, had said before."""
    RATE_LIMITED = "rate_limited"
    CONTEXT_TOO_LONG = "context_too_long"
    CLIENT_ERROR = "client_error"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed attempt.

    `may_have_run` is false if the engine surely did no work. `status` is the HTTP status where
    there was an answer, `message` a text for people without addresses, `limit_s` and `phase` tell
    which limit was reached.
    """

    kind: Kind
    message: str
    may_have_run: bool
    status: int | None = None
    phase: Phase | None = None
    limit_s: float | None = None
    retry_after_s: float | None = None

    def about(self, backend: str, authority: str) -> "Failure":
        """The same with the backend's name in its message in place of its address."""
        if authority in self.message:
            return replace(self, message=self.message.replace(authority, f"backend '{backend}'"))
        return replace(self, message=f"backend '{backend}': {self.message}")

    @property
    def is_backends_fault(self) -> bool:
        """Whether it says something about the backend's health.

        A backend that says it is full (429, 503) is well, one that was judged is judged, and the
        time of a whole request is for all its backends together.
        """
        return self.kind not in _NO_FAULT and self.phase is not Phase.TOTAL

    @property
    def is_clients_fault(self) -> bool:
        """Whether any backend would refuse the request alike."""
        return self.kind in (Kind.CLIENT_ERROR, Kind.CONTEXT_TOO_LONG)


_NO_FAULT: Final = frozenset(
    {
        Kind.CLIENT_ERROR,
        Kind.CONTEXT_TOO_LONG,
        Kind.RATE_LIMITED,
        Kind.UNAVAILABLE,
        Kind.NAME_DRIFT,
        Kind.POOL_EXHAUSTED,
        Kind.JUDGED_DOWN,
        Kind.MISMATCH,
    }
)


def of_fault(fault: UpstreamFault) -> Failure:
    """The failure that a fault between us and the backend is."""
    match fault:
        case ConnectFailed():
            return Failure(Kind.UNREACHABLE, fault.message, may_have_run=False)
        case PoolExhausted():
            return Failure(Kind.POOL_EXHAUSTED, fault.message, may_have_run=False)
        case BackendLost():
            return Failure(Kind.JUDGED_DOWN, fault.message, fault.may_have_run, phase=fault.phase)
        case ConnectionLost():
            return Failure(Kind.LOST_BEFORE_HEAD, fault.message, fault.may_have_run)
        case LimitReached(phase=Phase.CONNECT):
            return Failure(Kind.UNREACHABLE, fault.message, may_have_run=False)
        case LimitReached():
            return Failure(
                Kind.LIMIT,
                fault.message,
                fault.may_have_run,
                phase=fault.phase,
                limit_s=fault.limit_s,
            )
        case ResponseCut():
            return Failure(Kind.CUT, fault.message, may_have_run=True)
        case _:
            return Failure(Kind.MALFORMED, fault.message, fault.may_have_run)


# vLLM: "This model's maximum context length is", "exceeds model's maximum context length", and
# max_tokens "cannot be greater than max_model_len".
_TOO_LONG: Final = re.compile(r"maximum context length|greater than max_model_len", re.IGNORECASE)
# What is left of a dead engine in the API server (vllm/v1/engine/exceptions.py, EngineDeadError).
_DEAD: Final = re.compile(
    r"EngineCore encountered|EngineDeadError|engine (?:core )?(?:is|process is) dead|"
    r"died unexpectedly|cannot schedule new futures after shutdown|Engine loop is not running",
    re.IGNORECASE,
)
_NO_SUCH_MODEL: Final = re.compile(r"\bmodel\b.{0,300}\bdoes not exist", re.IGNORECASE | re.DOTALL)


def of_error_answer(
    status: int, body: bytes, retry_after: bytes | None, served_name: str
) -> Failure:
    """The failure that an error status with its body is.

    A 404 counts as drift only if it speaks of the very name we asked for (vLLM: type
    NotFoundError, "The model `x` does not exist."); any other 404 keeps its meaning.
    """
    error = error_fields(body)
    told = error.get("message")
    message = told if isinstance(told, str) and told else f"the backend answered {status}"
    if status == 404 and _NO_SUCH_MODEL.search(message) and _names(message, served_name):
        return Failure(Kind.NAME_DRIFT, message, may_have_run=False, status=status)
    if status in (401, 403) and "PermissionDenied" not in str(error.get("type")):
        return Failure(
            Kind.KEY_REFUSED,
            "the backend did not accept the gateway's key for it; set api_key_env or "
            "api_key_file of the backend",
            may_have_run=False,
            status=status,
        )
    retry_after_s = float(retry_after) if retry_after and retry_after.isdigit() else None
    kind = kind_of_error(status, message)
    may_have_run = kind in (Kind.SERVER_ERROR, Kind.ENGINE_DEAD)
    return Failure(kind, message, may_have_run, status=status, retry_after_s=retry_after_s)


def kind_of_error(status: int | None, message: str) -> Kind:
    """The kind of an error that an engine tells of, in an answer or in an event of a stream."""
    if status == 503:
        return Kind.UNAVAILABLE
    if status is None or status >= 500:
        if _DEAD.search(message):
            return Kind.ENGINE_DEAD
        return Kind.ENGINE_ERROR if status is None else Kind.SERVER_ERROR
    if status == 429:
        return Kind.RATE_LIMITED
    if status in (400, 413) and _TOO_LONG.search(message):
        return Kind.CONTEXT_TOO_LONG
    return Kind.CLIENT_ERROR


def _names(message: str, served_name: str) -> bool:
    """Whether the message has the name as a whole, not as a part of another one."""
    return re.search(rf"(?<![\w.:/-]){re.escape(served_name)}(?![\w:/-])", message) is not None
