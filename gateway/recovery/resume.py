"""May a stream that broke be continued elsewhere, in which ways, and with which requests."""

from typing import Any, Final

from gateway.config.vocabulary import Resume
from gateway.protocol.chunks import Protocol
from gateway.protocol.demand import max_output_tokens
from gateway.protocol.request import is_true
from gateway.protocol.splice import Way
from gateway.protocol.transcript import Transcript

# What makes an answer more than a text that can be cut anywhere and gone on with.
_STRUCTURED: Final = (
    "structured_outputs",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
    "guided_decoding_backend",
    "structural_tag",
)


def why_not(payload: dict[str, Any], protocol: Protocol, mode: Resume) -> str | None:
    """Why streams of this request can't be continued, whatever they say; None if they can."""
    if mode is Resume.OFF:
        return "resume is off for this model"
    if protocol not in (Protocol.OPENAI_CHAT, Protocol.OPENAI_COMPLETIONS):
        return "only chat and completions can be continued"
    n, prompt = payload.get("n"), payload.get("prompt")
    if n not in (None, 1) or is_true(payload.get("use_beam_search")):
        return "the request asks for several answers"
    if isinstance(prompt, list) and prompt and not all(type(one) is int for one in prompt):
        return "the request has several prompts"
    response_format = payload.get("response_format")
    kind = response_format.get("type") if isinstance(response_format, dict) else None
    if kind not in (None, "text") or any(payload.get(name) for name in _STRUCTURED):
        return "the answer is structured output"
    if payload.get("logprobs") not in (None, False) or payload.get("prompt_logprobs") is not None:
        return "the request asks for logprobs"
    if is_true(payload.get("echo")) or payload.get("suffix"):
        return "the answer holds the prompt"
    if payload.get("tool_choice") not in (None, "none", "auto"):
        return "the answer is a tool call"
    return None


def ways(
    payload: dict[str, Any], protocol: Protocol, mode: Resume, transcript: Transcript
) -> tuple[Way, ...]:
    """The ways to continue a stream that has said `transcript`, the best first; may be empty."""
    if transcript.has_tool_call or not transcript.is_readable or transcript.has_finished:
        return ()
    if transcript.is_empty:
        # The client has a role at most: everything can simply be said again.
        return (Way.REPLAY,)
    found: list[Way] = []
    is_chat = protocol is Protocol.OPENAI_CHAT
    is_thinking = bool(transcript.reasoning) and not transcript.content
    has_ids = bool(transcript.prompt_token_ids) and bool(transcript.token_ids)
    if mode is Resume.EXACT and has_ids and not is_thinking and _is_all_in_ids(payload):
        found.append(Way.EXACT)
    may_continue = bool(transcript.content) and (is_chat or isinstance(payload.get("prompt"), str))
    text_ways = [Way.CONTINUE, Way.REPLAY] if may_continue else [Way.REPLAY]
    if transcript.reasoning or payload.get("stop"):
        # A template may drop the reasoning. With stop strings engines hold text back by the
        # letter, so what was sent may end inside a token. Saying it all again comes first.
        text_ways.reverse()
    return (*found, *text_ways)


def request_for(
    way: Way,
    payload: dict[str, Any],
    protocol: Protocol,
    transcript: Transcript,
    sent_tokens: int,
    context_tokens: int | None = None,
) -> dict[str, Any]:
    """The request that goes on from `transcript`, of which the client has `sent_tokens` tokens.

    `context_tokens` is the other backend's context, where it is known.
    """
    if way is Way.REPLAY:
        return dict(payload)
    is_chat = protocol is Protocol.OPENAI_CHAT
    if not is_chat and max_output_tokens(payload) is None:
        payload = {**payload, "max_tokens": _USUAL_COMPLETION}
    request = _with_less(payload, sent_tokens)
    if way is Way.EXACT:
        request["prompt"] = [*(transcript.prompt_token_ids or ()), *(transcript.token_ids or ())]
        request["return_token_ids"] = True
        request["add_special_tokens"] = False
        if is_chat:
            request = {k: v for k, v in request.items() if k not in _CHAT_ONLY}
            limit = max_output_tokens(payload)
            # A completion stops after 16 tokens unless it is told otherwise, a chat does not.
            room = (context_tokens or _USUAL_CONTEXT) - len(request["prompt"])
            request["max_tokens"] = max(1, room if limit is None else limit - sent_tokens)
    elif is_chat:
        request["messages"] = _open_messages(payload, transcript)
        request["continue_final_message"] = True
        request["add_generation_prompt"] = False
    else:
        request["prompt"] = payload["prompt"] + transcript.content
    return request


def _is_all_in_ids(payload: dict[str, Any]) -> bool:
    """Whether token ids say all that the engine goes on from.

    Pictures are not in them. Engines hold back text that may begin a stop string, so with one the
    ids run ahead of the text.
    """
    if payload.get("tools") or payload.get("stop"):
        return False
    contents = [m.get("content") for m in payload.get("messages") or () if isinstance(m, dict)]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return all(isinstance(part, dict) and part.get("type") == "text" for part in parts)


def _joined(before: object, said: str) -> object:
    """The client's own open text, as text or as parts, and what was said after it."""
    if isinstance(before, list):
        return [*before, {"type": "text", "text": said}]
    return (before if isinstance(before, str) else "") + said


def _with_less(payload: dict[str, Any], sent_tokens: int) -> dict[str, Any]:
    request = dict(payload)
    for name in ("max_completion_tokens", "max_tokens"):
        limit = request.get(name)
        if type(limit) is int:
            request[name] = max(1, limit - sent_tokens)
    least = request.get("min_tokens")
    if type(least) is int:
        request["min_tokens"] = max(0, least - sent_tokens)
    return request


def _open_messages(payload: dict[str, Any], transcript: Transcript) -> list[Any]:
    messages = list(payload.get("messages") or ())
    said: dict[str, Any] = {"role": "assistant", "content": transcript.content}
    if transcript.reasoning:
        said[transcript.reasoning_field] = transcript.reasoning
    if is_true(payload.get("continue_final_message")) and messages:
        last = dict(messages.pop())
        said = {**last, "content": _joined(last.get("content"), transcript.content)}
    return [*messages, said]


# Where neither the engine nor the routing file told it.
_USUAL_CONTEXT: Final = 4096
# Tokens of a completion that sets no limit (OpenAI API reference, and vLLM likewise).
_USUAL_COMPLETION: Final = 16
_CHAT_ONLY: Final = frozenset(
    {
        "messages",
        "max_completion_tokens",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "continue_final_message",
        "add_generation_prompt",
        "chat_template",
        "chat_template_kwargs",
        "documents",
        "reasoning_effort",
        "include_reasoning",
        "response_format",
        "logprobs",
        "top_logprobs",
        "modalities",
        "echo",
    }
)
