"""POST /v1/chat/completions."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gateway.emulator import fields, generating, structured, template, tokens
from gateway.emulator.call import Call, EventStream
from gateway.emulator.driver import EngineDeadError, Run
from gateway.emulator.faults import FaultKind
from gateway.emulator.generating import Collected, StreamOptions
from gateway.emulator.generation import Limits
from gateway.emulator.records import Token
from gateway.emulator.refusals import ENGINE_DEAD, Refused, bad_request, missing
from gateway.emulator.thinking import ThinkSplitter


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


async def chat(call: Call) -> None:
    """Answer one chat completion."""
    plan = plan_chat(call, call.body())
    if plan.options.stream:
        await _stream(call, plan)
    else:
        await _whole(call, plan)


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


async def _whole(call: Call, plan: ChatPlan) -> None:
    run = generating.start(call, [plan.prompt], plan.rules, n=plan.n, script=plan.script)
    try:
        choices = await generating.collect(run)
    finally:
        run.cancel()
    completion = sum(choice.count for choice in choices)
    call.send_json(
        200,
        {
            "id": plan.id,
            "object": "chat.completion",
            "created": plan.created,
            "model": plan.model,
            "choices": [_choice(plan, i, choice) for i, choice in enumerate(choices)],
            "service_tier": None,
            "system_fingerprint": call.server.spec.system_fingerprint,
            "usage": generating.full_usage(call, run, len(plan.prompt), completion),
            "prompt_logprobs": None,
            "prompt_token_ids": plan.prompt if plan.token_ids else None,
            "prompt_text": None,
            "kv_transfer_params": None,
            "ec_transfer_params": None,
            "metrics": None,
        },
    )


def _choice(plan: ChatPlan, index: int, choice: Collected) -> dict[str, Any]:
    reasoning, content = ThinkSplitter(thinking=plan.thinking).feed(choice.text, final=True)
    message: dict[str, Any] = {
        "role": "assistant",
        "content": content,
        "refusal": None,
        "annotations": None,
        "audio": None,
        "function_call": None,
    }
    finish = choice.finish
    if plan.tool is not None:
        message["content"] = None if plan.tool.optional else ""
        message["tool_calls"] = [
            {
                "id": f"chatcmpl-tool-{plan.id[-16:]}",
                "type": "function",
                "function": {"name": plan.tool.name, "arguments": choice.text},
            }
        ]
        finish = plan.tool.finish if finish == "stop" else finish
    message["reasoning"] = reasoning or None
    wants = plan.logprobs is not None
    return {
        "index": index,
        "message": message,
        "logprobs": generating.chat_logprobs(choice.tokens, plan.logprobs or 0) if wants else None,
        "finish_reason": finish,
        "stop_reason": choice.stop_reason,
        "token_ids": choice.tokens if plan.token_ids else None,
        "routed_experts": None,
    }


async def _stream(call: Call, plan: ChatPlan) -> None:
    # The head goes out before the engine takes the request, as real vLLM does it.
    with call.open_stream() as stream:
        try:
            run = generating.start(call, [plan.prompt], plan.rules, n=plan.n, script=plan.script)
        except Refused as refused:
            stream.error(refused.body)
            stream.done()
            return
        try:
            await _Chunks(call, plan, stream, run).send()
        except EngineDeadError:
            stream.error(ENGINE_DEAD)
            stream.done()
        finally:
            run.cancel()


class _Chunks:
    """The chunks of one stream."""

    def __init__(self, call: Call, plan: ChatPlan, stream: EventStream, run: Run) -> None:
        self._plan = plan
        self._stream = stream
        self._run = run
        self._fingerprint = call.server.spec.system_fingerprint
        self._made = [0] * plan.n
        self._splitters = [ThinkSplitter(thinking=plan.thinking) for _ in range(plan.n)]
        self._head = {
            "id": plan.id,
            "object": "chat.completion.chunk",
            "created": plan.created,
            "model": plan.model,
        }

    async def send(self) -> None:
        """Roles, deltas, usage, [DONE]."""
        left = self._plan.n
        greeted = False
        while left:
            index, token = await self._run.next()
            if not greeted:
                greeted = True
                self._greet()
            if token.finish != "abort":
                self._made[index] += 1
            for delta, last in self._deltas(index, token):
                self._chunk(index, token, delta, last=last)
            if token.finish is not None:
                left -= 1
        if self._plan.options.include_usage:
            self._stream.data(
                {
                    **self._head,
                    "choices": [],
                    "usage": generating.usage(len(self._plan.prompt), sum(self._made)),
                    "system_fingerprint": self._fingerprint,
                }
            )
        self._stream.done()

    def _greet(self) -> None:
        plan = self._plan
        for index in range(plan.n):
            choice = {
                "index": index,
                "delta": {"role": "assistant", "content": ""},
                "logprobs": None,
                "finish_reason": None,
            }
            self._stream.data(
                {
                    **self._head,
                    "choices": [choice],
                    **self._usage(index),
                    "prompt_token_ids": plan.prompt if plan.token_ids else None,
                    "prompt_text": None,
                }
            )
            if plan.tool is not None:
                call = {
                    "id": f"chatcmpl-tool-{plan.id[-16:]}",
                    "type": "function",
                    "index": 0,
                    "function": {"name": plan.tool.name},
                }
                delta = {"content": None, "tool_calls": [call]}
                self._chunk(index, None, delta, last=False)

    def _deltas(self, index: int, token: Token) -> Iterable[tuple[dict[str, Any], bool]]:
        """The deltas of one token, and whether each is the last of its choice."""
        ended = token.finish is not None
        if self._plan.tool is not None:
            call = {"index": 0, "function": {"arguments": token.text}}
            if token.text:
                yield {"content": None, "tool_calls": [call]}, False
            if ended:
                yield {}, True
            return
        reasoning, content = self._splitters[index].feed(token.text, final=ended)
        if reasoning:
            yield {"reasoning": reasoning}, ended and not content
        if content or not (reasoning or ended):
            yield {"content": content}, ended
        elif ended and not reasoning:
            yield {}, True

    def _chunk(self, index: int, token: Token | None, delta: dict[str, Any], *, last: bool) -> None:
        plan = self._plan
        logprobs = None
        if plan.logprobs is not None and token is not None and not generating.is_end(token):
            logprobs = generating.chat_logprobs([token.id], plan.logprobs)
        choice: dict[str, Any] = {
            "index": index,
            "delta": delta,
            "logprobs": logprobs,
            "finish_reason": self._finish(token) if last else None,
        }
        if last:
            choice["stop_reason"] = token.stop_reason if token else None
        choice["token_ids"] = [token.id] if plan.token_ids and token is not None else None
        event: dict[str, Any] = {**self._head, "choices": [choice], **self._usage(index)}
        if last and not plan.options.include_usage:
            event["system_fingerprint"] = self._fingerprint
        self._stream.data(event)

    def _finish(self, token: Token | None) -> str | None:
        finish = token.finish if token else None
        if self._plan.tool is not None and finish == "stop":
            return self._plan.tool.finish
        return finish

    def _usage(self, index: int) -> dict[str, Any]:
        if not self._plan.options.continuous_usage:
            return {}
        counts = generating.usage(len(self._plan.prompt), self._made[index])
        return {"usage": {**counts, "completion_tokens_details": None}}
