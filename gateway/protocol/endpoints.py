"""The table of endpoints that are routed by model, with their paths here and at the engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

from gateway.protocol.chunks import Protocol


@dataclass(frozen=True)
class Endpoint:
    """One endpoint: its name in the routing file, its paths, and how its bytes are to be read.

    `paths[0]` is the path asked of the engine. `is_multipart` bodies carry the model in a form
    field; all others are JSON.
    """

    name: str
    paths: tuple[str, ...]
    protocol: Protocol
    is_multipart: bool = False

    @cached_property
    def is_for_engine(self) -> bool:
        """Whether an answer shows that the engine works: counting tokens does not need it."""
        return self.name not in ("tokenize", "detokenize", "count_tokens")

    @cached_property
    def target(self) -> bytes:
        """The path asked of the engine, without a backend's own path prefix."""
        return self.paths[0].encode("ascii")


# The set follows vLLM's own routes (vllm/entrypoints/openai/api_server.py, 0.20 to 0.32).
ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    Endpoint("chat", ("/v1/chat/completions",), Protocol.OPENAI_CHAT),
    Endpoint("completions", ("/v1/completions",), Protocol.OPENAI_COMPLETIONS),
    Endpoint("embeddings", ("/v1/embeddings",), Protocol.GENERIC),
    Endpoint("responses", ("/v1/responses",), Protocol.RESPONSES),
    Endpoint("messages", ("/v1/messages",), Protocol.MESSAGES),
    Endpoint("count_tokens", ("/v1/messages/count_tokens",), Protocol.MESSAGES),
    Endpoint("rerank", ("/v1/rerank",), Protocol.GENERIC),
    Endpoint("rerank", ("/v2/rerank",), Protocol.GENERIC),
    Endpoint("rerank", ("/rerank",), Protocol.GENERIC),
    Endpoint("score", ("/v1/score",), Protocol.GENERIC),
    Endpoint("score", ("/score",), Protocol.GENERIC),
    Endpoint("classify", ("/classify", "/v1/classify"), Protocol.GENERIC),
    Endpoint("pooling", ("/pooling", "/v1/pooling"), Protocol.GENERIC),
    Endpoint("tokenize", ("/tokenize", "/v1/tokenize"), Protocol.GENERIC),
    Endpoint("detokenize", ("/detokenize", "/v1/detokenize"), Protocol.GENERIC),
    Endpoint(
        "transcriptions", ("/v1/audio/transcriptions",), Protocol.TRANSCRIPTION, is_multipart=True
    ),
    Endpoint(
        "translations", ("/v1/audio/translations",), Protocol.TRANSCRIPTION, is_multipart=True
    ),
)

BY_PATH: Final[Mapping[str, Endpoint]] = MappingProxyType(
    {path: endpoint for endpoint in ENDPOINTS for path in endpoint.paths}
)


def tidy_path(path: str) -> str:
    """`path` without doubled and trailing slashes; dot segments and escapes stay as they are.

    Those are not resolved on purpose: a path that needs it names nothing that is served.
    """
    if "//" in path or path.endswith("/"):
        return "/" + "/".join(part for part in path.split("/") if part)
    return path


def nearest_path(path: str) -> str | None:
    """The served path that a client most likely meant by an unknown one, or None."""
    tail = path.removeprefix("/v1").removeprefix("/openai")
    for known in BY_PATH:
        if known == f"/v1{tail}" or known.removeprefix("/v1") == tail:
            return known
    return None
