"""One try at one backend, up to the point where the client could see something of it."""

from typing import NamedTuple

from gateway.errors import UpstreamFault
from gateway.flow.answer import Attempted, Failed, StreamAnswer, WholeAnswer
from gateway.flow.stream import OpenStream, Shape
from gateway.protocol.answer import answer_verdict
from gateway.protocol.backend_error import in_envelope
from gateway.protocol.chunks import Protocol, StreamWatch, Verdict
from gateway.protocol.coding import decoder_for
from gateway.protocol.headers import Headers, first, is_event_stream, to_client
from gateway.protocol.rewrite import ModelRewriter, rename_in_header
from gateway.protocol.splice import Splice
from gateway.protocol.transcript import Transcript
from gateway.recovery.classify import Failure, Kind, of_error_answer, of_fault
from gateway.upstream.exchange import Exchange
from gateway.upstream.pool import BackendPool, BodySource, PhaseLimits

MAX_ANSWER_BYTES = 256 * 1024 * 1024
_MAX_ERROR_BYTES = 4 * 1024 * 1024
# For an engine that is not able to answer now and does not say when it will be.
_BUSY_RETRY_AFTER_S = b"5"


class Target(NamedTuple):
    """Where and how one attempt goes: backend, path, headers for it, and what the client calls it.

    `choices` is how many choices a complete answer has. `transcript` is told what a stream says,
    for streams that may be resumed; `shape` turns its events into the client's. `protocol` is
    that of the backend's answer.
    """

    backend: str
    model_name: str
    served_name: str
    shown_name: str
    pool: BackendPool
    path: bytes
    headers: Headers
    body: bytes | BodySource
    limits: PhaseLimits
    protocol: Protocol
    choices: int
    shape: Shape
    transcript: Transcript | None = None

    def told(self, failure: Failure) -> Failure:
        """The failure in words for clients: with the backend's name instead of its address."""
        return failure.about(self.backend, self.pool.origin.authority)


async def send(target: Target) -> Exchange | Failed:
    """Sends the request; the exchange with its head, or what went wrong before one came."""
    try:
        return await target.pool.send(
            b"POST", target.path, target.headers, target.body, target.limits
        )
    except UpstreamFault as fault:
        return Failed(target.told(of_fault(fault)))


async def receive(target: Target, exchange: Exchange) -> Attempted:
    """Judges the head, and as much of the body as it takes to know whether it is an answer."""
    try:
        if exchange.status >= 300:
            return await _error(target, exchange)
        if is_event_stream(exchange.headers):
            return await _begin_stream(target, exchange)
        return await _whole(target, exchange)
    except UpstreamFault as fault:
        return Failed(target.told(of_fault(fault)))


async def _error(target: Target, exchange: Exchange) -> Failed:
    body = await _plain_body(exchange, _MAX_ERROR_BYTES)
    if exchange.status < 400:
        detail = f"backend '{target.backend}' answered with a redirect ({exchange.status})"
        return Failed(Failure(Kind.MALFORMED, detail, may_have_run=False))
    failure = of_error_answer(
        exchange.status, body, first(exchange.headers, b"retry-after"), target.served_name
    )
    if failure.kind in (Kind.NAME_DRIFT, Kind.KEY_REFUSED):
        return Failed(target.told(failure))
    return Failed(failure, _error_answer(target, exchange, body))


def _error_answer(target: Target, exchange: Exchange, body: bytes) -> WholeAnswer:
    headers = [
        (name, value)
        for name, value in _to_client(target, exchange, is_decoded=True)
        if name != b"content-type"
    ]
    headers.append((b"content-type", b"application/json"))
    if exchange.status == 503 and first(headers, b"retry-after") is None:
        headers.append((b"retry-after", _BUSY_RETRY_AFTER_S))
    wrapped = in_envelope(exchange.status, body, target.protocol)
    return WholeAnswer(exchange.status, headers, wrapped)


async def _whole(target: Target, exchange: Exchange) -> Attempted:
    coding = first(exchange.headers, b"content-encoding")
    decoder = decoder_for(coding, MAX_ANSWER_BYTES)
    raw = await exchange.read_all(MAX_ANSWER_BYTES)
    if not raw:
        return Failed(target.told(Failure(Kind.EMPTY, "the answer is empty", True)))
    headers = _to_client(target, exchange, is_decoded=decoder is not None)
    if coding is not None and decoder is None:
        # A coding that can't be undone here passes with its header, unread.
        return WholeAnswer(exchange.status, headers, raw)
    body = raw
    if decoder is not None:
        body = decoder.feed(raw)
        decoder.finish()
    return _judged(target, exchange.status, headers, body)


def _judged(target: Target, status: int, headers: Headers, body: bytes) -> Attempted:
    reading = answer_verdict(body, target.protocol)
    match reading.verdict:
        case Verdict.ABORT:
            failure = Failure(Kind.ABORTED, "the backend gave up on the request", True)
            return Failed(target.told(failure))
        case Verdict.ERROR:
            told = reading.error.message if reading.error else "an error"
            return Failed(Failure(Kind.ENGINE_ERROR, told, may_have_run=True))
        case Verdict.MALFORMED:
            failure = Failure(Kind.MALFORMED, "the answer is not a JSON object", True)
            return Failed(target.told(failure))
    rewriter = target.shape if type(target.shape) is ModelRewriter else None
    rewriter = rewriter or ModelRewriter(target.shown_name)
    return WholeAnswer(status, headers, rewriter.body(body, target.protocol), reading)


async def _begin_stream(target: Target, exchange: Exchange) -> Attempted:
    coding = first(exchange.headers, b"content-encoding")
    decoder = decoder_for(coding, MAX_ANSWER_BYTES)
    watch = StreamWatch(target.protocol, target.choices, target.transcript)
    stream = OpenStream(exchange, decoder, watch, target.shape)
    opening = await stream.open()
    if stream.failure is not None and stream.watch.events_total <= 1:
        return Failed(target.told(stream.failure), _first_event_answer(target, stream.failure))
    headers = _to_client(target, exchange, is_decoded=True)
    counted = target.shape if isinstance(target.shape, Splice) else watch
    return StreamAnswer(exchange.status, headers, stream, opening, counted)


def _first_event_answer(target: Target, failure: Failure) -> WholeAnswer | None:
    """A first event that is an error with a status becomes a real answer of that status."""
    if failure.status is None or not 400 <= failure.status < 600:
        return None
    body = in_envelope(failure.status, failure.message.encode("utf-8", "replace"), target.protocol)
    return WholeAnswer(failure.status, [(b"content-type", b"application/json")], body)


async def _plain_body(exchange: Exchange, max_bytes: int) -> bytes:
    decoder = decoder_for(first(exchange.headers, b"content-encoding"), max_bytes)
    body = await exchange.read_all(max_bytes)
    return body if decoder is None else decoder.feed(body)


def _to_client(target: Target, exchange: Exchange, *, is_decoded: bool) -> Headers:
    headers = to_client(exchange.headers, is_decoded=is_decoded)
    if target.protocol is not Protocol.GENERIC:
        return headers
    for at, (name, value) in enumerate(headers):
        if name == b"metadata":
            headers[at] = (name, rename_in_header(value, target.shown_name))
    return headers
