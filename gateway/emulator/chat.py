"""POST /v1/chat/completions."""

from typing import Any

from gateway.emulator import generating
from gateway.emulator.call import Call
from gateway.emulator.chat_plan import ChatPlan, plan_chat
from gateway.emulator.chat_stream import Chunks
from gateway.emulator.driver import EngineDeadError
from gateway.emulator.generating import Collected
from gateway.emulator.refusals import ENGINE_DEAD, Refused
from gateway.emulator.thinking import ThinkSplitter


async def chat(call: Call) -> None:
    """Answer one chat completion."""
    plan = plan_chat(call, call.body())
    if plan.options.stream:
        await _stream(call, plan)
    else:
        await _whole(call, plan)


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
            await Chunks(call, plan, stream, run).send()
        except EngineDeadError:
            stream.error(ENGINE_DEAD)
            stream.done()
        finally:
            run.cancel()
