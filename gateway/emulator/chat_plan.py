"""Checking a chat request, in the engine's words and order."""

import time
from dataclasses import dataclass
from typing import Any

from gateway.emulator import fields, generating, structured, template, tokens
from gateway.emulator.call import Call
from gateway.emulator.faults import FaultKind
from gateway.emulator.generating import StreamOptions
from gateway.emulator.generation import Limits
from gateway.emulator.lengths import marked
from gateway.emulator.refusals import bad_request, missing


@dataclass(frozen=True, slots=True)
class ChatPlan:
    """A checked chat request."""

    id: str
    model: str
    created: int
    prompt: list[int]
    rules: Limits
    n: int
    options: StreamOptions
    logprobs: int | None
    """Number of top logprobs, None when none are wanted."""
    token_ids: bool
    tool: structured.ToolCall | None
    script: list[int] | None
    thinking: bool


def plan_chat(call: Call, body: fields.Body) -> ChatPlan:
    """Check a body; Refused in the engine's words and order."""
    fields.string(body, "model")
    if "messages" not in body:
        raise missing("body.messages", body)
    messages = fields.items(body, "messages")
    fields.check_sampling(body)
    model = call.model(body)
    generating.check_data_parallel_rank(call)
    messages = list(template.check_messages(messages))
    spec = call.server.spec
    max_tokens = fields.integer(body, "max_completion_tokens")
    if max_tokens is None:
        max_tokens = fields.integer(body, "max_tokens")
    fields.check_max_tokens(max_tokens, spec.max_model_len)
    keep_open = fields.flag(body, "continue_final_message")
    generate = fields.flag(body, "add_generation_prompt", default=True)
    if keep_open and generate:
        text = "Cannot set both `continue_final_message` and `add_generation_prompt` to True."
        raise bad_request(text)
    _check_prefill(call, messages)
    wanted = structured.response_json(body.get("response_format"))
    tools = fields.items(body, "tools")
    switches = generating.as_mapping(body.get("chat_template_kwargs"))
    thinking = spec.reasoning_parser and switches.get("enable_thinking") is not False
    prompt = generating.encode_prompt(
        call,
        template.render(
            messages,
            model=model,
            tools=tools,
            add_generation_prompt=generate,
            continue_final_message=keep_open,
            thinking=thinking,
        ),
    )
    rules = generating.limits(call, body, len(prompt), max_tokens, at_least=True)
    if spec.length_marks:
        rules = marked(rules, template.open_text(messages, model))
    tool = structured.tool_call(tools, body.get("tool_choice", "auto"), messages)
    script = _script(wanted, template.open_text(messages, model) if keep_open else "")
    if tool is not None:
        script = tokens.encode(tool.arguments)
        if tool.optional and len(script) + 1 > rules.max_tokens:
            tool = script = None
    return ChatPlan(
        id=call.answer_id("chatcmpl", body),
        model=model,
        created=int(time.time()),
        prompt=prompt,
        rules=rules,
        n=fields.integer(body, "n") or 1,
        options=generating.stream_options(call, body),
        logprobs=_logprobs(body),
        token_ids=fields.flag(body, "return_token_ids"),
        tool=tool,
        script=script,
        thinking=_opens_thinking(prompt) and script is None,
    )


def _check_prefill(call: Call, messages: list[Any]) -> None:
    refused = frozenset({FaultKind.REFUSE_PREFILL})
    prefill = isinstance(messages[-1], dict) and messages[-1].get("role") == "assistant"
    if prefill and call.server.faults.strike(refused, call.request.path, inference=True):
        text = "This model does not support assistant message prefill."
        raise bad_request(f"{text} The conversation must end with a user message.")


def _script(wanted: str | None, said: str) -> list[int] | None:
    """The tokens of structured output, less what the open message already says."""
    if wanted is None:
        return None
    return tokens.encode(wanted[len(said) :] if wanted.startswith(said) else wanted)


def _logprobs(body: fields.Body) -> int | None:
    if not fields.flag(body, "logprobs"):
        return None
    top = fields.integer(body, "top_logprobs") or 0
    if top > 20:
        text = f"Requested sample logprobs of {top}, which is greater than max allowed: 20"
        raise bad_request(text, "logprobs", top)
    return top


def _opens_thinking(prompt: list[int]) -> bool:
    for token in reversed(prompt):
        if token in (tokens.THINK, tokens.THINK_END, tokens.IM_START):
            return token == tokens.THINK
    return False
