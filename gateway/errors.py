"""Every way a request can fail, as a tree. There is no HTTP in it.

    GatewayError
    ├── Refusal            we answer the client ourselves; `outcome` says why
    ├── UpstreamFault      something went wrong between us and one backend
    │   ├── ConnectFailed      no connection: refused, unreachable, unresolvable, TLS
    │   ├── PoolExhausted      no free connection within the limit
    │   ├── ConnectionLost     it ended before the head of the answer was whole
    │   ├── ResponseCut        it ended in the middle of the body
    │   ├── ResponseMalformed  what came is not HTTP, or exceeds a bound
    │   ├── LimitReached       a phase took longer than it may
    │   └── BackendLost        the backend was judged hung or down while it was asked
    └── ClientGone         the client closed its connection

`protocol.envelope` is the one table that turns an outcome into what a client sees.
"""

from enum import StrEnum


class Outcome(StrEnum):
    """Why a request got no answer from a model. The value is the stable error code."""

    HTTP_INVALID = "invalid_http"
    HEADER_INVALID = "invalid_header"
    HEAD_TOO_LARGE = "headers_too_large"
    HEAD_TOO_SLOW = "head_timeout"
    BODY_NOT_JSON = "invalid_json"
    BODY_NOT_UTF8 = "invalid_encoding"
    BODY_TOO_DEEP = "json_too_deep"
    BODY_TOO_LARGE = "request_too_large"
    BODY_TOO_SLOW = "request_timeout"
    BODY_NOT_MULTIPART = "invalid_multipart"
    MEDIA_TYPE_UNSUPPORTED = "unsupported_media_type"
    MODEL_REQUIRED = "model_required"
    MODEL_NOT_FOUND = "model_not_found"
    MODEL_UNAVAILABLE = "no_backend_available"
    MODEL_NOT_PERMITTED = "model_not_permitted"
    MODALITY_UNSUPPORTED = "modality_not_supported"
    CONTEXT_TOO_LONG = "context_length_exceeded"
    OUTPUT_TOO_LONG = "max_tokens_exceeded"
    KEY_REQUIRED = "api_key_required"
    KEY_INVALID = "invalid_api_key"
    ROUTE_UNKNOWN = "unknown_route"
    ROUTE_DISABLED = "route_disabled"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    OVERLOADED = "overloaded"
    DRAINING = "gateway_draining"
    UPSTREAM_UNREACHABLE = "backend_unreachable"
    UPSTREAM_CUT = "backend_stream_cut"
    UPSTREAM_ABORTED = "backend_aborted"
    UPSTREAM_MALFORMED = "backend_malformed_answer"
    UPSTREAM_TIMEOUT = "backend_timeout"
    UPSTREAM_ERROR = "backend_error"
    INTERNAL = "internal_error"


class Phase(StrEnum):
    """The part of an exchange with a backend in which a limit or a fault applies."""

    POOL = "pool"
    CONNECT = "connect"
    SEND = "send"
    FIRST_BYTE = "first_byte"
    BETWEEN = "between_events"
    TOTAL = "total"


class GatewayError(Exception):
    """The root of everything this project raises on purpose."""


class Refusal(GatewayError):  # noqa: N818 - it is an answer, not an accident
    """The gateway answers by itself.

    `message` is shown to the client and says what happened, to what, and what to do.
    `param` names the request field at fault. `retry_after_s` is set where trying again may help.
    """

    def __init__(
        self,
        outcome: Outcome,
        message: str,
        *,
        param: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message
        self.param = param
        self.retry_after_s = retry_after_s


class UpstreamFault(GatewayError):  # noqa: N818
    """Something went wrong between the gateway and one backend.

    `phase` tells when. `may_have_run` is false only if the engine surely did no work for the
    request, so that sending it again can't do the work twice.
    """

    def __init__(self, message: str, *, phase: Phase, may_have_run: bool) -> None:
        super().__init__(message)
        self.message = message
        self.phase = phase
        self.may_have_run = may_have_run


class ConnectFailed(UpstreamFault):
    """No connection could be made: refused, unreachable, unresolvable, or TLS failed."""

    def __init__(self, message: str) -> None:
        super().__init__(message, phase=Phase.CONNECT, may_have_run=False)


class PoolExhausted(UpstreamFault):
    """All connections to the backend are busy and none came free within the limit."""

    def __init__(self, message: str) -> None:
        super().__init__(message, phase=Phase.POOL, may_have_run=False)


class ConnectionLost(UpstreamFault):
    """The connection ended before the head of the answer was whole.

    `stale` is true when it was a reused connection that ended without a byte of answer: the
    backend most likely closed it while it was idle.
    """

    def __init__(self, message: str, *, phase: Phase, may_have_run: bool, stale: bool) -> None:
        super().__init__(message, phase=phase, may_have_run=may_have_run)
        self.stale = stale


class ResponseCut(UpstreamFault):
    """The connection ended in the middle of the body."""

    def __init__(self, message: str) -> None:
        super().__init__(message, phase=Phase.BETWEEN, may_have_run=True)


class ResponseMalformed(UpstreamFault):
    """What the backend sent is not HTTP, or exceeds a bound."""

    def __init__(self, message: str, *, phase: Phase = Phase.FIRST_BYTE) -> None:
        super().__init__(message, phase=phase, may_have_run=True)


class LimitReached(UpstreamFault):
    """A phase took longer than it may; `limit_s` is the limit in seconds."""

    def __init__(self, message: str, *, phase: Phase, limit_s: float, may_have_run: bool) -> None:
        super().__init__(message, phase=phase, may_have_run=may_have_run)
        self.limit_s = limit_s


class BackendLost(UpstreamFault):
    """We closed the exchange, since its backend was judged hung or down."""


class ClientGone(GatewayError):  # noqa: N818
    """The client closed its connection before its answer was complete."""
