"""POST /v1/responses, whole and streamed. Nothing is stored: any previous id is unknown."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.emulator import fields, generating, template
from gateway.emulator.call import Call, CutError, EventStream
from gateway.emulator.driver import EngineDeadError, Run
from gateway.emulator.generation import Limits
from gateway.emulator.refusals import Refused, envelope, missing


@dataclass(frozen=True, slots=True)
class _Plan:
    id: str
    item_id: str
    model: str
    created: int
    prompt: list[int]
    rules: Limits
    max_tokens: int | None
    temperature: float


async def responses(call: Call) -> None:
    """Answer one request of the Responses API."""
    body = call.body()
    plan = _plan(call, body)
    if fields.flag(body, "stream"):
        await _stream(call, plan)
        return
    run = generating.start(call, [plan.prompt], plan.rules)
    try:
        (choice,) = await generating.collect(run)
    finally:
        run.cancel()
    status = "incomplete" if choice.finish == "length" else "completed"
    call.send_json(200, _response(plan, status, _item(plan, choice.text), choice.count))


async def stored_response(call: Call) -> None:
    """GET /v1/responses/ID: never known."""
    raise _unknown(call.request.path.rsplit("/", 1)[-1])


def _plan(call: Call, body: fields.Body) -> _Plan:
    model = call.model(body)
    if "input" not in body:
        raise missing("body.input", body)
    previous = fields.string(body, "previous_response_id")
    if previous:
        raise _unknown(previous)
    messages = _messages(body)
    max_tokens = fields.integer(body, "max_output_tokens")
    text = template.render(messages, model=model, tools=fields.items(body, "tools"))
    prompt = generating.encode_prompt(call, text)
    rules = generating.limits(call, body, len(prompt), max_tokens, at_least=True)
    temperature = fields.number(body, "temperature")
    return _Plan(
        call.answer_id("resp", body),
        f"msg_{secrets.token_hex(8)}",
        model,
        int(time.time()),
        prompt,
        rules,
        max_tokens,
        1.0 if temperature is None else temperature,
    )


def _messages(body: fields.Body) -> list[Mapping[str, Any]]:
    given = body["input"]
    messages: list[Mapping[str, Any]] = []
    instructions = fields.string(body, "instructions")
    if instructions:
        messages.append({"role": "system", "content": instructions})
    if isinstance(given, str):
        return [*messages, {"role": "user", "content": given}]
    entries = given if isinstance(given, list) else []
    return [*messages, *(entry for entry in entries if isinstance(entry, dict))]


def _unknown(response_id: str) -> Refused:
    text = f"Response with id '{response_id}' not found."
    return Refused(404, envelope(404, "invalid_request_error", text, "response_id"))


async def _stream(call: Call, plan: _Plan) -> None:
    with call.open_stream() as stream:
        events = _Events(stream, plan)
        events.opening()
        run = generating.start(call, [plan.prompt], plan.rules)
        try:
            await _deltas(run, events)
        except EngineDeadError:
            # Real vLLM cuts these streams without an event and without the last chunk.
            stream.cut()
            raise CutError from None
        finally:
            run.cancel()
        stream.end()


async def _deltas(run: Run, events: "_Events") -> None:
    text, count = "", 0
    while True:
        _, token = await run.next()
        if token.finish != "abort":
            count += 1
        if token.text:
            text += token.text
            events.delta(token.text)
        if token.finish is not None:
            status = "incomplete" if token.finish == "length" else "completed"
            events.closing(text, status, count)
            return


class _Events:
    """Numbers the events of one stream."""

    def __init__(self, stream: EventStream, plan: _Plan) -> None:
        self._stream = stream
        self._plan = plan
        self._number = 0

    def opening(self) -> None:
        """From `response.created` to the first content part."""
        plan = self._plan
        progress = _response(plan, "in_progress", None, None)
        self._send("response.created", {"response": progress})
        self._send("response.in_progress", {"response": progress})
        item = {**_item(plan, ""), "content": [], "status": "in_progress"}
        self._send("response.output_item.added", {"item": item, "output_index": 0})
        part: dict[str, Any] = {
            "annotations": [],
            "text": "",
            "type": "output_text",
            "logprobs": [],
        }
        self._send("response.content_part.added", {**self._place(), "part": part})

    def delta(self, text: str) -> None:
        """More text."""
        self._send("response.output_text.delta", {**self._place(), "delta": text, "logprobs": []})

    def closing(self, text: str, status: str, count: int) -> None:
        """From the last text to `response.completed`, which vLLM sends at the limit as well."""
        plan = self._plan
        item = _item(plan, text)
        self._send("response.output_text.done", {**self._place(), "logprobs": [], "text": text})
        self._send("response.content_part.done", {**self._place(), "part": item["content"][0]})
        self._send("response.output_item.done", {"item": item, "output_index": 0})
        self._send("response.completed", {"response": _response(plan, status, item, count)})

    def _place(self) -> dict[str, Any]:
        return {"content_index": 0, "item_id": self._plan.item_id, "output_index": 0}

    def _send(self, kind: str, payload: dict[str, Any]) -> None:
        self._stream.named(kind, {**payload, "sequence_number": self._number, "type": kind})
        self._number += 1


def _item(plan: _Plan, text: str) -> dict[str, Any]:
    part: dict[str, Any] = {
        "annotations": [],
        "text": text,
        "type": "output_text",
        "logprobs": None,
    }
    return {
        "id": plan.item_id,
        "content": [part],
        "role": "assistant",
        "status": "completed",
        "type": "message",
        "phase": None,
    }


def _response(
    plan: _Plan, status: str, item: dict[str, Any] | None, count: int | None
) -> dict[str, Any]:
    reason = {"reason": "max_output_tokens"} if status == "incomplete" else None
    return {
        "id": plan.id,
        "created_at": plan.created,
        "incomplete_details": reason,
        "instructions": None,
        "metadata": None,
        "model": plan.model,
        "object": "response",
        "output": [] if item is None else [item],
        "parallel_tool_calls": True,
        "temperature": plan.temperature,
        "tool_choice": "none",
        "tools": [],
        "top_p": 1.0,
        "background": False,
        "max_output_tokens": plan.rules.max_tokens if plan.max_tokens is None else plan.max_tokens,
        "max_tool_calls": None,
        "previous_response_id": None,
        "prompt": None,
        "reasoning": None,
        "service_tier": "auto",
        "status": status,
        "text": None,
        "top_logprobs": None,
        "truncation": "disabled",
        "usage": None if count is None else _usage(len(plan.prompt), count),
        "user": None,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "kv_transfer_params": None,
        "ec_transfer_params": None,
        "input_messages": None,
        "output_messages": None,
    }


def _usage(prompt: int, count: int) -> dict[str, Any]:
    return {
        "input_tokens": prompt,
        "input_tokens_details": {
            "cached_tokens": 0,
            "cache_write_tokens": 0,
            "input_tokens_per_turn": [],
            "cached_tokens_per_turn": [],
        },
        "output_tokens": count,
        "output_tokens_details": {
            "reasoning_tokens": 0,
            "tool_output_tokens": 0,
            "output_tokens_per_turn": [],
            "tool_output_tokens_per_turn": [],
        },
        "total_tokens": prompt + count,
    }
