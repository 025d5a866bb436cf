"""The attempt that goes on with a broken stream: its request, and how its events are fitted in."""

from typing import Any, Final

import msgspec

from gateway.errors import UpstreamFault
from gateway.flow.attempt import Target
from gateway.flow.call import Call
from gateway.flow.course import Resumption
from gateway.flow.slot import Slot
from gateway.protocol.chunks import Protocol
from gateway.protocol.compact import compact_json
from gateway.protocol.demand import max_output_tokens
from gateway.protocol.endpoints import BY_PATH
from gateway.protocol.splice import Splice, Way
from gateway.recovery.resume import request_for
from gateway.upstream.pool import PhaseLimits

_TOKENIZE: Final = b"/tokenize"
# Counting needs no engine; without the count, the events are counted.
_SHORT: Final = PhaseLimits(connect_s=2.0, first_byte_s=5.0, between_s=5.0, total_s=5.0)
_MAX_TOKENIZED_BYTES: Final = 64 * 1024 * 1024


async def continuing(call: Call, resumption: Resumption, slot: Slot, target: Target) -> Target:
    """`target`, asked for the rest of the answer instead of the whole."""
    payload = call.payload or {}
    way, transcript = resumption.way, resumption.transcript
    protocol = call.endpoint.protocol
    sent_tokens = await _sent_tokens(payload, resumption, target)
    request = request_for(
        way, payload, protocol, transcript, sent_tokens, slot.backend.max_model_len
    )
    request["model"] = target.served_name
    splice = Splice(
        way,
        protocol,
        transcript,
        target.shown_name,
        sent_tokens=sent_tokens,
        is_stripped=not call.asks_for_ids,
    )
    is_other_path = way is Way.EXACT and protocol is Protocol.OPENAI_CHAT
    return target._replace(
        path=BY_PATH["/v1/completions"].target if is_other_path else target.path,
        protocol=Protocol.OPENAI_COMPLETIONS if is_other_path else protocol,
        body=compact_json(request),
        shape=splice,
        transcript=None,
    )


async def _sent_tokens(payload: dict[str, Any], resumption: Resumption, target: Target) -> int:
    """How many tokens of the answer the client has; counted by the engine where only it can."""
    transcript = resumption.transcript
    if resumption.way is Way.REPLAY:
        return 0
    if transcript.token_ids:
        return len(transcript.token_ids)
    options = payload.get("stream_options")
    is_counted = isinstance(options, dict) and bool(options.get("include_usage"))
    if max_output_tokens(payload) is None and not is_counted and not payload.get("min_tokens"):
        return transcript.said_total + transcript.silent_total
    text = transcript.reasoning + transcript.content
    count = await _tokenized(target, text)
    # Events may bring several tokens, and tokens may have no text: each count can only miss some.
    return max(count or 0, transcript.said_total + transcript.silent_total)


async def _tokenized(target: Target, text: str) -> int | None:
    """How many tokens `text` has there; None if the engine does not say."""
    body = compact_json({"model": target.served_name, "prompt": text, "add_special_tokens": False})
    try:
        exchange = await target.pool.send(b"POST", _TOKENIZE, target.headers, body, _SHORT)
        async with exchange:
            answer = await exchange.read_all(_MAX_TOKENIZED_BYTES)
    except UpstreamFault:
        return None
    if exchange.status != 200:
        return None
    try:
        return msgspec.json.decode(answer, type=_Count).count
    except msgspec.DecodeError:
        return None


class _Count(msgspec.Struct):
    count: int
