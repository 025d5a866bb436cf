"""What a decoded request asks for: how much text in, how much out, how many answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

# More than any engine gives; numbers of clients can be of any size.
_MOST_CHOICES: Final = 65536
# In the order in which vLLM prefers them for chat; a request has one of them as a rule.
_LIMIT_FIELDS: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens")
# Fields that hold plain text, token ids, or lists of either.
_PLAIN_FIELDS: Final = (
    "prompt",
    "input",
    "instructions",
    "system",
    "query",
    "documents",
    "text_1",
    "text_2",
    "queries",
    "items",
)


@dataclass(frozen=True, slots=True)
class PromptSize:
    """The size of a prompt: `chars` of text, and `token_ids` that came as numbers (exact)."""

    chars: int
    token_ids: int


def max_output_tokens(payload: dict[str, Any]) -> int | None:
    """The most tokens that the client wants per answer; None if it sets no usable limit."""
    for name in _LIMIT_FIELDS:
        value = payload.get(name)
        if type(value) is int and value >= 0:
            return value
    return None


def choices_asked(payload: dict[str, Any]) -> int:
    """How many choices a complete answer has: `n` for each prompt of a batch; at least 1."""
    n = payload.get("n")
    per_prompt = min(n, _MOST_CHOICES) if type(n) is int and n > 0 else 1
    prompt = payload.get("prompt")
    if type(prompt) is list and prompt and type(prompt[0]) is not int:
        return per_prompt * len(prompt)
    return per_prompt


def user_of(payload: dict[str, Any]) -> str | None:
    """The `user` field, if it is a string that is not empty."""
    return _text_or_none(payload.get("user"))


def previous_response_id(payload: dict[str, Any]) -> str | None:
    """The stored response that this request continues (Responses API), or None."""
    return _text_or_none(payload.get("previous_response_id"))


def prompt_size(payload: dict[str, Any]) -> PromptSize:
    """A cheap measure of the prompt; pictures and sound count nothing.

    Text in messages, prompts, inputs, instructions, documents and tool definitions is counted in
    characters; how many tokens they make is for the caller to estimate.
    """
    chars = 0
    token_ids = 0
    for name in _PLAIN_FIELDS:
        value = payload.get(name)
        if value is None:
            continue
        if type(value) is str:
            chars += len(value)
        elif type(value) is list:
            more_chars, more_ids = _list_size(value)
            chars += more_chars
            token_ids += more_ids
    messages = payload.get("messages")
    if type(messages) is list:
        chars += sum(_message_chars(message) for message in messages)
    tools = payload.get("tools")
    if type(tools) is list:
        chars += _all_text(tools)
    return PromptSize(chars=chars, token_ids=token_ids)


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _list_size(values: list[Any]) -> tuple[int, int]:
    """Characters and token ids of a list of texts, ids, lists of ids, or messages and parts."""
    chars = 0
    token_ids = 0
    for value in values:
        kind = type(value)
        if kind is int:
            token_ids += 1
        elif kind is str:
            chars += len(value)
        elif kind is list:
            token_ids += sum(type(one) is int for one in value)
            chars += sum(len(one) for one in value if type(one) is str)
        elif kind is dict:
            chars += _message_chars(value)
    return chars, token_ids


def _message_chars(message: Any) -> int:
    """Characters of one message, or of one part of a message."""
    if type(message) is not dict:
        return len(message) if type(message) is str else 0
    chars = 0
    content = message.get("content")
    if type(content) is str:
        chars += len(content)
    elif type(content) is list:
        chars += sum(_part_chars(part) for part in content)
    for name in ("text", "reasoning", "reasoning_content", "arguments", "output"):
        value = message.get(name)
        if type(value) is str:
            chars += len(value)
    calls = message.get("tool_calls")
    if type(calls) is list:
        chars += _all_text(calls)
    return chars


def _part_chars(part: Any) -> int:
    if type(part) is str:
        return len(part)
    if type(part) is not dict:
        return 0
    text = part.get("text")
    if type(text) is str:
        return len(text)
    # Anthropic's tool_result parts hold a text or parts of their own.
    inner = part.get("content")
    if type(inner) is str:
        return len(inner)
    if type(inner) is list:
        return sum(len(one["text"]) for one in inner if _has_text(one))
    return 0


def _has_text(part: Any) -> bool:
    return type(part) is dict and type(part.get("text")) is str


def _all_text(root: Iterable[Any]) -> int:
    """Characters of all keys and strings below `root`."""
    chars = 0
    pending = list(root)
    while pending:
        value = pending.pop()
        if type(value) is str:
            chars += len(value)
        elif type(value) is dict:
            chars += sum(map(len, value))
            pending.extend(value.values())
        elif type(value) is list:
            pending.extend(value)
    return chars
