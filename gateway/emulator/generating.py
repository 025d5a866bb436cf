"""What chat, completions, responses and messages share: from a checked body to tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.emulator import fields, tokens
from gateway.emulator.call import Call
from gateway.emulator.driver import EngineBusyError, EngineDeadError, Run
from gateway.emulator.generation import Generation, Limits
from gateway.emulator.records import Token
from gateway.emulator.refusals import (
    ENGINE_BUSY,
    ENGINE_DEAD,
    Refused,
    bad_request,
    too_long,
)


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What a caller wants to see in a stream."""

    stream: bool = False
    include_usage: bool = False
    continuous_usage: bool = False


def stream_options(call: Call, body: fields.Body) -> StreamOptions:
    """`stream` and `stream_options`, and --enable-force-include-usage."""
    forced = call.server.spec.enable_force_include_usage
    options = body.get("stream_options")
    options = options if isinstance(options, dict) else {}
    return StreamOptions(
        stream=fields.flag(body, "stream"),
        include_usage=forced or fields.flag(options, "include_usage"),
        continuous_usage=forced or fields.flag(options, "continuous_usage_stats"),
    )


def encode_prompt(call: Call, text: str) -> list[int]:
    """Token ids of a rendered prompt. Refused when it is far too long to be tokenized."""
    limit = call.server.spec.max_model_len
    if len(text) > 64 * limit:
        raise bad_request(
            f"This model's maximum context length is {limit} tokens. However, your prompt has "
            f"{len(text)} characters, which cannot fit. Please reduce the length of the input "
            "prompt.",
            "input_text",
            len(text),
        )
    try:
        return tokens.encode(text)
    except UnicodeEncodeError:
        raise bad_request("The prompt contains a lone surrogate, which is not text.") from None


def limits(
    call: Call, body: fields.Body, prompt_tokens: int, max_tokens: int | None, *, at_least: bool
) -> Limits:
    """When the answer ends; Refused when the prompt leaves no room for one."""
    limit = call.server.spec.max_model_len
    room = limit - prompt_tokens
    if room < 1:
        raise too_long(limit, prompt_tokens, at_least=at_least)
    return Limits(
        max_tokens=room if max_tokens is None else min(max_tokens, room),
        min_tokens=fields.integer(body, "min_tokens") or 0,
        ignore_eos=fields.flag(body, "ignore_eos"),
        stop=fields.strings(body, "stop"),
        include_stop=fields.flag(body, "include_stop_str_in_output"),
        eos_one_in=call.server.spec.eos_one_in,
    )


def check_data_parallel_rank(call: Call) -> None:
    """Refuse a rank other than 0; a value that is no number is ignored."""
    value = call.request.headers.get("x-data-parallel-rank", "")
    try:
        rank = int(value)
    except ValueError:
        return
    if rank != 0:
        raise bad_request(f"data_parallel_rank {rank} is out of range [0, 1).")


def start(
    call: Call,
    prompts: Sequence[list[int]],
    rules: Limits | Sequence[Limits],
    *,
    n: int = 1,
    script: Sequence[int] | None = None,
) -> Run:
    """Hand a request to the engine: `n` choices per prompt. Refused when it takes no more."""
    sources: list[tuple[list[int], Generation]] = []
    for index, prompt in enumerate(prompts):
        rule = rules if isinstance(rules, Limits) else rules[index]
        for choice in range(n):
            ids = list(prompt)
            seed = call.server.spec.text_seed + 7919 * choice
            sources.append((ids, Generation(ids, rule, seed=seed, script=script)))
    try:
        return call.server.driver.submit(sources)
    except EngineDeadError:
        raise Refused(500, ENGINE_DEAD) from None
    except EngineBusyError:
        call.server.metrics.on_rejected()
        raise Refused(503, ENGINE_BUSY) from None


@dataclass(slots=True)
class Collected:
    """One finished choice."""

    text: str
    tokens: list[int]
    texts: list[str]
    finish: str
    stop_reason: str | None

    @property
    def count(self) -> int:
        """Generated tokens."""
        return len(self.tokens)


async def collect(run: Run) -> list[Collected]:
    """All choices, complete. Refused (500) when the engine dies."""
    choices = [Collected("", [], [], "", None) for _ in run.ids]
    left = len(choices)
    while left:
        try:
            index, token = await run.next()
        except EngineDeadError:
            raise Refused(500, ENGINE_DEAD) from None
        choice = choices[index]
        if token.finish != "abort":
            choice.tokens.append(token.id)
            choice.texts.append(token.text)
        if token.finish is not None:
            choice.finish, choice.stop_reason = token.finish, token.stop_reason
            choice.text = "".join(choice.texts)
            left -= 1
    return choices


def usage(prompt: int, completion: int) -> dict[str, int]:
    """The three counts of a usage object."""
    return {
        "prompt_tokens": prompt,
        "total_tokens": prompt + completion,
        "completion_tokens": completion,
    }


def full_usage(call: Call, run: Run, prompt: int, completion: int) -> dict[str, Any]:
    """The usage object of an answer that is no stream."""
    details = None
    if call.server.spec.enable_prompt_tokens_details:
        cached = sum(sequence.cached_tokens for sequence in run.sequences)
        details = {"cached_tokens": cached, "created_cache_tokens": None, "multimodal_tokens": None}
    return {
        **usage(prompt, completion),
        "prompt_tokens_details": details,
        "completion_tokens_details": None,
    }


def logprob(token: int) -> float:
    """A made-up but stable log probability."""
    return -0.001 - (token % 997) / 10000


def chat_logprobs(ids: Sequence[int], top: int) -> dict[str, Any]:
    """The chat protocol's logprobs object."""
    content: list[dict[str, Any]] = []
    for token in ids:
        entry = _logprob_entry(token)
        content.append({**entry, "top_logprobs": [_logprob_entry(token + i) for i in range(top)]})
    return {"content": content}


def completion_logprobs(ids: Sequence[int], top: int, offset: int) -> dict[str, Any]:
    """The completions protocol's logprobs object; `offset` counts characters before it."""
    texts = [tokens.decode([token]) for token in ids]
    offsets: list[int] = []
    for text in texts:
        offsets.append(offset)
        offset += len(text)
    return {
        "text_offset": offsets,
        "token_logprobs": [logprob(token) for token in ids],
        "tokens": texts,
        "top_logprobs": [{tokens.decode([t]): logprob(t)} if top else None for t in ids],
    }


def _logprob_entry(token: int) -> dict[str, Any]:
    raw = tokens.token_bytes(min(token, tokens.VOCAB_SIZE - 1))
    return {
        "token": raw.decode(errors="replace"),
        "logprob": logprob(token),
        "bytes": list(raw),
    }


def is_end(token: Token) -> bool:
    """Whether a token only says that the text is over."""
    return token.finish is not None and not token.text


def as_mapping(value: Any) -> Mapping[str, Any]:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}
