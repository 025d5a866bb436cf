"""What a healthy vLLM 0.32.0 answers, byte-like: the scripted server's usual behaviour.

Shapes follow the captures in tests/golden/captures.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests.support.shapes import (
    CREATED_S,
    TEXT,
    USAGE,
    completion_events,
    message_events,
    plain_bodies,
    response_events,
)
from tests.support.wire import DONE, Request, compact, event

if TYPE_CHECKING:
    from tests.support.connection import Exchange

METRICS = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{{engine="0",model_name="{name}"}} 0.0
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{{engine="0",model_name="{name}"}} 0.0
# HELP vllm:kv_cache_usage_perc KV-cache usage. 1 means 100 percent usage.
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{{engine="0",model_name="{name}"}} 0.0
# HELP vllm:num_preemptions_total Cumulative number of preemption from the engine.
# TYPE vllm:num_preemptions_total counter
vllm:num_preemptions_total{{engine="0",model_name="{name}"}} 0.0
"""


def model_list(names: Sequence[str], root: str, max_model_len: int, **extra: Any) -> bytes:
    entries = [
        {
            "id": name,
            "object": "model",
            "created": CREATED_S,
            "owned_by": "vllm",
            "root": root,
            "parent": None,
            "max_model_len": max_model_len,
            "permission": [],
            **extra,
        }
        for name in names
    ]
    return compact({"object": "list", "data": entries})


def unknown_model(name: Any, known: Sequence[str]) -> bytes:
    message = f"The model `{name}` does not exist. Valid aliases: {', '.join(known)}."
    error = {"message": message, "type": "NotFoundError", "param": "model", "code": 404}
    return compact({"error": error})


def chat_body(model: str, content: str | None = "".join(TEXT), **extra: Any) -> bytes:
    message = {"role": "assistant", "content": content, "refusal": None, "reasoning": None}
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": "stop",
        "stop_reason": None,
        "token_ids": None,
    }
    return compact(
        {
            "id": "chatcmpl-be23f38e339590f1",
            "object": "chat.completion",
            "created": CREATED_S,
            "model": model,
            "choices": [choice],
            "service_tier": None,
            "system_fingerprint": "vllm-0.32.0-c1014174",
            "usage": USAGE,
            "prompt_logprobs": None,
            "kv_transfer_params": None,
            **extra,
        }
    )


def chat_event(model: str, delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice: dict[str, Any] = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return event(_chat_chunk(model, [choice]))


def _chat_chunk(model: str, choices: list[Any], **extra: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-9b51ce86ffc2a293",
        "object": "chat.completion.chunk",
        "created": CREATED_S,
        "model": model,
        "choices": choices,
        **extra,
    }


def chat_events(model: str, texts: Sequence[str] = TEXT, *, usage: bool = False) -> list[bytes]:
    """A whole chat stream: role, one event a text, finish, perhaps usage, [DONE]."""
    events = [chat_event(model, {"role": "assistant", "content": ""})]
    events += [chat_event(model, {"content": text}) for text in texts]
    events.append(chat_event(model, {}, "stop"))
    if usage:
        events.append(event(_chat_chunk(model, [], usage=USAGE)))
    return [*events, DONE]


STREAMS = {
    "/v1/chat/completions": chat_events,
    "/v1/completions": completion_events,
    "/v1/responses": response_events,
    "/v1/messages": message_events,
}


def asked_model(request: Request) -> Any:
    """The model a request names, in JSON or in a form field."""
    if (request.header("content-type") or "").startswith("multipart/form-data"):
        boundary = (request.header("content-type") or "").partition("boundary=")[2].strip('"')
        parts = request.body.split(b"--" + boundary.encode() + b"\r\n")
        fields = [part.partition(b"\r\n\r\n") for part in parts]
        named = [value for head, _, value in fields if b'name="model"' in head]
        return named[-1].partition(b"\r\n")[0].decode()
    return request.json().get("model")


async def usual(exchange: "Exchange") -> None:
    """Answer as a healthy server does."""
    request, upstream = exchange.request, exchange.upstream
    path = request.path.removeprefix(upstream.prefix)
    if request.method == "GET":
        await _usual_probe(exchange, path)
        return
    plain = plain_bodies(upstream.names[0])
    if path not in plain and path not in STREAMS:
        await exchange.answer(404, b'{"detail":"Not Found"}')
        return
    model = asked_model(request)
    if model not in upstream.names and not upstream.any_model:
        await exchange.answer(404, unknown_model(model, upstream.names))
        return
    body = {} if "audio" in path else request.json()
    if body.get("stream") and path in STREAMS:
        options = body.get("stream_options") or {}
        if path == "/v1/chat/completions":
            events = chat_events(model, usage=options.get("include_usage") is True)
        else:
            events = STREAMS[path](model)
        await exchange.stream(events)
    elif path == "/v1/chat/completions":
        await exchange.answer(200, chat_body(model))
    else:
        await exchange.answer(200, compact(plain_bodies(model)[path]))


async def _usual_probe(exchange: "Exchange", path: str) -> None:
    upstream = exchange.upstream
    if path in ("/health", "/ping"):
        await exchange.answer(200, content_type=None)
    elif path == "/v1/models":
        await exchange.answer(
            200, model_list(upstream.names, upstream.root, upstream.max_model_len)
        )
    elif path == "/metrics":
        text = METRICS.format(name=upstream.names[0]).encode()
        await exchange.answer(200, text, content_type="text/plain; version=0.0.4; charset=utf-8")
    elif path == "/version":
        await exchange.answer(200, b'{"version":"0.32.0"}')
    elif path == "/load":
        await exchange.answer(200, b'{"server_load":0}')
    else:
        await exchange.answer(404, b'{"detail":"Not Found"}')
