"""Cross-origin requests of browsers (Fetch standard, "CORS protocol"): one rule for every path."""

from collections.abc import Iterable
from typing import Final

from gateway.flow.call import Message, Scope, Send
from gateway.protocol.headers import Headers, first

_METHODS: Final = b"GET, HEAD, POST, OPTIONS"
_EXPOSED: Final = b"x-request-id, retry-after"
_MAX_AGE_S: Final = b"600"
_USUAL_HEADERS: Final = b"authorization, content-type, x-api-key, x-request-id"


class Cors:
    """Answers preflights before any key is asked for, and marks every answer, errors too."""

    __slots__ = ("_is_any", "_origins")

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origin.rstrip("/").encode("latin-1") for origin in origins)
        self._is_any = b"*" in self._origins

    def is_preflight(self, scope: Scope) -> bool:
        """Whether the request only asks if another one may be sent."""
        return (
            scope["method"] == "OPTIONS"
            and first(scope["headers"], b"access-control-request-method") is not None
            and first(scope["headers"], b"origin") is not None
        )

    async def answer_preflight(self, scope: Scope, send: Send) -> None:
        """Says what is allowed; an origin that is not gets no permission and no error."""
        headers: Headers = self._permission(scope)
        if headers:
            asked = first(scope["headers"], b"access-control-request-headers")
            headers += [
                (b"access-control-allow-methods", _METHODS),
                (b"access-control-allow-headers", asked or _USUAL_HEADERS),
                (b"access-control-max-age", _MAX_AGE_S),
            ]
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def wrap(self, scope: Scope, send: Send) -> Send:
        """`send` with the permission put into the head of the answer."""
        permission = self._permission(scope)
        if not permission:
            return send

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), *permission]
                headers.append((b"access-control-expose-headers", _EXPOSED))
                message = {**message, "headers": headers}
            await send(message)

        return marked

    def _permission(self, scope: Scope) -> Headers:
        origin = first(scope["headers"], b"origin")
        if origin is None:
            return []
        if self._is_any:
            return [(b"access-control-allow-origin", b"*")]
        if origin not in self._origins:
            return []
        return [(b"access-control-allow-origin", origin), (b"vary", b"Origin")]
