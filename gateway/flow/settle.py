"""Last step: a request that has ended is counted and logged, once, however it ended."""

from typing import Any

from gateway.flow.call import Call
from gateway.observe.logs import Log
from gateway.observe.metrics import UNKNOWN_MODEL, Metrics

CLIENT_LEFT_STATUS = 499
"""What logs and metrics say of a request whose client left (as nginx does)."""


def settle(call: Call, metrics: Metrics, log: Log, now: float) -> None:
    """Counts and logs the request."""
    call.trail.named(call.asked, None if call.model is None else call.model.name)
    call.trail.finished(call.status, call.code, call.error, now)
    model = call.model.name if call.model is not None else UNKNOWN_MODEL
    duration_s = now - call.started_s
    metrics.request_ended(model, call.endpoint.name, call.status, duration_s)
    if call.status == CLIENT_LEFT_STATUS:
        metrics.client_left(model)
    elif call.code is not None:
        metrics.request_failed(model, call.code)
    if call.ttft_s is not None:
        metrics.first_event(model, call.ttft_s)
    if log.is_access_on:
        log.access(_fields(call, duration_s))


def _fields(call: Call, duration_s: float) -> dict[str, Any]:
    served = call.served_model
    usage = None if call.counted is None else call.counted.usage
    return {
        "request_id": call.request_id,
        "upstream_id": call.upstream_id,
        "caller": call.caller.name,
        "endpoint": call.endpoint.name,
        "model": call.asked if call.asked is None else call.asked[:200],
        "served": None if served is None else served.name,
        "backend": call.backend,
        "attempts": call.attempts,
        "waited_s": round(call.trail.waited_before_s, 6),
        "status": call.status,
        "code": call.code,
        "error": call.error,
        "stream": call.is_stream,
        "prompt_tokens": None if usage is None else usage.prompt_tokens,
        "completion_tokens": None if usage is None else usage.completion_tokens,
        "ttft_s": None if call.ttft_s is None else round(call.ttft_s, 6),
        "duration_s": round(duration_s, 6),
    }
