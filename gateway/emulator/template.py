"""The chat template: messages become one prompt text (ChatML, as the Qwen models use it)."""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.emulator.jsontext import dumps
from gateway.emulator.refusals import Refused, bad_request


def content_text(content: Any, model: str) -> str:
    """The text of a message's content, a string or a list of parts.

    Raises Refused for images and the like, with vLLM's words for a text model.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
            continue
        kind = part.get("type", "text") if isinstance(part, Mapping) else "unknown"
        if kind in ("text", "input_text", "output_text"):
            texts.append(str(part.get("text", "")))
        elif kind in ("refusal", "thinking"):
            texts.append(str(part.get(kind, "")))
        else:
            raise bad_request(f"{model} is not a multimodal model")
    return "\n".join(texts)


def render(
    messages: Sequence[Mapping[str, Any]],
    *,
    model: str,
    tools: Sequence[Any] | None = None,
    add_generation_prompt: bool = True,
    continue_final_message: bool = False,
    thinking: bool = False,
) -> str:
    """The prompt of a conversation.

    With `continue_final_message` the last message stays open, so that its tokens are the ones
    that an uninterrupted answer had at that point. `thinking` opens a think block.
    """
    parts: list[str] = []
    if tools:
        parts.append(f"<|im_start|>system\n# Tools\n{dumps(list(tools))}<|im_end|>\n")
    last = len(messages) - 1
    for index, message in enumerate(messages):
        text = _body(message, model, thinking=thinking and index == last)
        parts.append(f"<|im_start|>{message.get('role', 'user')}\n{text}")
        if not (continue_final_message and index == last):
            parts.append("<|im_end|>\n")
    if add_generation_prompt and not continue_final_message:
        parts.append("<|im_start|>assistant\n")
        if thinking:
            parts.append("<think>")
    return "".join(parts)


def open_text(messages: Sequence[Mapping[str, Any]], model: str) -> str:
    """The text of the last message, which a continuation goes on from."""
    return content_text(messages[-1].get("content"), model) if messages else ""


def check_messages(messages: Any) -> list[Mapping[str, Any]]:
    """The messages as mappings; Refused when there are none."""
    if not messages:
        raise bad_request(
            "Cannot apply chat template to an empty conversation. Provide at least one message."
        )
    return list(messages)


def _body(message: Mapping[str, Any], model: str, *, thinking: bool) -> str:
    text = content_text(message.get("content"), model)
    reasoning = message.get("reasoning") or message.get("reasoning_content")
    if isinstance(reasoning, str) and thinking:
        text = f"<think>{reasoning}</think>{text}" if text else f"<think>{reasoning}"
    calls = message.get("tool_calls")
    if calls:
        text += f"<tool_call>{dumps(calls)}</tool_call>"
    return text


__all__ = ["Refused", "check_messages", "content_text", "open_text", "render"]
