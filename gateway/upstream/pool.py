"""The connections to one backend, and the one way to send it a request."""

import asyncio
import math
from dataclasses import dataclass

from gateway.errors import ConnectionLost, UpstreamFault
from gateway.upstream.connection import Connection
from gateway.upstream.dial import Dialer, Resolver, resolve
from gateway.upstream.exchange import Exchange
from gateway.upstream.origin import Origin
from gateway.upstream.request import BodySource, Headers, RequestEncoder
from gateway.upstream.slots import Slots
from gateway.upstream.supply import Supply
from gateway.upstream.timer import PhaseLimits
from gateway.upstream.upload import start_upload

__all__ = ["BackendPool", "BodySource", "Exchange", "Origin", "PhaseLimits", "PoolStats"]

DEFAULT_MAX_CONNECTIONS = 1024
# vLLM closes an idle connection after exactly 5.00 s (VLLM_HTTP_TIMEOUT_KEEP_ALIVE); half of it
# leaves room for a busy event loop on either side.
DEFAULT_IDLE_LIMIT_S = 2.5
DEFAULT_POOL_WAIT_S = 10.0
DEFAULT_MAX_HEAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class PoolStats:
    """A pool at one moment.

    `open` counts idle and busy connections and attempts to open one; `busy` is `open` without
    `idle`. The totals count since the pool was made; `opened_total` without failed attempts.
    """

    open: int
    idle: int
    busy: int
    waiting: int
    opened_total: int
    reused_total: int
    stale_retries_total: int


@dataclass(frozen=True, slots=True)
class _Request:
    """A request that can be written to any connection."""

    head: bytes
    body: bytes | BodySource
    is_head_request: bool
    limits: PhaseLimits
    total_at_s: float


class BackendPool:
    """All connections to one backend.

    Idle connections are reused last in, first out, and closed after `idle_limit_s`. With
    `max_connections` (None: unbounded) busy, requests wait in order, for `pool_wait_s` at most.
    Make it inside the running event loop, and use it in that loop only. No proxy variables of the
    environment are read.
    """

    __slots__ = (
        "_encoder",
        "_is_closed",
        "_loop",
        "_max_head_bytes",
        "_reused_total",
        "_stale_retries_total",
        "_supply",
        "origin",
    )

    def __init__(
        self,
        origin: Origin,
        *,
        max_connections: int | None = DEFAULT_MAX_CONNECTIONS,
        idle_limit_s: float = DEFAULT_IDLE_LIMIT_S,
        pool_wait_s: float = DEFAULT_POOL_WAIT_S,
        max_head_bytes: int = DEFAULT_MAX_HEAD_BYTES,
        resolver: Resolver = resolve,
    ) -> None:
        self.origin = origin
        self._loop = asyncio.get_running_loop()
        self._max_head_bytes = max_head_bytes
        self._encoder = RequestEncoder(origin)
        self._supply = Supply(
            self._loop,
            Slots(self._loop, max_connections, idle_limit_s),
            Dialer(origin, resolver),
            self._new_connection,
            authority=origin.authority,
            pool_wait_s=pool_wait_s,
        )
        self._reused_total = 0
        self._stale_retries_total = 0
        self._is_closed = False

    def __repr__(self) -> str:
        stats = self.stats()
        closed = " closed" if self._is_closed else ""
        return (
            f"<BackendPool {self.origin.authority}{closed} {stats.idle} idle {stats.busy} busy"
            f" {stats.waiting} waiting>"
        )

    async def send(
        self,
        method: bytes,
        target: bytes,
        headers: Headers,
        body: bytes | BodySource,
        limits: PhaseLimits,
    ) -> Exchange:
        """Send a request and return when the head of the final answer is there.

        Host and the framing headers are written here; `headers` are all others, without
        hop-by-hop ones. A reused connection that ends at once without a byte of answer is
        replaced by a fresh one, once. Raises ValueError for headers that can't be sent, any
        UpstreamFault, and what the body's source raises. Cancelling it closes the socket.
        """
        head = self._encoder.encode(method, target, headers, body)
        total_at_s = self._loop.time() + limits.total_s
        request = _Request(head, body, method == b"HEAD", limits, total_at_s)
        try:
            return await self._try(request, fresh=False)
        except ConnectionLost as lost:
            if not lost.stale or self._is_closed:
                raise
            first = lost
        self._stale_retries_total += 1
        try:
            return await self._try(request, fresh=True)
        except UpstreamFault as fault:
            # The first try may have run although the second did not even connect.
            fault.may_have_run = fault.may_have_run or first.may_have_run
            raise

    def stats(self) -> PoolStats:
        """How many connections there are, and what they did."""
        slots = self._supply.slots
        return PoolStats(
            open=slots.held,
            idle=slots.idle,
            busy=slots.held - slots.idle,
            waiting=slots.waiting,
            opened_total=self._supply.opened_total,
            reused_total=self._reused_total,
            stale_retries_total=self._stale_retries_total,
        )

    def give_up(self, reason: str, silent_s: float) -> int:
        """Fail the exchanges whose backend has been silent for so long; returns how many.

        Their requests get `BackendLost` at once and can be sent elsewhere.
        """
        given_up = [c.give_up(reason, silent_s) for c in self._supply.slots.busy]
        self.close_idle()
        return sum(given_up)

    def hearing(self) -> tuple[bool, float]:
        """Whether a request waits for the backend's bytes, and the seconds since some came.

        The second is inf if none came on what is under way.
        """
        busy = self._supply.slots.busy
        is_awaited = any(connection.is_awaited for connection in busy)
        heard_s = max((connection.heard_s for connection in busy), default=-math.inf)
        return is_awaited, self._loop.time() - heard_s

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called: it takes no requests any more."""
        return self._is_closed

    def close_idle(self) -> None:
        """Close the connections without work now."""
        self._supply.slots.close_idle()

    async def close(self, drain_s: float) -> None:
        """Take no more requests, let the running ones finish for `drain_s`, then abort them.

        Returns when every socket is closed. Requests that wait for a connection are refused.
        """
        self._is_closed = True
        await self._supply.close(drain_s)

    # Called by the connections.

    def connection_free(self, connection: Connection) -> None:
        """An exchange is over and the connection can carry another."""
        self._supply.take_back(connection)

    def connection_gone(self, connection: Connection) -> None:
        """A connection can't be used any more."""
        self._supply.slots.remove(connection)

    def connection_closed(self, connection: Connection) -> None:
        """The socket of a connection is closed."""
        self._supply.socket_closed(connection)

    # Inside.

    async def _try(self, request: _Request, *, fresh: bool) -> Exchange:
        limits, total_at_s, body = request.limits, request.total_at_s, request.body
        connection = await self._supply.obtain(limits, total_at_s, fresh=fresh)
        is_whole = isinstance(body, bytes)
        exchange = connection.begin(
            request.head,
            body if isinstance(body, bytes) else b"",
            limits,
            total_at_s,
            is_head_request=request.is_head_request,
            has_upload=not is_whole,
        )
        if exchange.reused:
            self._reused_total += 1
        if not isinstance(body, bytes):
            start_upload(self._loop, connection, exchange, body)
        try:
            await exchange.head()
        except BaseException:
            await exchange.upload_ended()
            raise
        return exchange

    def _new_connection(self) -> Connection:
        return Connection(self, self.origin.authority, self._loop, self._max_head_bytes)
