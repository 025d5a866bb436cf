"""POST /v1/messages and /v1/messages/count_tokens: Anthropic's protocol as vLLM speaks it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.emulator import fields, generating, template
from gateway.emulator.call import Call, EventStream
from gateway.emulator.driver import EngineDeadError
from gateway.emulator.generation import Limits
from gateway.emulator.refusals import ENGINE_DEAD, Refused, missing


@dataclass(frozen=True, slots=True)
class _Plan:
    id: str
    model: str
    prompt: list[int]
    rules: Limits


async def messages(call: Call) -> None:
    """Answer one message."""
    body = call.body()
    if "messages" not in body:
        raise missing("body.messages", body)
    if "max_tokens" not in body:
        raise missing("body.max_tokens", body)
    try:
        plan = _plan(call, body)
    except Refused as refused:
        raise _in_anthropics_words(refused) from None
    if fields.flag(body, "stream"):
        await _stream(call, plan)
        return
    run = generating.start(call, [plan.prompt], plan.rules)
    try:
        (choice,) = await generating.collect(run)
    finally:
        run.cancel()
    message = {
        "id": plan.id,
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": choice.text}],
        "model": plan.model,
        **_ending(choice.finish, choice.stop_reason),
        "usage": {"input_tokens": len(plan.prompt), "output_tokens": choice.count},
    }
    # Unlike in a stream, vLLM leaves out what is null.
    call.send_json(200, {key: value for key, value in message.items() if value is not None})


async def count_tokens(call: Call) -> None:
    """How many tokens a conversation has."""
    body = call.body()
    if "messages" not in body:
        raise missing("body.messages", body)
    try:
        count = len(_prompt(call, body, call.model(body)))
    except Refused as refused:
        raise _in_anthropics_words(refused) from None
    call.send_json(
        200, {"input_tokens": count, "context_management": {"original_input_tokens": count}}
    )


def _plan(call: Call, body: fields.Body) -> _Plan:
    model = call.model(body)
    prompt = _prompt(call, body, model)
    # vLLM takes only these two from the body (anthropic/serving.py): no `ignore_eos`, no `stop`.
    asked: fields.Body = {"stop": body.get("stop_sequences")}
    rules = generating.limits(
        call, asked, len(prompt), fields.integer(body, "max_tokens"), at_least=True
    )
    return _Plan(call.answer_id("chatcmpl", body), model, prompt, rules)


def _prompt(call: Call, body: fields.Body, model: str) -> list[int]:
    given: list[Mapping[str, Any]] = []
    system = body.get("system")
    if system:
        given.append({"role": "system", "content": system})
    given += [entry for entry in fields.items(body, "messages") or [] if isinstance(entry, dict)]
    text = template.render(given, model=model, tools=fields.items(body, "tools"))
    return generating.encode_prompt(call, text)


def _in_anthropics_words(refused: Refused) -> Refused:
    error = refused.body.get("error")
    if not isinstance(error, dict):
        return refused
    told = {"type": error["type"], "message": error["message"]}
    return Refused(refused.status, {"type": "error", "error": told}, refused.headers)


def _ending(finish: str | None, stop: str | None) -> dict[str, str | None]:
    """Why a message ended, in Anthropic's words; an aborted one has no reason."""
    if finish == "length":
        return {"stop_reason": "max_tokens", "stop_sequence": None}
    if finish != "stop":
        return {"stop_reason": None, "stop_sequence": None}
    return {"stop_reason": "end_turn" if stop is None else "stop_sequence", "stop_sequence": stop}


async def _stream(call: Call, plan: _Plan) -> None:
    with call.open_stream() as stream:
        run = generating.start(call, [plan.prompt], plan.rules)
        try:
            count, finish, stop = 0, None, None
            while finish is None:
                _, token = await run.next()
                if count == 0:
                    _open(stream, plan)
                count += token.finish != "abort"
                if token.text:
                    delta = {"type": "text_delta", "text": token.text}
                    _send(stream, "content_block_delta", {"delta": delta, "index": 0})
                finish, stop = token.finish, token.stop_reason
            _close(stream, plan, _ending(finish, stop), count)
        except EngineDeadError:
            stream.named("error", _in_anthropics_words(Refused(500, ENGINE_DEAD)).body)
        finally:
            run.cancel()
        stream.end()


def _open(stream: EventStream, plan: _Plan) -> None:
    message: dict[str, Any] = {
        "id": plan.id,
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": plan.model,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": len(plan.prompt), "output_tokens": 0},
    }
    _send(stream, "message_start", {"message": message})
    block = {"type": "text", "text": ""}
    _send(stream, "content_block_start", {"content_block": block, "index": 0})


def _close(stream: EventStream, plan: _Plan, ending: Mapping[str, str | None], count: int) -> None:
    _send(stream, "content_block_stop", {"index": 0})
    usage = {"input_tokens": len(plan.prompt), "output_tokens": count}
    _send(stream, "message_delta", {"delta": ending, "usage": usage})
    _send(stream, "message_stop", {})


def _send(stream: EventStream, kind: str, payload: dict[str, Any]) -> None:
    stream.named(kind, {"type": kind, **payload})
