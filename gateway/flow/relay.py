"""Giving the answer to the client: whole ones at once, streams event by event."""

import asyncio
from collections.abc import Callable
from typing import Final

from gateway.errors import Refusal, UpstreamFault
from gateway.flow.answer import StreamAnswer, WholeAnswer
from gateway.flow.call import Call
from gateway.protocol.backend_error import error_fields
from gateway.protocol.envelope import ErrorView, error_body, error_event
from gateway.protocol.headers import Headers
from gateway.recovery.classify import Failure, of_fault
from gateway.recovery.plan import of_failure

# The rest of a stream after its end marker is a few bytes; a backend that keeps it open longer
# only costs a connection.
_DRAIN_LIMIT_S: Final = 1.0


async def relay_whole(call: Call, answer: WholeAnswer) -> None:
    """Sends an answer that is complete."""
    call.counted = answer.reading
    headers = [*answer.headers, (b"content-length", b"%d" % len(answer.body))]
    await _start(call, answer.status, headers)
    await call.send({"type": "http.response.body", "body": answer.body})


async def relay_stream(
    call: Call, answer: StreamAnswer, told: Callable[[Failure], Failure]
) -> Failure | None:
    """Sends a stream as it comes; returns the failure that ended it as `told` puts it, or None.

    A stream that fails, or that is interrupted, ends with an error event in the client's protocol
    and without an end marker.
    """
    stream = answer.stream
    call.is_stream = True
    await _start(call, answer.status, [*answer.headers, *_STREAM_HEADERS])
    failure: Failure | None = None
    try:
        out = answer.opening
        while True:
            is_over = stream.is_over
            if out or is_over:
                await call.send(
                    {"type": "http.response.body", "body": out, "more_body": not is_over}
                )
            if is_over or stream.failure is not None:
                break
            out = await stream.next_bytes()
    except UpstreamFault as fault:
        failure = of_fault(fault)
    call.counted = stream.watch
    failure = failure or stream.failure
    if failure is not None:
        failure = told(failure)
        model = call.served_model.name if call.served_model is not None else ""
        refusal = of_failure(model, failure)
        await end_with_error(call, refusal, stream.watch.sequence_number + 1)
        return failure
    await _drain(answer)
    return None


async def relay_backend_error(call: Call, answer: WholeAnswer) -> None:
    """Hands a backend's own error on, already in the client's envelope."""
    fields = error_fields(answer.body)
    message = fields.get("message")
    call.code = "backend_error"
    call.error = message[:500] if isinstance(message, str) else None
    await relay_whole(call, answer)


async def end_with_error(call: Call, refusal: Refusal, sequence_number: int = 0) -> None:
    """Ends a stream that has begun with an error event."""
    view = ErrorView.of(refusal)
    note_error(call, view)
    event = error_event(view, call.endpoint.protocol, sequence_number)
    await call.send({"type": "http.response.body", "body": event})


async def relay_error(call: Call, view: ErrorView) -> None:
    """Sends an error of our own as the whole answer."""
    note_error(call, view)
    body = error_body(view, call.endpoint.protocol)
    await _start(call, view.status, [*view.headers, (b"content-length", b"%d" % len(body))])
    await call.send({"type": "http.response.body", "body": body})


def note_error(call: Call, view: ErrorView) -> None:
    """Keeps the error for the log and the counters."""
    call.code = str(view.code)
    call.error = view.message


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


async def _drain(answer: StreamAnswer) -> None:
    if answer.stream.is_drained:
        return
    try:
        async with asyncio.timeout(_DRAIN_LIMIT_S):
            await answer.stream.drain()
    except (TimeoutError, UpstreamFault):
        # The client has its whole answer; leaving the exchange closes the connection.
        return
