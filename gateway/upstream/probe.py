"""Asking a backend how it is, by /health, and what it serves, by /v1/models."""

import asyncio
import errno
import ssl
from types import MappingProxyType
from typing import Any, Final

import httpx

from gateway.errors import ResponseMalformed
from gateway.fleet.health.evidence import (
    Activity,
    Canary,
    CanaryFailed,
    CanaryOk,
    CanaryUnsure,
    ModelCard,
    ProbeFailed,
    ProbeOk,
    ProbeTrouble,
)
from gateway.fleet.telemetry.activity import read_activity
from gateway.protocol.answer import answer_verdict
from gateway.protocol.chunks import Protocol, Verdict
from gateway.protocol.coding import decoder_for

# A list of models is a few hundred bytes each; more than this is something else.
_CARDS_KEPT: Final = 200
# A real /metrics is 55 to 60 KB; several engines behind one port repeat most of it.
_MAX_METRICS_BYTES: Final = 4 * 1024 * 1024
# Packing costs the engine's server more than 60 KB cost the network.
_PLAIN: Final = MappingProxyType({"accept-encoding": "identity"})
_CANARY_TEXT: Final = "1 2 3"
_CANARY_WAYS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("v1/chat/completions", {"messages": [{"role": "user", "content": _CANARY_TEXT}]}),
    ("v1/completions", {"prompt": _CANARY_TEXT}),
)
# So that the logs of an engine tell it from the requests of clients.
_CANARY: Final = MappingProxyType({"user-agent": "ascend-gateway canary"})


class HealthProbe:
    """Probes one backend; its client's time-outs bound each look.

    The proxy variables of the environment are not read. Make it, and use it, in the running loop.
    """

    def __init__(
        self,
        base_url: str,
        api_key: bytes | None,
        context: ssl.SSLContext | bool,
        server_name: str | None,
        limit_s: float,
    ) -> None:
        self._client = httpx.AsyncClient(
            base_url=base_url + "/",
            verify=context,
            timeout=limit_s,
            trust_env=False,
            follow_redirects=False,
            # vLLM closes idle connections after 5 s.
            limits=httpx.Limits(max_keepalive_connections=1, keepalive_expiry=2.5),
        )
        self.rekey(api_key)
        self._limit_s = limit_s
        self._extensions = {"sni_hostname": server_name} if server_name else {}

    def __repr__(self) -> str:
        return f"<HealthProbe {self._client.base_url}>"

    async def look(self) -> ProbeOk | ProbeFailed:
        """One look at the backend: /health, then /v1/models."""
        try:
            async with asyncio.timeout(self._limit_s):
                health = await self._get("health")
            if health.status_code != 200:
                detail = f"its /health answers {health.status_code}"
                return ProbeFailed(ProbeTrouble.STATUS, detail)
            return ProbeOk(await self._cards())
        except httpx.ConnectError as error:
            return _no_connection(error)
        except (TimeoutError, httpx.TimeoutException):
            return ProbeFailed(ProbeTrouble.TIMEOUT, "its /health does not answer in time")
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            detail = f"its /health can't be read: {type(error).__name__}"
            return ProbeFailed(ProbeTrouble.UNREACHABLE, detail)

    async def activity(self) -> Activity | None:
        """What the engine's counters say; None if they can't be read, which says nothing."""
        try:
            # The client's own limit is for each read, and a body may come byte by byte.
            async with asyncio.timeout(self._limit_s):
                body = await self._metrics()
        except (OSError, httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ResponseMalformed):
            # A TimeoutError is an OSError too.
            return None
        return None if body is None else read_activity(body.decode("utf-8", "replace"))

    async def _metrics(self) -> bytes | None:
        async with self._client.stream(
            "GET", "metrics", headers=_PLAIN, extensions=self._extensions
        ) as answer:
            coding = answer.headers.get("content-encoding", "identity").strip().lower()
            # The client would unpack each piece at once, however large that makes it.
            decoder = decoder_for(coding.encode("latin-1", "replace"), _MAX_METRICS_BYTES)
            if answer.status_code != 200 or (decoder is None and coding not in ("", "identity")):
                return None
            pieces, size_bytes = [], 0
            async for piece in answer.aiter_raw():
                size_bytes += len(piece)
                if size_bytes > _MAX_METRICS_BYTES:
                    return None
                pieces.append(piece if decoder is None else decoder.feed(piece))
            if decoder is not None:
                decoder.finish()
        return b"".join(pieces)

    async def canary(self, served_name: str, limit_s: float) -> Canary:
        """Asks for two tokens. An engine that does not chat is asked for a completion, and one
        that does neither has shown by its answer that it is alive."""
        for path, prompt in _CANARY_WAYS:
            body = {"model": served_name, **prompt, "max_tokens": 2, "temperature": 0}
            try:
                async with asyncio.timeout(limit_s):
                    answer = await self._client.post(
                        path,
                        json=body,
                        timeout=limit_s,
                        headers=_CANARY,
                        extensions=self._extensions,
                    )
            except (TimeoutError, httpx.TimeoutException):
                return CanaryFailed(f"two tokens did not come within {limit_s:.0f} s")
            except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
                return CanaryFailed(f"the connection broke ({type(error).__name__})")
            if answer.status_code == 200:
                return _judged(answer.content)
            refused = _refused(answer)
            if refused is not None:
                return refused
        return CanaryOk()

    def rekey(self, api_key: bytes | None) -> None:
        """Asks with another key from now on, or with none."""
        self._client.headers.pop("authorization", None)
        if api_key:
            self._client.headers["authorization"] = f"Bearer {api_key.decode('latin-1')}"

    async def close(self) -> None:
        """Closes its connections."""
        await self._client.aclose()

    async def _get(self, path: str) -> httpx.Response:
        return await self._client.get(path, extensions=self._extensions)

    async def _cards(self) -> tuple[ModelCard, ...] | None:
        """What /v1/models lists; None if it gives no list, which says nothing about health."""
        try:
            async with asyncio.timeout(self._limit_s):
                answer = await self._get("v1/models")
            return cards_in(answer.json()) if answer.status_code == 200 else None
        except (TimeoutError, httpx.HTTPError, ValueError, RecursionError):
            return None


def _judged(body: bytes) -> Canary:
    reading = answer_verdict(body, Protocol.OPENAI_CHAT)
    match reading.verdict:
        case Verdict.ABORT:
            return CanaryUnsure()
        case Verdict.ERROR:
            code = None if reading.error is None else reading.error.code
            is_refusal = isinstance(code, int) and 400 <= code < 500
            return CanaryOk() if is_refusal else CanaryFailed("its answer is an error")
        case Verdict.MALFORMED:
            return CanaryFailed("its answer is no JSON object")
    return CanaryOk()


def _refused(answer: httpx.Response) -> Canary | None:
    """What an error status says; None for an engine that does not take this way of asking."""
    status = answer.status_code
    if status in (429, 503):
        return CanaryUnsure()
    if status in (401, 403):
        told = (
            "it does not accept the gateway's key: set api_key_env or api_key_file of the backend"
        )
        return CanaryFailed(told)
    if status >= 500 and status != 501:
        return CanaryFailed(f"it answered {status}: {answer.text[:200]}")
    return None


def cards_in(listed: Any) -> tuple[ModelCard, ...] | None:
    """The cards of a decoded /v1/models; entries that are none are left out."""
    data = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(data, list):
        return None
    cards = (_card(entry) for entry in data[:_CARDS_KEPT])
    return tuple(card for card in cards if card is not None)


def _card(entry: Any) -> ModelCard | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        return None
    length = entry.get("max_model_len")
    return ModelCard(
        id=entry["id"],
        root=_text(entry.get("root")),
        parent=_text(entry.get("parent")),
        max_model_len=length if type(length) is int and length > 0 else None,
        owned_by=_text(entry.get("owned_by")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _no_connection(error: httpx.ConnectError) -> ProbeFailed:
    if errno.ECONNREFUSED in _error_numbers(error):
        return ProbeFailed(ProbeTrouble.REFUSED, "it refuses connections: nothing listens there")
    return ProbeFailed(ProbeTrouble.UNREACHABLE, f"it can't be reached: {error}")


def _error_numbers(error: BaseException | None) -> set[int]:
    found: set[int] = set()
    while error is not None:
        members = error.exceptions if isinstance(error, BaseExceptionGroup) else (error,)
        found |= {e.errno for e in members if isinstance(e, OSError) and e.errno is not None}
        error = error.__cause__ or error.__context__
    return found
