"""Get hold of a connection: an idle one, a new one, or the one that comes free next."""

import asyncio
import math
from collections.abc import Callable

from gateway.errors import (
    ConnectFailed,
    ConnectionLost,
    LimitReached,
    Phase,
    PoolExhausted,
    UpstreamFault,
)
from gateway.upstream.connection import Connection
from gateway.upstream.dial import Dialer
from gateway.upstream.slots import Slots
from gateway.upstream.timer import PhaseLimits


class Supply:
    """Hands out the connections of one backend and takes them back.

    `opened_total` counts the connections made since the start.
    """

    __slots__ = (
        "_authority",
        "_dialer",
        "_is_closed",
        "_loop",
        "_new_connection",
        "_pool_wait_s",
        "_settled",
        "opened_total",
        "slots",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        slots: Slots,
        dialer: Dialer,
        new_connection: Callable[[], Connection],
        *,
        authority: str,
        pool_wait_s: float,
    ) -> None:
        self._loop = loop
        self._dialer = dialer
        self._new_connection = new_connection
        self._authority = authority
        self._pool_wait_s = pool_wait_s
        self._settled: asyncio.Future[None] | None = None
        self._is_closed = False
        self.slots = slots
        self.opened_total = 0

    async def obtain(self, limits: PhaseLimits, total_at_s: float, *, fresh: bool) -> Connection:
        """A connection without work, which the caller must begin with before it awaits.

        `fresh` asks for one that has served nothing yet, and goes before all who wait. Raises
        ConnectFailed, ConnectionLost, PoolExhausted or LimitReached; safe to cancel.
        """
        if self._is_closed:
            raise self._removed()
        slots = self.slots
        wait_until_s = self._loop.time() + self._pool_wait_s
        at_front = fresh
        while True:
            connection = None if fresh else slots.take_idle()
            if connection is not None:
                return connection
            if slots.take_room(at_any_price=fresh):
                return await self._open(limits, total_at_s)
            connection = await self._wait_turn(limits, wait_until_s, total_at_s, at_front=at_front)
            if connection is None:
                return await self._open(limits, total_at_s)
            if connection.is_usable:
                if not fresh:
                    return connection
                slots.replace(connection)
                return await self._open(limits, total_at_s)
            # It ended between being handed over and our turn, which gave its slot away.
            at_front = True

    def take_back(self, connection: Connection) -> None:
        """A connection came free and can carry another exchange."""
        if self._is_closed:
            connection.abort()
        else:
            self.slots.put(connection)

    def socket_closed(self, connection: Connection) -> None:
        """The socket of a connection that ended is closed."""
        self.slots.closing.discard(connection)
        self._check_settled()

    async def close(self, drain_s: float) -> None:
        """Refuse who waits and who comes, let the others finish for `drain_s`, then abort them."""
        self._is_closed = True
        self.slots.refuse_waiters(self._removed())
        self.slots.close_idle()
        try:
            async with asyncio.timeout(None if drain_s == math.inf else drain_s):
                await self._wait_settled()
        except TimeoutError:
            self.slots.abort_all()
            await self._wait_settled()

    async def _wait_turn(
        self, limits: PhaseLimits, wait_until_s: float, total_at_s: float, *, at_front: bool
    ) -> Connection | None:
        waiter = self.slots.wait(at_front=at_front)
        fault: UpstreamFault
        if total_at_s < wait_until_s:
            fault = LimitReached(
                f"no connection to {self._authority} came free within the {limits.total_s:g} s"
                " that the request may take",
                phase=Phase.TOTAL,
                limit_s=limits.total_s,
                may_have_run=False,
            )
        else:
            fault = PoolExhausted(
                f"all {self.slots.held} connections to {self._authority} stayed busy for"
                f" {self._pool_wait_s:g} s; send less or allow more connections"
            )
        at_s = min(wait_until_s, total_at_s)
        timer = None if at_s == math.inf else self._loop.call_at(at_s, _expire, waiter, fault)
        try:
            return await waiter
        except BaseException:
            self.slots.leave(waiter)
            raise
        finally:
            if timer is not None:
                timer.cancel()

    async def _open(self, limits: PhaseLimits, total_at_s: float) -> Connection:
        """A new connection in a slot that is already taken."""
        try:
            connection = await self._dial(limits, total_at_s)
            if not connection.is_usable:
                raise ConnectionLost(
                    f"{self._authority} closed a new connection at once; check what listens there",
                    phase=Phase.SEND,
                    may_have_run=False,
                    stale=False,
                )
        except BaseException:
            self.slots.free_slot()
            self._check_settled()
            raise
        self.opened_total += 1
        self.slots.opened(connection)
        return connection

    async def _dial(self, limits: PhaseLimits, total_at_s: float) -> Connection:
        connect_at_s = self._loop.time() + limits.connect_s
        at_s = min(connect_at_s, total_at_s)
        try:
            async with asyncio.timeout_at(None if at_s == math.inf else at_s) as scope:
                return await self._dialer.open(self._new_connection)
        except TimeoutError:
            if not scope.expired():
                raise
        is_total = total_at_s < connect_at_s
        limit_s = limits.total_s if is_total else limits.connect_s
        raise LimitReached(
            f"no connection to {self._authority} within {limit_s:g} s; check the network and that"
            " the backend accepts connections",
            phase=Phase.TOTAL if is_total else Phase.CONNECT,
            limit_s=limit_s,
            may_have_run=False,
        )

    def _removed(self) -> ConnectFailed:
        return ConnectFailed(f"the pool of {self._authority} is closed; use another backend")

    async def _wait_settled(self) -> None:
        while self.slots.held or self.slots.closing:
            self._settled = self._loop.create_future()
            await self._settled

    def _check_settled(self) -> None:
        settled = self._settled
        if settled is not None and not settled.done():
            settled.set_result(None)


def _expire(waiter: asyncio.Future[Connection | None], fault: UpstreamFault) -> None:
    if not waiter.done():
        waiter.set_exception(fault)
