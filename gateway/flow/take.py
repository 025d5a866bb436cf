"""Taking a request in: its body, and the name and facts in it."""

from typing import NamedTuple

from gateway.errors import ClientGone, Outcome, Refusal
from gateway.flow.body import refuse_coding, refuse_length, take_body, too_large
from gateway.flow.call import Call, Receive
from gateway.flow.payload import FormPayload, JsonPayload, Payload
from gateway.flow.spool import Spool
from gateway.protocol.headers import first
from gateway.protocol.multipart import MultipartModelScanner
from gateway.protocol.multipart_headers import boundary_of
from gateway.protocol.request import RequestFacts, read_json_request


class Taken(NamedTuple):
    """A request's body, ready to be sent, and what it says."""

    payload: Payload
    facts: RequestFacts
    size_bytes: int


async def take(call: Call, receive: Receive, max_bytes: int) -> Taken:
    """The request as a whole; raises `Refusal` for one that can't be read or is too large."""
    if call.endpoint.is_multipart:
        return await _take_form(call, receive, max_bytes)
    body = await take_body(receive, call.headers, max_bytes)
    facts = read_json_request(body)
    return Taken(JsonPayload(body, facts.model), facts, len(body))


async def _take_form(call: Call, receive: Receive, max_bytes: int) -> Taken:
    content_type = first(call.headers, b"content-type") or b""
    refuse_coding(call.headers)
    refuse_length(call.headers, max_bytes)
    scanner = MultipartModelScanner(boundary_of(content_type))
    spool = Spool()
    try:
        await _spool(receive, spool, scanner, max_bytes)
        scanner.finish()
        facts = RequestFacts(payload={}, model=scanner.model, is_stream=scanner.is_stream)
    except BaseException:
        spool.close()
        raise
    return Taken(FormPayload(spool, scanner, content_type), facts, spool.size_bytes)


async def _spool(
    receive: Receive, spool: Spool, scanner: MultipartModelScanner, max_bytes: int
) -> None:
    is_more = True
    while is_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone("the client closed its connection while sending its request")
        piece: bytes = message.get("body", b"")
        is_more = message.get("more_body", False)
        if spool.size_bytes + len(piece) > max_bytes:
            raise too_large(max_bytes, None)
        scanner.feed(piece)
        try:
            await spool.add(piece)
        except OSError as error:
            raise Refusal(
                Outcome.INTERNAL,
                f"The gateway could not keep the form while reading it: {error.strerror}. The "
                "disk of its temporary files may be full.",
            ) from error
