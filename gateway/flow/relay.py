"""Giving the answer to the client: whole ones at once, streams event by event."""

import asyncio
import math
from collections.abc import Callable
from typing import Final

from gateway.errors import Refusal, UpstreamFault
from gateway.flow.answer import StreamAnswer, WholeAnswer
from gateway.flow.call import CONNECTION, Call, ClientConnection
from gateway.flow.course import Course
from gateway.flow.slot import Slot
from gateway.protocol.backend_error import error_fields, view_of
from gateway.protocol.chunks import end_marker
from gateway.protocol.envelope import ErrorView, error_body, error_event
from gateway.protocol.headers import Headers
from gateway.recovery.classify import Failure, of_fault

# The rest of a stream after its end marker is a few bytes; a backend that keeps it open longer
# only costs a connection.
_DRAIN_LIMIT_S: Final = 1.0


async def relay_whole(call: Call, answer: WholeAnswer) -> None:
    """Sends an answer that is complete."""
    call.counted = answer.reading
    if call.has_started:
        # The engine did not stream, and a comment has already committed us to a stream.
        last = b"data: " + answer.body + b"\n\n" + end_marker(call.endpoint.protocol)
        await _finish(call, last)
        return
    headers = [*answer.headers, (b"content-length", b"%d" % len(answer.body))]
    await _start(call, answer.status, headers)
    await _finish(call, answer.body)


async def relay_stream(
    call: Call,
    answer: StreamAnswer,
    told: Callable[[Failure], Failure],
    course: Course,
    slot: Slot,
) -> Failure | None:
    """Sends a stream as it comes; returns the failure that broke it as `told` puts it, or None.

    Nothing of a failure is sent: the stream may go on with another backend.
    """
    stream = answer.stream
    await begin_stream(call, answer.headers)
    failure: Failure | None = None
    try:
        out = answer.opening
        while True:
            slot.heard(stream.watch.events_total, stream.was_held)
            is_over = stream.is_over
            if is_over:
                await _finish(call, out)
            elif out:
                course.has_told = course.has_told or stream.watch.events_total > 0
                call.has_spoken = True
                await call.send({"type": "http.response.body", "body": out, "more_body": True})
            if is_over or stream.failure is not None:
                break
            out = await stream.next_bytes()
    except UpstreamFault as fault:
        failure = of_fault(fault)
        if stream.watch.is_finished:
            # All was said; only the end marker is missing.
            await _finish(call, end_marker(stream.watch.protocol))
            failure = None
    call.sequence_number = stream.watch.sequence_number
    call.counted = answer.counted
    failure = failure or stream.failure
    if failure is not None:
        return told(failure)
    await _drain(answer)
    return None


async def begin_stream(call: Call, headers: Headers | None = None) -> None:
    """Sends the head of a stream, unless a comment has already brought it on its way."""
    if call.has_started:
        return
    call.is_stream = True
    given = [(b"content-type", b"text/event-stream; charset=utf-8")] if headers is None else headers
    await _start(call, 200, [*given, *_STREAM_HEADERS])


async def beat(call: Call) -> None:
    """Sends a comment to a client that waits for its stream, so that proxies keep it open.

    It commits the status 200: what fails later ends as an error event. It is sent only if it can
    be written at once, so that it never stands in the way of the answer.
    """
    connection: ClientConnection = call.scope[CONNECTION]
    if not connection.is_writable:
        return
    call.has_spoken = True
    await begin_stream(call)
    await call.send({"type": "http.response.body", "body": _COMMENT, "more_body": True})


async def relay_backend_error(call: Call, answer: WholeAnswer) -> None:
    """Hands a backend's own error on, already in the client's envelope."""
    fields = error_fields(answer.body)
    message = fields.get("message")
    call.code = "backend_error"
    call.error = message[:500] if isinstance(message, str) else None
    if not call.has_started:
        await relay_whole(call, answer)
        return
    # A comment has already committed the 200.
    await _send_last(call, view_of(answer.status, answer.body))


async def end_with_error(call: Call, refusal: Refusal) -> None:
    """Ends a stream that has begun with an error event."""
    view = ErrorView.of(refusal)
    note_error(call, view)
    await _send_last(call, view)


async def _send_last(call: Call, view: ErrorView) -> None:
    await _finish(call, error_event(view, call.endpoint.protocol, call.sequence_number + 1))


async def relay_error(call: Call, view: ErrorView) -> None:
    """Sends an error of our own as the whole answer."""
    note_error(call, view)
    body = error_body(view, call.endpoint.protocol)
    await _start(call, view.status, [*view.headers, (b"content-length", b"%d" % len(body))])
    await _finish(call, body)


def note_error(call: Call, view: ErrorView) -> None:
    """Keeps the error for the log and the counters."""
    call.code = str(view.code)
    call.error = view.message


_COMMENT: Final = b": waiting for the model\n\n"
_STREAM_HEADERS: Final[tuple[tuple[bytes, bytes], ...]] = (
    # Proxies in front must neither keep nor collect a stream (nginx: X-Accel-Buffering).
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)


async def _start(call: Call, status: int, headers: Headers) -> None:
    call.has_started = True
    call.status = status
    headers.append((b"x-request-id", call.request_id.encode("latin-1")))
    await call.send({"type": "http.response.start", "status": status, "headers": headers})


async def _finish(call: Call, body: bytes) -> None:
    call.heartbeat_s = math.inf
    await call.send({"type": "http.response.body", "body": body})


async def _drain(answer: StreamAnswer) -> None:
    if answer.stream.is_drained:
        return
    try:
        async with asyncio.timeout(_DRAIN_LIMIT_S):
            await answer.stream.drain()
    except (TimeoutError, UpstreamFault):
        # The client has its whole answer; leaving the exchange closes the connection.
        return
