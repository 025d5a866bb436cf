"""Answers of the endpoints that aren't chat, in the shapes of vLLM 0.32.0."""

from typing import Any

from tests.support.wire import DONE, event

TEXT = ("Hello", " from", " the", " engine")
CREATED_S = 1796070565
USAGE = {"prompt_tokens": 5, "total_tokens": 9, "completion_tokens": 4}


def _completion(model: str, text: str, finish: str | None, **extra: Any) -> dict[str, Any]:
    return {
        "id": "cmpl-b4ecc753d74de124",
        "object": "text_completion",
        "created": CREATED_S,
        "model": model,
        "choices": [{"index": 0, "text": text, "logprobs": None, "finish_reason": finish}],
        **extra,
    }


def completion_events(model: str) -> list[bytes]:
    last = len(TEXT) - 1
    finishes = ["stop" if index == last else None for index in range(len(TEXT))]
    pairs = zip(TEXT, finishes, strict=True)
    return [*(event(_completion(model, text, finish)) for text, finish in pairs), DONE]


def _response(model: str, status: str, output: list[Any]) -> dict[str, Any]:
    usage = {
        "input_tokens": 5,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 4,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 9,
    }
    return {
        "id": "resp_a328253b7f342e87",
        "created_at": CREATED_S,
        "metadata": None,
        "model": model,
        "object": "response",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "none",
        "tools": [],
        "status": status,
        "usage": usage if status == "completed" else None,
    }


def response_events(model: str) -> list[bytes]:
    names = ("response.created", "response.in_progress")
    kinds: list[tuple[str, dict[str, Any]]] = [
        (name, {"response": _response(model, "in_progress", [])}) for name in names
    ]
    at = {"content_index": 0, "output_index": 0, "item_id": "msg_1", "logprobs": []}
    kinds += [("response.output_text.delta", {**at, "delta": text}) for text in TEXT]
    kinds.append(("response.completed", {"response": _response(model, "completed", [_message()])}))
    return [
        event({**body, "sequence_number": number, "type": name}, name)
        for number, (name, body) in enumerate(kinds)
    ]


def _message() -> dict[str, Any]:
    content = {"annotations": [], "text": "".join(TEXT), "type": "output_text", "logprobs": None}
    return {
        "id": "msg_1",
        "content": [content],
        "role": "assistant",
        "status": "completed",
        "type": "message",
    }


def _anthropic(model: str, content: list[Any], stop: str | None, tokens: int) -> dict[str, Any]:
    return {
        "id": "chatcmpl-a3b643244991e00b",
        "type": "message",
        "role": "assistant",
        "content": content,
        "model": model,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": tokens},
    }


def message_events(model: str) -> list[bytes]:
    block = {"type": "text", "text": ""}
    deltas: list[dict[str, Any]] = [
        {"delta": {"type": "text_delta", "text": text}, "index": 0} for text in TEXT
    ]
    end = {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": _tokens()}
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("message_start", {"message": _anthropic(model, [], None, 0)}),
        ("content_block_start", {"content_block": block, "index": 0}),
        *(("content_block_delta", delta) for delta in deltas),
        ("content_block_stop", {"index": 0}),
        ("message_delta", end),
        ("message_stop", {}),
    ]
    return [event({"type": name, **body}, name) for name, body in bodies]


def _tokens() -> dict[str, int]:
    return {"input_tokens": 5, "output_tokens": 4}


def _pooling(model: str, kind: str, data: list[Any]) -> dict[str, Any]:
    usage = {"prompt_tokens": 2, "total_tokens": 2, "completion_tokens": 0}
    return {"id": f"{kind}-1", "object": "list", "model": model, "data": data, "usage": usage}


def plain_bodies(model: str) -> dict[str, dict[str, Any]]:
    """The JSON answer of each path that isn't chat."""
    whole = "".join(TEXT)
    embedding = {"index": 0, "object": "embedding", "embedding": [0.25, -0.5, 1.0]}
    results = [{"index": 0, "document": {"text": "b"}, "relevance_score": 0.5}]
    rerank = {"id": "rerank-1", "model": model, "usage": {"total_tokens": 2}, "results": results}
    score = _pooling(model, "score", [{"index": 0, "object": "score", "score": 0.5}])
    label = {"index": 0, "label": "LABEL_0", "probs": [1.0], "num_classes": 1}
    pooled = [{"index": 0, "object": "pooling", "data": [[0.5]]}]
    text = {"text": whole, "usage": {"type": "duration", "seconds": 1}}
    blocks = [{"type": "text", "text": whole}]
    return {
        "/v1/completions": _completion(model, whole, "stop", usage=USAGE),
        "/v1/embeddings": _pooling(model, "embd", [embedding]),
        "/v1/responses": _response(model, "completed", [_message()]),
        "/v1/messages": _anthropic(model, blocks, "end_turn", 4),
        "/v1/messages/count_tokens": {"input_tokens": 5, "context_management": None},
        "/v1/rerank": rerank,
        "/v2/rerank": rerank,
        "/rerank": rerank,
        "/v1/score": score,
        "/score": score,
        "/classify": _pooling(model, "classify", [label]),
        "/pooling": _pooling(model, "pool", pooled),
        "/tokenize": {"count": 2, "max_model_len": 4096, "tokens": [1, 2], "token_strs": None},
        "/detokenize": {"prompt": "hello"},
        "/v1/audio/transcriptions": text,
        "/v1/audio/translations": text,
    }
