"""Which headers cross the gateway, both ways.

Hop-by-hop fields end here (RFC 9110 §7.6.1), credentials of clients never reach a backend, and
what the gateway's own server writes is not written twice.
"""

from collections.abc import Iterable
from typing import Final

Headers = list[tuple[bytes, bytes]]

_HOP_BY_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)

# host, length and type are written anew; expect is answered here; the coding is fixed to identity
# so that names can be rewritten; ids are made anew, since a repeated one can crash an engine.
_NOT_TO_BACKEND: Final = _HOP_BY_HOP | {
    b"host",
    b"content-length",
    b"content-type",
    b"expect",
    b"accept-encoding",
    b"authorization",
    b"x-api-key",
    b"api-key",
    b"cookie",
    b"x-request-id",
    b"origin",
    b"forwarded",
    b"via",
}

# Written by our own server (date, server, length), or telling of the backend rather than of the
# answer (its cookies, its address, its own CORS and key scheme).
_NOT_TO_CLIENT: Final = _HOP_BY_HOP | {
    b"date",
    b"server",
    b"content-length",
    b"x-request-id",
    b"set-cookie",
    b"location",
    b"www-authenticate",
    b"alt-svc",
    b"strict-transport-security",
    b"vary",
    b"via",
    b"x-accel-buffering",
    b"access-control-allow-origin",
    b"access-control-allow-credentials",
    b"access-control-allow-headers",
    b"access-control-allow-methods",
    b"access-control-expose-headers",
    b"access-control-max-age",
}

_SINGLE: Final = frozenset({b"content-type", b"cache-control", b"retry-after"})


def first(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """The first value of a header, or None; `name` in lower case."""
    for key, value in headers:
        if key == name:
            return value
    return None


def is_event_stream(headers: Headers) -> bool:
    """Whether an answer is a stream of server-sent events."""
    kind = first(headers, b"content-type")
    return kind is not None and kind.lstrip().lower().startswith(b"text/event-stream")


def to_backend(headers: Headers, request_id: bytes, api_key: bytes | None) -> Headers:
    """The client's headers as a backend may see them, with our request id and the backend's key."""
    named = _named_in_connection(headers)
    kept = [
        (name, value)
        for name, value in headers
        if name not in _NOT_TO_BACKEND and name not in named
    ]
    kept.append((b"accept-encoding", b"identity"))
    kept.append((b"x-request-id", request_id))
    if api_key is not None:
        kept.append((b"authorization", b"Bearer " + api_key))
    return kept


def to_client(headers: Headers, *, is_decoded: bool) -> Headers:
    """A backend's headers as a client may see them; single-valued ones once.

    `is_decoded` drops content-encoding, since the body no longer has it.
    """
    named = _named_in_connection(headers)
    kept: Headers = []
    seen: set[bytes] = set()
    for name, value in headers:
        if name in _NOT_TO_CLIENT or name in named:
            continue
        if is_decoded and name == b"content-encoding":
            continue
        if name in _SINGLE:
            if name in seen:
                continue
            seen.add(name)
        kept.append((name, value))
    return kept


def _named_in_connection(headers: Headers) -> frozenset[bytes]:
    value = first(headers, b"connection")
    if value is None or value in (b"keep-alive", b"close"):
        return frozenset()
    values = [v for k, v in headers if k == b"connection"]
    return frozenset(part.strip().lower() for v in values for part in v.split(b","))
