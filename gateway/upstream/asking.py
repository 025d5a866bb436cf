"""Short questions to a server that may be anything: bounded in time and size, never an exception.

A question ends in the answer, or in a `Trouble` that says what happened instead.
"""

import errno
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx

from gateway.errors import ResponseMalformed
from gateway.fleet.account import Trouble, TroubleKind
from gateway.fleet.shown import shown
from gateway.protocol.coding import decoder_for
from gateway.words import Words

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
"""A real /metrics is 60 KB, /server_info with its environment below 500 KB."""

FAILURES: Final = (OSError, httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ResponseMalformed)
"""All that a question can fail with; a TimeoutError is an OSError."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; `body` is None where it was too long or its coding is not known."""

    status: int
    body: bytes | None
    location: str = ""

    @property
    def text(self) -> str:
        """The body as text, whatever its bytes are."""
        return (self.body or b"").decode("utf-8", "replace")

    def json(self) -> Any:
        """The decoded body of a 200; None for anything else, and for what is no JSON."""
        if self.status != 200 or self.body is None:
            return None
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


class Asker:
    """Asks one server; every question keeps to `limit_s` seconds for each read.

    The proxy variables of the environment are not read. Use it as an asynchronous context.
    """

    def __init__(
        self,
        base_url: str,
        api_key: bytes | None,
        context: ssl.SSLContext | None,
        server_name: str | None,
        limit_s: float,
    ) -> None:
        headers = {"user-agent": "ascend-gateway inquiry"}
        if api_key:
            headers["authorization"] = f"Bearer {api_key.decode('latin-1')}"
        is_https = base_url.startswith("https:")
        self._client = httpx.AsyncClient(
            base_url=base_url + "/",
            headers=headers,
            # Loading the authorities takes time, and http needs none.
            verify=context if context is not None else is_https,
            timeout=limit_s,
            trust_env=False,
            follow_redirects=False,
        )
        self._extensions = {"sni_hostname": server_name} if server_name else {}

    def __repr__(self) -> str:
        return f"<Asker {self._client.base_url}>"

    async def __aenter__(self) -> "Asker":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def get(self, path: str) -> Answer:
        """One GET; raises one of `FAILURES`."""
        async with self.stream("GET", path) as response:
            body = await _whole(response)
            location = response.headers.get("location", "")
            return Answer(response.status_code, body, location)

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, body: object = None
    ) -> AsyncIterator[httpx.Response]:
        """An answer to be read piece by piece; raises one of `FAILURES`."""
        async with self._client.stream(
            method,
            path,
            json=body,
            headers={"accept-encoding": "identity"},
            extensions=self._extensions,
        ) as response:
            yield response


async def _whole(response: httpx.Response) -> bytes | None:
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    # The client would unpack each piece at once, however large that makes it.
    decoder = decoder_for(coding.encode("latin-1", "replace"), MAX_ANSWER_BYTES)
    if decoder is None and coding not in ("", "identity"):
        return None
    pieces, size_bytes = [], 0
    async for piece in response.aiter_raw():
        size_bytes += len(piece)
        if size_bytes > MAX_ANSWER_BYTES:
            return None
        pieces.append(piece if decoder is None else decoder.feed(piece))
    if decoder is not None:
        decoder.finish()
    return b"".join(pieces)


def trouble_of(error: Exception, limit_s: float) -> Trouble:
    """What one of `FAILURES` says of the server."""
    chain = list(_chain(error))
    if isinstance(error, (TimeoutError, httpx.TimeoutException)):
        return Trouble(
            TroubleKind.TIMEOUT,
            Words(f"it did not answer within {limit_s:g} s", f"{limit_s:g} 秒内没有应答"),
        )
    secure = next((one for one in chain if isinstance(one, ssl.SSLError)), None)
    if secure is not None:
        return _insecure(secure)
    if any(isinstance(one, OSError) and one.errno == errno.ECONNREFUSED for one in chain):
        return Trouble(
            TroubleKind.REFUSED,
            Words(
                "it refuses connections: nothing listens there",
                "连接被拒绝：该地址没有服务在监听",
            ),
        )
    detail = shown(str(error)) or type(error).__name__
    if isinstance(error, httpx.ConnectError):
        return Trouble(
            TroubleKind.UNREACHABLE,
            Words(f"it can't be reached: {detail}", f"无法连接：{detail}"),
        )
    return Trouble(
        TroubleKind.UNREACHABLE,
        Words(f"its answer can't be read: {detail}", f"应答无法读取：{detail}"),
    )


def _insecure(error: ssl.SSLError) -> Trouble:
    if isinstance(error, ssl.SSLCertVerificationError):
        detail = shown(error.verify_message or str(error))
        return Trouble(
            TroubleKind.TLS,
            Words(
                f"its certificate is not trusted: {detail}",
                f"证书不受信任：{detail}",
            ),
        )
    detail = shown(error.reason or str(error))
    return Trouble(
        TroubleKind.TLS,
        Words(
            f"TLS fails ({detail}); perhaps it speaks http",
            f"TLS 握手失败（{detail}）；该端口可能只支持 http",
        ),
    )


def _chain(error: BaseException | None) -> list[BaseException]:
    """The error and all that it came from."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        if isinstance(error, BaseExceptionGroup):
            found += error.exceptions
        error = error.__cause__ or error.__context__
    return found
