"""What a stream has told its client so far, so that another backend can go on from there."""

import json
from typing import Any, Final

from gateway.protocol.chunk_shapes import TalkChoice, TalkChunk, is_set

# Pieces are joined now and then: a long list of short strings costs ten times their text.
_JOIN_EVERY: Final = 256
MAX_CHARS: Final = 4 * 1024 * 1024
"""An answer longer than this is not kept, and its stream not resumed."""


class Transcript:
    """The text, reasoning and token ids of one choice.

    `is_readable` is false once an event came whose parts are not all known. `said_total` counts
    the events that brought text: at least one token each. `silent_total` counts those that brought
    none and stood before text: a part of a character, or a token that is not shown.
    """

    __slots__ = (
        "_chars",
        "_content",
        "_opening",
        "_pending_silent",
        "_reasoning",
        "_shown_ids",
        "_token_ids",
        "has_finished",
        "has_tool_call",
        "is_readable",
        "prompt_token_ids",
        "reasoning_field",
        "said_total",
        "silent_total",
    )

    def __init__(self) -> None:
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._chars = 0
        self._opening: bytes | None = None
        self.has_finished = False
        self.has_tool_call = False
        self.is_readable = True
        self.prompt_token_ids: list[int] | None = None
        self.reasoning_field = "reasoning"
        self.said_total = 0
        self.silent_total = 0
        self._pending_silent = 0
        self._token_ids: list[int] | None = []
        self._shown_ids = 0

    def __repr__(self) -> str:
        return (
            f"<Transcript {len(self.reasoning)} + {len(self.content)} characters in "
            f"{self.said_total} events>"
        )

    @property
    def content(self) -> str:
        """The answer's text so far."""
        return "".join(self._content)

    @property
    def reasoning(self) -> str:
        """The text before the answer that a reasoning parser set apart."""
        return "".join(self._reasoning)

    @property
    def opening(self) -> dict[str, Any]:
        """The first event: its id, time and model are those of the whole stream."""
        fields = json.loads(self._opening) if self._opening is not None else {}
        return dict(fields) if isinstance(fields, dict) else {}

    def forget_unsaid(self) -> None:
        """The stream broke: tokens after the last text are made anew."""
        self._pending_silent = 0

    @property
    def is_empty(self) -> bool:
        """Whether the client has not seen any of the answer yet."""
        return self.said_total == 0

    def take(self, chunk: TalkChunk | None, data: bytes) -> None:
        """Notes one event that the client gets; None for one that was not understood."""
        if chunk is None:
            self.is_readable = False
            return
        if self._opening is None:
            self._opening = data
        if chunk.prompt_token_ids:
            self.prompt_token_ids = chunk.prompt_token_ids
        for choice in chunk.choices or ():
            self._take_choice(choice)

    def add(self, content: str = "", reasoning: str = "") -> None:
        """Notes text that a continuation brought; its token ids are not known."""
        self._say(self._content, content)
        self._say(self._reasoning, reasoning)
        self.said_total += 1
        self.silent_total += self._pending_silent
        self._pending_silent = 0

    @property
    def token_ids(self) -> list[int] | None:
        """The tokens of all the text; None if they are not all known.

        Tokens after it, which have not become text yet, are left out: a character may be several
        tokens long, and an engine that is given half of one does not tell the other half.
        """
        return None if self._token_ids is None else self._token_ids[: self._shown_ids]

    def add_ids(self, ids: list[int] | None, *, is_silent: bool = False) -> None:
        """Notes the tokens of the last text; without them the whole is no longer exact."""
        if ids is None or self._token_ids is None:
            self._token_ids = None
            return
        self._token_ids += ids
        if not is_silent:
            self._shown_ids = len(self._token_ids)

    def add_silent(self) -> None:
        """Notes a token without text; it counts once text follows it."""
        self._pending_silent += 1

    def _take_choice(self, choice: TalkChoice) -> None:
        if choice.index != 0:
            self.is_readable = False
            return
        if choice.finish_reason is not None:
            self.has_finished = True
        if choice.prompt_token_ids:
            self.prompt_token_ids = choice.prompt_token_ids
        delta = choice.delta
        content, reasoning = choice.text or "", ""
        if delta is not None:
            content = delta.content or content
            reasoning = delta.reasoning or delta.reasoning_content or ""
            if delta.reasoning_content and not delta.reasoning:
                self.reasoning_field = "reasoning_content"
            if is_set(delta.tool_calls) and bytes(delta.tool_calls) != b"[]":
                self.has_tool_call = True
        if content or reasoning:
            self.add(content, reasoning)
        elif (delta is None or delta.role is None) and choice.finish_reason is None:
            self.add_silent()
        if choice.token_ids is not None:
            self.add_ids(choice.token_ids, is_silent=not (content or reasoning))
        elif content or reasoning:
            self.add_ids(None)

    def _say(self, parts: list[str], text: str) -> None:
        if not text or not self.is_readable:
            return
        parts.append(text)
        self._chars += len(text)
        if len(parts) >= _JOIN_EVERY:
            parts[:] = ["".join(parts)]
        if self._chars > MAX_CHARS:
            self.is_readable = False
            self._content.clear()
            self._reasoning.clear()
