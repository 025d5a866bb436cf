"""Taking token ids out of events that a client did not ask them for, all other bytes untouched."""

import json
import re
from typing import Final

from gateway.protocol.chunks import Protocol
from gateway.protocol.rewrite import ModelRewriter

_IDS: Final = re.compile(rb'"((?:prompt_)?token_ids)":\[[0-9,\s]*\]')


class IdStripper:
    """A `ModelRewriter` that also sets `token_ids` and `prompt_token_ids` to null, which is what
    they are in the events of an engine that was not asked for them (vLLM 0.32)."""

    __slots__ = ("_rewriter",)

    def __init__(self, rewriter: ModelRewriter) -> None:
        self._rewriter = rewriter

    def __repr__(self) -> str:
        return f"IdStripper({self._rewriter!r})"

    def event(self, event: bytes, protocol: Protocol) -> bytes:
        """One event without token ids, under the name that the client knows."""
        return self._rewriter.event(strip_ids(event), protocol)


def strip_ids(event: bytes) -> bytes:
    """The event without token ids. Text of an answer can't hold the pattern: its quotes are
    escaped there."""
    if b"token_ids" not in event:
        return event
    return _IDS.sub(rb'"\1":null', event)


def asking_for_ids(body: bytes) -> bytes:
    """A request that also asks the engine for token ids (`return_token_ids`, vLLM 0.11+)."""
    brace = body.index(b"{") + 1
    is_empty = json.loads(body) == {}
    return body[:brace] + b'"return_token_ids":true' + (b"" if is_empty else b",") + body[brace:]
