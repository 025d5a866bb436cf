"""One streamed answer as its events arrive: when tokens came, and whether it was whole."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

_DONE: Final = b"[DONE]"
_DATA: Final = b"data:"
_decode: Final = msgspec.json.Decoder().decode


class Answer:
    """Reads server-sent events and notes the times; times are whatever the caller's clock says."""

    __slots__ = ("_rest", "error", "finish", "first_at", "is_done", "last_at", "output_tokens")

    def __init__(self) -> None:
        self._rest = b""
        self.first_at: float | None = None
        """The first event with a choice: engines send none before the first token."""
        self.last_at: float | None = None
        """The event that ends the choice."""
        self.finish: str | None = None
        self.output_tokens: int | None = None
        """As the usage says."""
        self.is_done = False
        self.error: str | None = None

    def feed(self, data: bytes, now: float) -> None:
        """Read a piece of the body."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.startswith(_DATA):
                self._event(line[len(_DATA) :].strip(), now)

    def problem(self, expected_tokens: int) -> str | None:
        """What is wrong with the answer, None when it is whole."""
        if self.error is not None:
            return self.error
        if self.first_at is None or self.finish is None:
            return "the stream ended without a finish reason"
        if not self.is_done:
            return "the stream ended without [DONE]"
        if self.finish != "stop":
            return f"finish reason {self.finish}"
        if self.output_tokens != expected_tokens:
            return f"{self.output_tokens} tokens instead of {expected_tokens}"
        return None

    def _event(self, payload: bytes, now: float) -> None:
        if payload == _DONE:
            self.is_done = True
            return
        try:
            event = _decode(payload)
        except msgspec.DecodeError:
            self.error = f"an event is no JSON: {payload[:80]!r}"
            return
        if not isinstance(event, dict) or "error" in event:
            self.error = f"an error in the stream: {payload[:200].decode(errors='replace')}"
            return
        self._note(event, now)

    def _note(self, event: Mapping[str, Any], now: float) -> None:
        for choice in event.get("choices") or ():
            if self.first_at is None:
                self.first_at = now
            if choice.get("finish_reason"):
                self.finish = choice["finish_reason"]
                self.last_at = now
        usage = event.get("usage")
        if usage:
            self.output_tokens = usage.get("completion_tokens")
