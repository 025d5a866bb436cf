"""Models that don't generate: embeddings, pooling, rerank, score and classify.

Vectors and scores are made from a hash of the text: equal texts get equal ones.
"""

import base64
import struct
import time
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from gateway.emulator import fields, generating
from gateway.emulator.call import Call
from gateway.emulator.refusals import bad_request, missing

_DIMENSIONS = 16


def vector(text: str, size: int = _DIMENSIONS) -> list[float]:
    """A stable vector of `size` numbers between -1 and 1."""
    raw = blake2b(text.encode("utf-8", "surrogatepass")).digest()
    return [raw[i % len(raw)] / 127.5 - 1.0 for i in range(size)]


def relevance(query: str, document: str) -> float:
    """A stable score between 0 and 1."""
    raw = blake2b(f"{query}\0{document}".encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(raw) / 2**32


async def embeddings(call: Call) -> None:
    """POST /v1/embeddings."""
    body, model, texts = _read(call, "input")
    size = fields.integer(body, "dimensions") or _DIMENSIONS
    is_base64 = fields.string(body, "encoding_format") == "base64"
    data = [
        {
            "index": i,
            "object": "embedding",
            "embedding": _packed(vector(t, size)) if is_base64 else vector(t, size),
        }
        for i, t in enumerate(texts)
    ]
    _send(call, body, "embd", model, {"object": "list", "data": data}, texts)


async def pooling(call: Call) -> None:
    """POST /pooling."""
    body, model, texts = _read(call, "input")
    data = [{"index": i, "object": "pooling", "data": vector(t)} for i, t in enumerate(texts)]
    _send(call, body, "pooling", model, {"object": "list", "data": data}, texts)


async def classify(call: Call) -> None:
    """POST /classify."""
    body, model, texts = _read(call, "input")
    data = []
    for index, text in enumerate(texts):
        positive = relevance("class", text)
        probs = [1.0 - positive, positive]
        label = "LABEL_1" if positive >= 0.5 else "LABEL_0"
        data.append({"index": index, "label": label, "probs": probs, "num_classes": 2})
    _send(call, body, "classify", model, {"object": "list", "data": data}, texts)


async def score(call: Call) -> None:
    """POST /score and /v1/score: each text_1 against its text_2, or one against all."""
    body, model, left = _read(call, "text_1")
    if "text_2" not in body:
        raise missing("body.text_2", body)
    right = _texts(call, body["text_2"])
    if len(left) not in (1, len(right)):
        raise bad_request("Input lengths must be either 1:1, 1:N or N:N")
    pairs = [(left[i if len(left) > 1 else 0], text) for i, text in enumerate(right)]
    data = [
        {"index": i, "object": "score", "score": relevance(*pair)} for i, pair in enumerate(pairs)
    ]
    _send(call, body, "score", model, {"object": "list", "data": data}, [*left, *right])


async def rerank(call: Call) -> None:
    """POST /rerank, /v1/rerank and /v2/rerank: best document first."""
    body = call.body()
    model = call.model(body)
    for name in ("query", "documents"):
        if name not in body:
            raise missing(f"body.{name}", body)
    query = fields.string(body, "query") or ""
    documents = _texts(call, body["documents"])
    results = [
        {"index": i, "document": {"text": d, "multi_modal": None}, "relevance_score": s}
        for s, i, d in sorted(
            ((relevance(query, d), i, d) for i, d in enumerate(documents)),
            key=lambda result: -result[0],
        )
    ]
    top = fields.integer(body, "top_n") or len(results)
    count = _count(call, [query, *documents])
    answer_id = call.answer_id("score", body)  # vLLM 0.32: one class serves both
    call.send_json(
        200,
        {
            "id": answer_id,
            "model": model,
            "usage": {"prompt_tokens": count, "total_tokens": count},
            "results": results[:top],
        },
    )


def _read(call: Call, name: str) -> tuple[fields.Body, str, list[str]]:
    body = call.body()
    model = call.model(body)
    if name not in body:
        raise missing(f"body.{name}", body)
    return body, model, _texts(call, body[name])


def _texts(call: Call, value: Any) -> list[str]:
    """Texts of a string, a list of strings, token ids, or lists of token ids."""
    entries: Sequence[Any] = value if isinstance(value, list) else [value]
    if entries and all(isinstance(entry, int) for entry in entries):
        entries = [list(entries)]
    return [entry if isinstance(entry, str) else repr(entry) for entry in entries]


def _count(call: Call, texts: Sequence[str]) -> int:
    return sum(len(generating.encode_prompt(call, text)) for text in texts)


def _packed(values: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode("ascii")


def _send(
    call: Call,
    body: fields.Body,
    prefix: str,
    model: str,
    answer: dict[str, Any],
    texts: Sequence[str],
) -> None:
    count = _count(call, texts)
    usage = {
        "prompt_tokens": count,
        "total_tokens": count,
        "completion_tokens": 0,
        "prompt_tokens_details": None,
        "completion_tokens_details": None,
    }
    head = {"id": call.answer_id(prefix, body), "object": answer["object"]}
    made = {"created": int(time.time()), "model": model, "data": answer["data"], "usage": usage}
    call.send_json(200, {**head, **made})
