"""One request on its way through the gateway: what is known of it, and its way out."""

import asyncio
import math
from collections.abc import Awaitable, Callable, MutableMapping
from types import TracebackType
from typing import Any, Protocol

from gateway.access.keys import ANONYMOUS, Caller
from gateway.errors import ClientGone, GatewayError
from gateway.fleet.names import Model
from gateway.observe.trails import Trail
from gateway.protocol.endpoints import Endpoint
from gateway.protocol.headers import Headers
from gateway.protocol.request import is_true
from gateway.protocol.usage import Usage

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

CONNECTION = "gateway.connection"
"""The key of the scope under which our server puts the client's connection."""


class Counted(Protocol):
    """An answer that can tell its token counts."""

    @property
    def usage(self) -> Usage | None:
        """The counts, or None if the engine gave none."""


class ClientConnection(Protocol):
    """What the flow needs of the client's connection beside ASGI."""

    def watch(self, on_gone: Callable[[], None]) -> None:
        """Calls `on_gone` once when the client has closed; at once if it already has."""

    def unwatch(self) -> None:
        """Forgets the watcher."""

    def drop(self) -> None:
        """Closes the connection now, whatever is still to be written."""

    @property
    def is_writable(self) -> bool:
        """Whether bytes can be written at once."""


class Call:
    """One request: ids, times, what it asked for, who answered, and how it ended.

    `has_spoken` is set whenever its client is sent bytes; `heartbeat_s` is the silence after which
    a waiting stream gets a comment, inf for never.
    """

    __slots__ = (
        "_interruption",
        "_late_at_s",
        "_late_error",
        "_task",
        "asked",
        "attempts",
        "backend",
        "caller",
        "code",
        "counted",
        "endpoint",
        "error",
        "has_spoken",
        "has_started",
        "headers",
        "heartbeat_s",
        "is_stream",
        "model",
        "payload",
        "quiet_since_s",
        "request_id",
        "scope",
        "send",
        "sequence_number",
        "served_model",
        "started_s",
        "status",
        "total_s",
        "trail",
        "ttft_s",
        "upstream_id",
    )

    def __init__(
        self, endpoint: Endpoint, scope: Scope, send: Send, ids: tuple[str, str], now: float
    ) -> None:
        self.endpoint = endpoint
        self.scope = scope
        self.headers: Headers = scope["headers"]
        self.send = send
        self.request_id, self.upstream_id = ids
        self.started_s = now
        self.trail = Trail(self.request_id, None, None, now, 0.0)
        self.caller: Caller = ANONYMOUS
        self.asked: str | None = None
        self.model: Model | None = None
        self.served_model: Model | None = None
        self.payload: dict[str, Any] | None = None
        self.backend: str | None = None
        self.attempts = 0
        self.is_stream = False
        self.has_started = False
        self.has_spoken = False
        self.heartbeat_s = math.inf
        self.quiet_since_s = now
        self.sequence_number = -1
        self.total_s = math.inf
        self.status = 0
        self.code: str | None = None
        self.error: str | None = None
        self.ttft_s: float | None = None
        self.counted: Counted | None = None
        self._task: asyncio.Task[Any] | None = None
        self._late_at_s = math.inf
        self._late_error: Callable[[Call], GatewayError] | None = None
        self._interruption: GatewayError | None = None

    def __repr__(self) -> str:
        return f"<Call {self.request_id} {self.endpoint.name} {self.asked!r} at {self.backend}>"

    def enter_attempt(self, model: Model, backend: str) -> None:
        """Notes who is asked now."""
        self.served_model = model
        self.backend = backend
        self.attempts += 1

    @property
    def asks_for_ids(self) -> bool:
        """Whether the client itself wants token ids."""
        return self.payload is not None and is_true(self.payload.get("return_token_ids"))

    def total_left_s(self, now: float) -> float:
        """Seconds left of the time the whole request may take; 0 or less when it is over."""
        return self.started_s + self.total_s - now

    def is_quiet(self, now: float) -> bool:
        """Whether the client of a stream has waited for so long that it should hear something."""
        if self.has_spoken:
            self.has_spoken = False
            self.quiet_since_s = now
        return now - self.quiet_since_s >= self.heartbeat_s

    def limit(self, at_s: float, error: Callable[["Call"], GatewayError]) -> None:
        """From `at_s` (monotonic) on the request is late, instead of by any limit before."""
        self._late_at_s = at_s
        self._late_error = error

    def interrupt_if_late(self, now: float) -> None:
        """Ends the request if its limit has passed."""
        if now >= self._late_at_s and self._late_error is not None:
            self.interrupt(self._late_error(self))

    def interrupt(self, error: GatewayError) -> None:
        """Ends the request with `error` wherever it waits; the first interruption counts."""
        if self._interruption is None and self._task is not None:
            self._interruption = error
            self._task.cancel()

    def __enter__(self) -> "Call":
        self._task = asyncio.current_task()
        connection: ClientConnection = self.scope[CONNECTION]
        connection.watch(self._client_gone)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        connection: ClientConnection = self.scope[CONNECTION]
        connection.unwatch()
        task, self._task = self._task, None
        interruption = self._interruption
        if interruption is None:
            return
        if task is not None:
            task.uncancel()
        if kind is None or issubclass(kind, asyncio.CancelledError):
            raise interruption from None

    def _client_gone(self) -> None:
        self.interrupt(ClientGone("the client closed its connection"))
