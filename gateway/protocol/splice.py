"""Fitting a second stream's events to a first one that broke, so that a client sees one stream.

The second stream may continue the text of the first, continue its tokens through another endpoint,
or say everything again, of which the part that was already sent is swallowed while it is equal.
"""

import json
from enum import StrEnum
from typing import Any, Final

from gateway.protocol.chunks import DONE_DATA, Protocol
from gateway.protocol.compact import compact_json
from gateway.protocol.sse import event_data
from gateway.protocol.transcript import Transcript
from gateway.protocol.usage import Usage, read_usage


class Way(StrEnum):
    """How a second stream takes up a first."""

    CONTINUE = "continue"
    """The engine is given the text so far and goes on with it."""
    EXACT = "exact"
    """The engine is given all token ids so far, as a completion."""
    REPLAY = "replay"
    """The engine starts again, and what it says must be what was already sent."""


class Mismatch(Exception):  # noqa: N818 - a finding, not an accident
    """A replayed answer differs from what the client has already seen."""


# Fields of a chunk that are the stream's and not the event's.
_OF_STREAM: Final = ("id", "object", "created", "model", "system_fingerprint", "service_tier")


class Splice:
    """Turns the events of the second stream into events of the first.

    It has the same `event` method as a `ModelRewriter`, so that a stream can be read through
    either. `sent_tokens` is how many tokens of the answer the client has; what the second stream
    adds goes into the transcript. `is_stripped` tells whether token ids were asked for by us and
    must not show.
    """

    __slots__ = (
        "_expected_content",
        "_expected_reasoning",
        "_is_chat",
        "_is_stripped",
        "_opening",
        "_sent_tokens",
        "_transcript",
        "_usage",
        "_way",
    )

    def __init__(
        self,
        way: Way,
        protocol: Protocol,
        transcript: Transcript,
        shown_name: str,
        *,
        sent_tokens: int,
        is_stripped: bool,
    ) -> None:
        self._way = way
        self._is_chat = protocol is Protocol.OPENAI_CHAT
        self._transcript = transcript
        opening = transcript.opening
        self._opening: dict[str, Any] = {n: opening[n] for n in _OF_STREAM if n in opening}
        self._opening["model"] = shown_name
        self._sent_tokens = sent_tokens
        self._is_stripped = is_stripped
        self._usage: Usage | None = None
        is_replay = way is Way.REPLAY
        self._expected_reasoning = transcript.reasoning if is_replay else ""
        self._expected_content = transcript.content if is_replay else ""

    def __repr__(self) -> str:
        return f"<Splice {self._way} after {self._sent_tokens} tokens>"

    @property
    def usage(self) -> Usage | None:
        """The counts of the whole answer, as the client was told them."""
        return self._usage

    @property
    def is_caught_up(self) -> bool:
        """Whether all that was already sent has been heard again."""
        return not self._expected_reasoning and not self._expected_content

    def event(self, event: bytes, protocol: Protocol) -> bytes:
        """What the client gets for one event; b"" for nothing. Raises `Mismatch`."""
        del protocol  # the client's is what counts
        data = event_data(event)
        if not data or data.isspace() or data.strip() == DONE_DATA:
            if data and not self.is_caught_up:
                raise Mismatch("the other backend's answer is shorter than what was sent")
            return event
        try:
            return self._fitted(json.loads(data))
        except (ValueError, TypeError, AttributeError) as error:
            raise Mismatch("the other backend's answer can't be read") from error

    def _fitted(self, chunk: dict[str, Any]) -> bytes:
        choices = chunk.get("choices") or []
        kept = [fitted for c in choices if (fitted := self._choice(c)) is not None]
        usage = self._fit_usage(chunk)
        if choices and not kept:
            return b""
        out: dict[str, Any] = {**chunk, **self._opening, "choices": kept}
        if "prompt_token_ids" in out and self._is_stripped:
            out["prompt_token_ids"] = None
        if usage is not None:
            out["usage"] = usage
        return b"data: " + compact_json(out) + b"\n\n"

    def _choice(self, choice: dict[str, Any]) -> dict[str, Any] | None:
        ids = choice.get("token_ids")
        if self._is_stripped:
            choice = {k: None if k.endswith("token_ids") else v for k, v in choice.items()}
        delta: dict[str, Any] = choice.get("delta") or {}
        name = "reasoning" if delta.get("reasoning") else "reasoning_content"
        reasoning, content = delta.get(name) or "", delta.get("content") or choice.get("text") or ""
        left_reasoning = self._unheard(reasoning, "_expected_reasoning")
        if content and self._expected_reasoning:
            raise Mismatch("the other backend's answer has less reasoning")
        left_content = self._unheard(content, "_expected_content")
        is_end = choice.get("finish_reason") is not None
        if delta.get("tool_calls"):
            if not self.is_caught_up:
                raise Mismatch("the other backend calls a tool where text was sent")
            self._transcript.has_tool_call = True
        if is_end and not self.is_caught_up:
            raise Mismatch("the other backend's answer is shorter than what was sent")
        if left_content or left_reasoning:
            self._transcript.add(left_content, left_reasoning)
            is_whole = (left_content, left_reasoning) == (content, reasoning)
            self._transcript.add_ids(ids if is_whole else None)
        elif not is_end and not delta.get("tool_calls"):
            if self.is_caught_up and "role" not in delta:
                self._transcript.add_silent()
                self._transcript.add_ids(ids, is_silent=True)
            return None
        return self._shaped(choice, delta, {name: left_reasoning, "content": left_content})

    def _shaped(
        self, choice: dict[str, Any], delta: dict[str, Any], left: dict[str, str]
    ) -> dict[str, Any]:
        if not self._is_chat:
            return {**choice, "text": left["content"]}
        told = {k: v for k, v in delta.items() if k not in (*left, "role")}
        told |= {k: v for k, v in left.items() if v}
        if not told:
            told["content"] = ""
        kept = {k: v for k, v in choice.items() if k in _OF_CHAT_CHOICE}
        return {"index": 0, "delta": told, **kept}

    def _unheard(self, text: str, field: str) -> str:
        """The part of `text` that the client has not seen yet."""
        expected: str = getattr(self, field)
        if not expected or not text:
            return text
        known = min(len(expected), len(text))
        if text[:known] != expected[:known]:
            raise Mismatch("the other backend's answer differs from what was sent")
        setattr(self, field, expected[known:])
        return text[known:]

    def _fit_usage(self, chunk: dict[str, Any]) -> dict[str, Any] | None:
        given = chunk.get("usage")
        if not isinstance(given, dict):
            return None
        fitted = dict(given)
        if self._way is not Way.REPLAY:
            prompt, made = given.get("prompt_tokens"), given.get("completion_tokens")
            if isinstance(prompt, int):
                fitted["prompt_tokens"] = max(0, prompt - self._sent_tokens)
            if isinstance(made, int):
                fitted["completion_tokens"] = made + self._sent_tokens
            counts = (fitted.get("prompt_tokens"), fitted.get("completion_tokens"))
            if "total_tokens" in given:
                fitted["total_tokens"] = sum(c for c in counts if isinstance(c, int))
        self._usage = read_usage(json.dumps(fitted).encode()) or self._usage
        return fitted


_OF_CHAT_CHOICE: Final = frozenset(
    {"index", "logprobs", "finish_reason", "stop_reason", "token_ids"}
)
