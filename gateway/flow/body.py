"""Taking the request's body in, within its bound."""

from gateway.errors import ClientGone, Outcome, Refusal
from gateway.flow.call import Receive
from gateway.protocol.headers import Headers, first


def refuse_coding(headers: Headers) -> None:
    """Raises `Refusal` for a body with a content coding: engines do not take any either."""
    coding = first(headers, b"content-encoding")
    if coding is not None and coding.strip().lower() not in (b"", b"identity"):
        raise Refusal(
            Outcome.MEDIA_TYPE_UNSUPPORTED,
            f"The body is sent with Content-Encoding {coding.decode('latin-1')!r}, which is not "
            "taken here. Send it without compression.",
        )


def refuse_length(headers: Headers, max_bytes: int) -> None:
    """Raises `Refusal` if the announced length is over the bound, before a byte is read."""
    length = first(headers, b"content-length")
    if length is not None and length.isdigit() and int(length) > max_bytes:
        raise too_large(max_bytes, int(length))


def too_large(max_bytes: int, size_bytes: int | None) -> Refusal:
    """The refusal of a body over the bound, with both figures."""
    size = "more" if size_bytes is None else f"{size_bytes} bytes"
    return Refusal(
        Outcome.BODY_TOO_LARGE,
        f"The request body is too large: the limit is {max_bytes} bytes, it has {size}. Send a "
        "smaller one, or raise the gateway's max_body_bytes.",
    )


async def take_body(receive: Receive, headers: Headers, max_bytes: int) -> bytes:
    """The whole body; raises `Refusal` over the bound and `ClientGone` if it never comes."""
    refuse_coding(headers)
    refuse_length(headers, max_bytes)
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        # Nearly every request comes in one piece.
        body: bytes = message.get("body", b"")
        if len(body) > max_bytes:
            raise too_large(max_bytes, len(body))
        return body
    pieces: list[bytes] = []
    size_bytes = 0
    while True:
        if message["type"] == "http.disconnect":
            raise ClientGone("the client closed its connection while sending its request")
        piece: bytes = message.get("body", b"")
        size_bytes += len(piece)
        if size_bytes > max_bytes:
            raise too_large(max_bytes, None)
        pieces.append(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)
        message = await receive()
