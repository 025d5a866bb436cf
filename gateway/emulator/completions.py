"""POST /v1/completions."""

import time
from dataclasses import dataclass
from typing import Any

from gateway.emulator import fields, generating, structured, tokens
from gateway.emulator.call import Call, EventStream
from gateway.emulator.driver import EngineDeadError, Run
from gateway.emulator.generating import Collected, StreamOptions
from gateway.emulator.generation import Limits
from gateway.emulator.records import Token
from gateway.emulator.refusals import ENGINE_DEAD, Refused, bad_request, too_long

_DEFAULT_MAX_TOKENS = 16


@dataclass(frozen=True, slots=True)
class CompletionPlan:
    """A checked completions request."""

    id: str
    model: str
    created: int
    prompts: list[list[int]]
    rules: list[Limits]
    n: int
    options: StreamOptions
    echo: bool
    logprobs: int | None
    token_ids: bool
    script: list[int] | None

    @property
    def prompt_tokens(self) -> int:
        """Tokens of all prompts."""
        return sum(map(len, self.prompts))

    def prompt_of(self, index: int) -> list[int]:
        """The prompt of a choice."""
        return self.prompts[index // self.n]


async def completions(call: Call) -> None:
    """Answer one completion."""
    plan = plan_completion(call, call.body())
    if plan.options.stream:
        await _stream(call, plan)
    else:
        await _whole(call, plan)


def plan_completion(call: Call, body: fields.Body) -> CompletionPlan:
    """Check a body; Refused in the engine's words."""
    fields.check_sampling(body)
    model = call.model(body)
    generating.check_data_parallel_rank(call)
    limit = call.server.spec.max_model_len
    prompts = _prompts(call, body.get("prompt"))
    max_tokens = fields.integer(body, "max_tokens")
    fields.check_max_tokens(max_tokens, limit)
    max_tokens = _DEFAULT_MAX_TOKENS if max_tokens is None else max_tokens
    for ids in prompts:
        if len(ids) >= limit:
            raise too_long(limit, len(ids), at_least=False)
    wanted = structured.response_json(body.get("response_format"))
    return CompletionPlan(
        id=call.answer_id("cmpl", body),
        model=model,
        created=int(time.time()),
        prompts=prompts,
        rules=[
            generating.limits(call, body, len(ids), max_tokens, at_least=False) for ids in prompts
        ],
        n=fields.integer(body, "n") or 1,
        options=generating.stream_options(call, body),
        echo=fields.flag(body, "echo"),
        logprobs=fields.integer(body, "logprobs"),
        token_ids=fields.flag(body, "return_token_ids"),
        script=None if wanted is None else tokens.encode(wanted),
    )


def _prompts(call: Call, prompt: Any) -> list[list[int]]:
    entries = prompt if isinstance(prompt, list) and not _is_ids(prompt) else [prompt]
    if prompt is None or prompt == "" or not entries:
        text = "Either prompt or prompt_embeds must be provided and non-empty."
        raise bad_request(text, "prompt")
    found: list[list[int]] = []
    for entry in entries:
        if isinstance(entry, str) and entry:
            found.append(generating.encode_prompt(call, entry))
        elif _is_ids(entry):
            found.append(check_ids(entry))
        else:
            raise bad_request("The prompt must be text or token ids, and not empty.", "prompt")
    return found


def check_ids(ids: list[int]) -> list[int]:
    """Token ids of a caller; Refused when one is outside the vocabulary."""
    unknown = tokens.first_unknown(ids)
    if unknown is not None:
        raise bad_request(f"Token id {unknown} is out of vocabulary")
    return list(ids)


def _is_ids(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(entry, int) and not isinstance(entry, bool) for entry in value)
    )


async def _whole(call: Call, plan: CompletionPlan) -> None:
    run = generating.start(call, plan.prompts, plan.rules, n=plan.n, script=plan.script)
    try:
        choices = await generating.collect(run)
    finally:
        run.cancel()
    completion = sum(choice.count for choice in choices)
    call.send_json(
        200,
        {
            "id": plan.id,
            "object": "text_completion",
            "created": plan.created,
            "model": plan.model,
            "choices": [_choice(plan, i, choice) for i, choice in enumerate(choices)],
            "service_tier": None,
            "system_fingerprint": call.server.spec.system_fingerprint,
            "usage": generating.full_usage(call, run, plan.prompt_tokens, completion),
            "kv_transfer_params": None,
            "ec_transfer_params": None,
            "metrics": None,
        },
    )


def _choice(plan: CompletionPlan, index: int, choice: Collected) -> dict[str, Any]:
    prompt = plan.prompt_of(index)
    text = tokens.decode(prompt) + choice.text if plan.echo else choice.text
    logprobs = None
    if plan.logprobs is not None:
        ids = [*prompt, *choice.tokens] if plan.echo else choice.tokens
        logprobs = generating.completion_logprobs(ids, plan.logprobs, 0)
    return {
        "index": index,
        "text": text,
        "logprobs": logprobs,
        "finish_reason": choice.finish,
        "stop_reason": choice.stop_reason,
        "token_ids": choice.tokens if plan.token_ids else None,
        "prompt_logprobs": None,
        "prompt_token_ids": prompt if plan.token_ids else None,
        "routed_experts": None,
    }


async def _stream(call: Call, plan: CompletionPlan) -> None:
    with call.open_stream() as stream:
        try:
            run = generating.start(call, plan.prompts, plan.rules, n=plan.n, script=plan.script)
        except Refused as refused:
            stream.error(refused.body)
            stream.done()
            return
        try:
            await _send_chunks(call, plan, stream, run)
        except EngineDeadError:
            stream.error(ENGINE_DEAD)
            stream.done()
        finally:
            run.cancel()


async def _send_chunks(call: Call, plan: CompletionPlan, stream: EventStream, run: Run) -> None:
    head = {
        "id": plan.id,
        "object": "text_completion",
        "created": plan.created,
        "model": plan.model,
    }
    fingerprint = call.server.spec.system_fingerprint
    made = [0] * len(run.ids)
    offsets = [0] * len(run.ids)
    left = len(run.ids)
    while left:
        index, token = await run.next()
        first = made[index] == 0
        made[index] += token.finish != "abort"
        event: dict[str, Any] = {
            **head,
            "choices": [_chunk(plan, index, token, offsets, first=first)],
        }
        if plan.options.continuous_usage:
            event["usage"] = generating.usage(len(plan.prompt_of(index)), made[index])
        if token.finish is not None:
            left -= 1
            if not plan.options.include_usage:
                event["system_fingerprint"] = fingerprint
        stream.data(event)
    if plan.options.include_usage:
        counts = generating.usage(plan.prompt_tokens, sum(made))
        stream.data({**head, "choices": [], "usage": counts, "system_fingerprint": fingerprint})
    stream.done()


def _chunk(
    plan: CompletionPlan, index: int, token: Token, offsets: list[int], *, first: bool
) -> dict[str, Any]:
    text = token.text
    if first and plan.echo:
        text = tokens.decode(plan.prompt_of(index)) + text
    logprobs = None
    if plan.logprobs is not None and not generating.is_end(token):
        logprobs = generating.completion_logprobs([token.id], plan.logprobs, offsets[index])
        offsets[index] += len(token.text)
    return {
        "index": index,
        "text": text,
        "logprobs": logprobs,
        "finish_reason": token.finish,
        "stop_reason": token.stop_reason,
        "prompt_token_ids": plan.prompt_of(index) if plan.token_ids and first else None,
        "token_ids": [token.id] if plan.token_ids else None,
    }
