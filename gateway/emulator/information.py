"""Routes that tell about the server: health, models, version, metrics, tokenizer."""

import secrets
import time
from typing import Any

from gateway.emulator import fields, generating, metrics, template, tokens
from gateway.emulator.call import Call
from gateway.emulator.completions import check_ids
from gateway.emulator.refusals import bad_request, missing


async def health(call: Call) -> None:
    """200 unless the engine is known to be dead; a frozen engine is not noticed."""
    call.send(503 if call.server.dying else 200, b"")


async def version(call: Call) -> None:
    """vLLM's version."""
    call.send_json(200, {"version": call.server.spec.version})


async def load(call: Call) -> None:
    """Requests that the API server is answering."""
    tracked = call.server.spec.enable_server_load_tracking
    call.send_json(200, {"server_load": call.server.server_load if tracked else 0})


async def models(call: Call) -> None:
    """Every served name, each an entry of its own."""
    spec = call.server.spec
    names = call.server.served_names()
    entries = [model_entry(name, spec.root, spec.max_model_len) for name in names]
    call.send_json(200, {"object": "list", "data": entries})


def model_entry(name: str, root: str, max_model_len: int) -> dict[str, Any]:
    """One entry of the model list, made at this moment as vLLM does."""
    now = int(time.time())
    permission = {
        "id": f"modelperm-{secrets.token_hex(8)}",
        "object": "model_permission",
        "created": now,
        "allow_create_engine": False,
        "allow_sampling": True,
        "allow_logprobs": True,
        "allow_search_indices": False,
        "allow_view": True,
        "allow_fine_tuning": False,
        "organization": "*",
        "group": None,
        "is_blocking": False,
    }
    return {
        "id": name,
        "object": "model",
        "created": now,
        "owned_by": "vllm",
        "root": root,
        "parent": None,
        "max_model_len": max_model_len,
        "permission": [permission],
    }


async def metric_text(call: Call) -> None:
    """The Prometheus exposition."""
    body = call.server.metrics.render()
    call.send(200, body, [f"content-type: {metrics.CONTENT_TYPE}"])


async def tokenize(call: Call) -> None:
    """Token ids of a prompt or a conversation."""
    body = call.body()
    model = call.model(body)
    if "messages" in body:
        messages = template.check_messages(fields.items(body, "messages"))
        text = template.render(
            messages,
            model=model,
            tools=fields.items(body, "tools"),
            add_generation_prompt=fields.flag(body, "add_generation_prompt", default=True),
            continue_final_message=fields.flag(body, "continue_final_message"),
            thinking=call.server.spec.reasoning_parser,
        )
    elif "prompt" in body:
        text = fields.string(body, "prompt") or ""
    else:
        raise missing("body.TokenizeCompletionRequest.prompt", body)
    ids = generating.encode_prompt(call, text)
    strings = None
    if fields.flag(body, "return_token_strs"):
        strings = [tokens.decode([token]) for token in ids]
    call.send_json(
        200,
        {
            "count": len(ids),
            "max_model_len": call.server.spec.max_model_len,
            "tokens": ids,
            "token_strs": strings,
        },
    )


async def detokenize(call: Call) -> None:
    """The text of token ids."""
    body = call.body()
    call.model(body)
    ids = fields.items(body, "tokens")
    if ids is None:
        raise missing("body.tokens", body)
    if not all(isinstance(token, int) for token in ids):
        raise bad_request("tokens must be whole numbers.", "tokens")
    call.send_json(200, {"prompt": tokens.decode(check_ids(ids))})


async def server_info(call: Call) -> None:
    """What the server was started with (dev mode only)."""
    spec, engine = call.server.spec, call.server.engine_spec
    sizes = list(engine.capture_sizes)
    config = {
        "model_config": {
            "model": spec.root,
            "served_model_name": list(spec.served_names),
            "max_model_len": spec.max_model_len,
            "enforce_eager": not sizes,
        },
        "scheduler_config": {"max_num_seqs": engine.max_num_seqs},
        "compilation_config": {
            # vLLM's enum as a pair: (decode steps, mixed steps).
            "cudagraph_mode": [2, 0] if sizes else 0,
            "cudagraph_capture_sizes": sizes,
        },
    }
    call.send_json(200, {"vllm_config": config})
