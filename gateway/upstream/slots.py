"""Who may use which connection: the idle ones, the room for new ones, and who waits."""

import asyncio
import math
from collections import deque

from gateway.upstream.connection import Connection

# uvloop counts in whole milliseconds, so a timer may fire this much early.
_EARLY_S = 0.002


class Slots:
    """The connections of one backend.

    A slot is held by every connection, idle or busy, and by every attempt to open one. A waiter
    is given either a connection that came free or (None) a slot to open one in.
    """

    __slots__ = (
        "_held",
        "_idle",
        "_idle_limit_s",
        "_live",
        "_loop",
        "_max",
        "_sweeper",
        "_waiters",
        "closing",
    )

    def __init__(
        self, loop: asyncio.AbstractEventLoop, max_connections: int | None, idle_limit_s: float
    ) -> None:
        self._loop = loop
        self._max = math.inf if max_connections is None else max_connections
        self._idle_limit_s = idle_limit_s
        self._held = 0
        self._live: set[Connection] = set()
        self._idle: dict[Connection, None] = {}  # the one that came free last is at the end
        self._waiters: deque[asyncio.Future[Connection | None]] = deque()
        self._sweeper: asyncio.TimerHandle | None = None
        self.closing: set[Connection] = set()

    @property
    def held(self) -> int:
        """How many slots are taken."""
        return self._held

    @property
    def idle(self) -> int:
        """How many connections wait for work."""
        return len(self._idle)

    @property
    def waiting(self) -> int:
        """How many requests wait for a connection."""
        return sum(not waiter.done() for waiter in self._waiters)

    def take_idle(self) -> Connection | None:
        """The connection that came free last, if it is fresh enough."""
        while self._idle:
            connection, _ = self._idle.popitem()
            if self._loop.time() - connection.idle_since_s < self._idle_limit_s:
                return connection
            connection.abort()
        return None

    def take_room(self, *, at_any_price: bool) -> bool:
        """Take a slot for a new connection; `at_any_price` closes the oldest idle one for it."""
        if self._held >= self._max and at_any_price and self._idle:
            next(iter(self._idle)).abort()
        if self._held >= self._max:
            return False
        self._held += 1
        return True

    def wait(self, *, at_front: bool) -> asyncio.Future[Connection | None]:
        """Queue up; the future must be given back to `leave`."""
        waiter: asyncio.Future[Connection | None] = self._loop.create_future()
        if at_front:
            self._waiters.appendleft(waiter)
        else:
            self._waiters.append(waiter)
        return waiter

    def leave(self, waiter: asyncio.Future[Connection | None]) -> None:
        """A waiter gave up; what it was given in the same moment goes to the next."""
        if not waiter.done():
            waiter.cancel()
        if waiter.cancelled() or waiter.exception() is not None:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            return
        connection = waiter.result()
        if connection is None:
            self.free_slot()
        elif connection.is_usable:
            self.put(connection)

    def refuse_waiters(self, error: Exception) -> None:
        """Nobody will be served any more."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(error)
        self._waiters.clear()

    def opened(self, connection: Connection) -> None:
        """The attempt that holds a slot has become a connection."""
        self._live.add(connection)

    def put(self, connection: Connection) -> None:
        """A connection came free: it goes to the one who waits longest, or idles."""
        waiter = self._next_waiter()
        if waiter is not None:
            waiter.set_result(connection)
            return
        connection.idle_since_s = self._loop.time()
        self._idle[connection] = None
        if self._sweeper is None:
            at_s = connection.idle_since_s + self._idle_limit_s
            self._sweeper = self._loop.call_at(at_s, self._sweep)

    def free_slot(self) -> None:
        """A slot came free without a connection in it."""
        waiter = self._next_waiter()
        if waiter is not None:
            waiter.set_result(None)
        else:
            self._held -= 1

    def remove(self, connection: Connection) -> None:
        """A connection ended; the first call for it frees its slot."""
        if connection not in self._live:
            return
        self._live.discard(connection)
        self._idle.pop(connection, None)
        self.closing.add(connection)
        self.free_slot()

    def replace(self, connection: Connection) -> None:
        """Close a connection but keep its slot for a new one."""
        self._live.discard(connection)
        self.closing.add(connection)
        connection.abort()

    def close_idle(self) -> None:
        """Close all idle connections."""
        for connection in list(self._idle):
            connection.abort()
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None

    @property
    def busy(self) -> list[Connection]:
        """The connections that carry an exchange now."""
        return [c for c in self._live if c not in self._idle]

    def abort_all(self) -> None:
        """Close all connections."""
        for connection in list(self._live):
            connection.abort()

    def _next_waiter(self) -> asyncio.Future[Connection | None] | None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                return waiter
        return None

    def _sweep(self) -> None:
        self._sweeper = None
        expired_s = self._loop.time() - self._idle_limit_s + _EARLY_S
        while self._idle:
            oldest = next(iter(self._idle))
            if oldest.idle_since_s > expired_s:
                at_s = oldest.idle_since_s + self._idle_limit_s
                self._sweeper = self._loop.call_at(at_s, self._sweep)
                return
            oldest.abort()
