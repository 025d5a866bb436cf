"""One socket to a backend: its bytes in, its bytes out, and its limits."""

import asyncio
import math
from typing import Protocol, cast

from gateway.errors import Phase, ResponseMalformed, UpstreamFault
from gateway.protocol.headers import is_event_stream
from gateway.upstream import faults
from gateway.upstream.exchange import HIGH_WATER_BYTES, Exchange
from gateway.upstream.outgoing import Outgoing
from gateway.upstream.parser import ParserState, ResponseParser
from gateway.upstream.socket_options import tune
from gateway.upstream.timer import PhaseLimits, PhaseTimer

_HEAD, _BODY, _DONE = ParserState.HEAD, ParserState.BODY, ParserState.DONE


class ConnectionOwner(Protocol):
    """Who is told when a connection comes free or ends."""

    def connection_free(self, connection: "Connection") -> None: ...

    def connection_gone(self, connection: "Connection") -> None: ...

    def connection_closed(self, connection: "Connection") -> None: ...


class Connection(asyncio.Protocol):
    """A connection that carries one exchange at a time.

    `heard_s` is when the backend last sent bytes (loop time). `is_usable` turns false for good at
    the first sign of an end; the owner is then told once (`connection_gone`), and again when the
    socket is closed (`connection_closed`).
    """

    __slots__ = (
        "_exchange",
        "_loop",
        "_out",
        "_owner",
        "_parser",
        "_timer",
        "_transport",
        "authority",
        "heard_s",
        "idle_since_s",
        "is_usable",
        "request_count",
    )

    def __init__(
        self,
        owner: ConnectionOwner,
        authority: str,
        loop: asyncio.AbstractEventLoop,
        max_head_bytes: int,
    ) -> None:
        self._owner = owner
        self._loop = loop
        self._parser = ResponseParser(max_head_bytes)
        self._timer = PhaseTimer(loop, self._limit_reached)
        self._transport: asyncio.Transport | None = None
        self._exchange: Exchange | None = None
        self._out = Outgoing(loop)
        self.authority = authority
        self.heard_s = -math.inf
        self.idle_since_s = 0.0
        self.is_usable = False
        self.request_count = 0

    def __repr__(self) -> str:
        state = "closed"
        if self.is_usable:
            state = "idle" if self._exchange is None else f"busy in {self._timer.phase}"
        return f"<Connection {self.authority} {state} {self.request_count} requests>"

    # Asked by the pool.

    def begin(
        self,
        data: bytes,
        body: bytes,
        limits: PhaseLimits,
        total_at_s: float,
        *,
        is_head_request: bool,
        has_upload: bool,
    ) -> Exchange:
        """Send a request: its head, and its body unless an upload follows."""
        transport = self._transport
        assert transport is not None
        assert self._exchange is None
        exchange = Exchange(self, self._parser.pieces, self._loop, reused=self.request_count > 0)
        self._exchange = exchange
        self.request_count += 1
        if self._parser.seen_bytes or is_head_request:
            self._parser.begin(is_head_request=is_head_request)
        is_sent = self._out.begin(transport, data, body, has_upload=has_upload)
        self._timer.start(limits, total_at_s, Phase.FIRST_BYTE if is_sent else Phase.SEND)
        return exchange

    def abort(self) -> None:
        """Close the socket now; an exchange under way fails."""
        has_head = self._parser.status != 0
        self._fail(faults.aborted(self.authority, has_head=has_head, is_sent=self._out.is_sent))

    def give_up(self, reason: str, silent_s: float) -> bool:
        """Fail the exchange if its backend has been silent for so long; whether it did.

        A response that is held back by its own reader is not silent.
        """
        exchange = self._exchange
        if exchange is None or exchange.is_paused or exchange.pieces:
            return False
        if self._loop.time() - self._timer.mark_s < silent_s:
            return False
        has_head = exchange.status != 0
        self._fail(
            faults.lost(self.authority, reason, has_head=has_head, is_sent=self._out.is_sent)
        )
        return True

    @property
    def is_awaited(self) -> bool:
        """Whether its request is with the backend and the backend's bytes are waited for."""
        exchange = self._exchange
        return exchange is not None and self._out.is_sent and not exchange.is_paused

    # Asked by the upload.

    async def write(self, data: bytes) -> None:
        """Write a part of the body and wait while the backend takes no more."""
        if self._transport is not None and self.is_usable:
            self._timer.go_on()
            await self._out.write(self._transport, data)

    def wait_for_source(self) -> None:
        """The next part of the body is not there yet, which is not the backend's fault."""
        if self._exchange is not None and self._exchange.status == 0:
            self._timer.hold()

    def body_sent(self) -> None:
        """The upload has written all; what is left is in the transport."""
        if self._out.end_of_body():
            self._request_sent()

    def upload_failed(self, error: BaseException) -> None:
        """The body's source raised; the request can't be ended rightly."""
        self._fail(error)

    # Asked by the exchange.

    def resume_reading(self) -> None:
        """The reader caught up."""
        if self._transport is not None:
            self._transport.resume_reading()
            self._timer.go_on()

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_usable = True
        tune(transport.get_extra_info("socket"))

    def data_received(self, data: bytes) -> None:
        exchange = self._exchange
        if exchange is None:
            self._end()  # nobody asked: an idle connection must be silent
            return
        self.heard_s = self._timer.mark_s = self._loop.time()
        parser = self._parser
        parser.feed(data)
        state = parser.state
        if state is _HEAD:
            return
        if exchange.status == 0 and parser.status != 0:
            self._head_arrived(exchange, is_body_due=state is _BODY)
        if state is _BODY:
            exchange.unread_bytes += len(data)
            if exchange.pieces:
                if self._timer.phase is Phase.FIRST_BYTE:
                    self._timer.enter(Phase.BETWEEN)
                exchange.wake()
            if exchange.unread_bytes > HIGH_WATER_BYTES and not exchange.is_paused:
                exchange.is_paused = exchange.was_paused = True
                self._timer.hold()
                self._transport.pause_reading()  # type: ignore[union-attr]
        elif state is _DONE:
            self._complete(exchange)
        else:
            phase = Phase.FIRST_BYTE if parser.status == 0 else Phase.BETWEEN
            message = f"the answer of {self.authority} is not usable HTTP: {parser.fault}"
            self._fail(ResponseMalformed(message, phase=phase))

    def eof_received(self) -> None:
        exchange = self._exchange
        self.is_usable = False
        if exchange is None:
            self._end()
        elif self._parser.feed_eof():
            self._complete(exchange)
        else:
            self._fail(self._loss(None))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._exchange is not None:
            self._fail(self._loss(exc))
        self._end()
        self._timer.close()
        self._parser.close()
        self._transport = None
        self._out.close()
        self._owner.connection_closed(self)

    def pause_writing(self) -> None:
        self._out.pause()

    def resume_writing(self) -> None:
        if self._out.resume():
            self._request_sent()

    # Inside.

    def _request_sent(self) -> None:
        exchange = self._exchange
        if exchange is not None and exchange.status == 0:
            self._timer.enter(Phase.FIRST_BYTE)

    def _head_arrived(self, exchange: Exchange, *, is_body_due: bool) -> None:
        exchange.status = self._parser.status
        exchange.headers = self._parser.headers
        # vLLM sends the head of a stream before its engine has even taken the request.
        if is_body_due and not is_event_stream(exchange.headers):
            self._timer.enter(Phase.BETWEEN)
        if exchange.upload is not None and exchange.status >= 300:
            exchange.upload.cancel()  # refused early: the rest of the body is of no use
        exchange.wake()

    def _detach(self) -> Exchange | None:
        exchange = self._exchange
        self._exchange = None
        self._timer.stop()
        if exchange is not None and exchange.upload is not None:
            exchange.upload.cancel()
        return exchange

    def _complete(self, exchange: Exchange) -> None:
        parser = self._parser
        self._detach()
        exchange.finish()
        parser.pieces.clear()
        if (
            parser.keep_alive
            and not parser.has_extra
            and self._out.is_sent
            and self.is_usable
            and self._transport is not None
            and not self._transport.is_closing()
        ):
            if exchange.is_paused:
                self._transport.resume_reading()
            self._owner.connection_free(self)
        else:
            self._end()

    def _fail(self, fault: BaseException) -> None:
        exchange = self._detach()
        if exchange is not None:
            exchange.fail(fault)
        self._end()

    def _end(self) -> None:
        self.is_usable = False
        self._owner.connection_gone(self)
        if self._transport is not None:
            self._transport.abort()

    def _loss(self, error: Exception | None) -> UpstreamFault:
        parser = self._parser
        return faults.loss(
            self.authority,
            error,
            has_head=parser.status != 0,
            is_sent=self._out.is_sent,
            is_reused=self.request_count > 1,
            has_bytes=parser.seen_bytes,
            since_sent_s=self._loop.time() - self._timer.mark_s,
        )

    def _limit_reached(self, phase: Phase, limit_s: float) -> None:
        transport = self._transport
        if phase is Phase.SEND and transport is not None and self._out.is_moving(transport):
            self._timer.go_on()
            return
        self._fail(faults.limit_reached(self.authority, phase, limit_s, is_sent=self._out.is_sent))
