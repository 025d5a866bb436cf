"""A stream on its way from a backend to a client: events in, bytes out, and how it ended."""

import typing
from collections import deque

from gateway.protocol.chunks import Protocol, StreamWatch, Verdict, end_marker
from gateway.protocol.coding import Decoder
from gateway.protocol.engine_error import ErrorInfo
from gateway.protocol.splice import Mismatch
from gateway.protocol.sse import EventSplitter
from gateway.recovery.classify import Failure, Kind, kind_of_error
from gateway.upstream.exchange import Exchange

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""The largest single event that is relayed; a larger one ends the stream with an error event."""


class Shape(typing.Protocol):
    """What turns a backend's events into the client's."""

    def event(self, event: bytes, protocol: Protocol) -> bytes:
        """What the client gets for one event; b"" for nothing. May raise `Mismatch`."""


class OpenStream:
    """Reads a backend's stream event by event and gives out what the client may see of it.

    Nothing after a failure, nor an end marker without a finish before it, is given out: `failure`
    then says what happened. `is_over` is true when the client's stream is complete.
    """

    __slots__ = (
        "_decoder",
        "_events",
        "_exchange",
        "_shape",
        "_splitter",
        "failure",
        "is_over",
        "watch",
    )

    def __init__(
        self,
        exchange: Exchange,
        decoder: Decoder | None,
        watch: StreamWatch,
        shape: Shape,
    ) -> None:
        self._exchange = exchange
        self._decoder = decoder
        self._splitter = EventSplitter(MAX_EVENT_BYTES)
        self._shape = shape
        self._events: deque[bytes] = deque()
        self.watch = watch
        self.failure: Failure | None = None
        self.is_over = False

    def __repr__(self) -> str:
        return f"<OpenStream {self.watch!r} failure={self.failure}>"

    async def next_bytes(self) -> bytes:
        """What the client gets next; b"" when nothing more comes. Raises `UpstreamFault`."""
        while True:
            piece = await self._exchange.read()
            if not piece:
                return self._at_end()
            out = self._take(piece if self._decoder is None else self._decoder.feed(piece))
            if out or self._has_ended():
                return out

    async def open(self) -> bytes:
        """The client's bytes up to and with the first event that is progress.

        Comments before it are kept for the client; they are no progress.
        """
        opening: list[bytes] = []
        while not self._has_ended() and self.watch.events_total == 0:
            out = await self.next_bytes()
            opening.append(out)
            if not out:
                break
        return b"".join(opening)

    @property
    def was_held(self) -> bool:
        """Whether the backend had to wait for us or our client, which hides its own speed."""
        return self._exchange.was_paused

    @property
    def is_drained(self) -> bool:
        """Whether the backend's answer has come to its end as well."""
        return self._exchange.is_complete

    async def drain(self) -> None:
        """Reads on to the end of the body, so that the connection can be used again."""
        while await self._exchange.read():
            pass

    def _take(self, plain: bytes) -> bytes:
        out: list[bytes] = []
        protocol = self.watch.protocol
        for event in self._splitter.feed(plain):
            verdict = self.watch.observe(event)
            if verdict is Verdict.DONE:
                if not self.watch.is_finished:
                    self.failure = _unfinished()
                    break
                self.is_over = True
            elif verdict in _FAILED:
                self.failure = _failure_of(verdict, self.watch.error)
                break
            try:
                out.append(self._shape.event(event, protocol))
            except Mismatch as mismatch:
                self.is_over = False
                self.failure = Failure(Kind.MISMATCH, str(mismatch), may_have_run=True)
                break
            if self.is_over:
                if event.endswith(b"\r\n\r"):
                    # The last line end was cut between its two bytes.
                    out.append(b"\n")
                break
        return out[0] if len(out) == 1 else b"".join(out)

    def _at_end(self) -> bytes:
        out = b""
        if not self._has_ended() and self._splitter.has_partial:
            # An event whose blank line is missing is whole if what it says is.
            out = self._take(b"\n\n")
            if self.failure is not None and self.failure.kind is Kind.MALFORMED:
                self.failure = _unfinished()
        if self._has_ended():
            return out
        if self.watch.is_finished or self._ends_unmarked():
            self.is_over = True
            return out + end_marker(self.watch.protocol)
        self.failure = _unfinished()
        return out

    def _has_ended(self) -> bool:
        return self.is_over or self.failure is not None

    def _ends_unmarked(self) -> bool:
        """Streams that have neither a finish nor a marker end where their body ends."""
        return self.watch.protocol is Protocol.GENERIC and self.watch.events_total > 0


_FAILED = (Verdict.ERROR, Verdict.ABORT, Verdict.MALFORMED)


def _unfinished() -> Failure:
    return Failure(Kind.CUT, "the backend's stream ended before the answer did", may_have_run=True)


def _failure_of(verdict: Verdict, error: ErrorInfo | None) -> Failure:
    if verdict is Verdict.ABORT:
        return Failure(Kind.ABORTED, "the backend gave up on the request", may_have_run=True)
    if verdict is Verdict.MALFORMED or error is None:
        return Failure(Kind.MALFORMED, "the backend sent a malformed event", may_have_run=True)
    code = error.code if isinstance(error.code, int) else None
    kind = kind_of_error(code, error.message)
    if kind is Kind.SERVER_ERROR:
        kind = Kind.ENGINE_ERROR
    return Failure(kind, error.message, may_have_run=not _is_refusal(kind), status=code)


def _is_refusal(kind: Kind) -> bool:
    return kind in (Kind.UNAVAILABLE, Kind.RATE_LIMITED, Kind.CONTEXT_TOO_LONG, Kind.CLIENT_ERROR)
