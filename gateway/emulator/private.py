"""Engine paths that no client of a gateway may reach; calls are recorded."""

from gateway.emulator import fields
from gateway.emulator.call import Call
from gateway.emulator.chat import chat
from gateway.emulator.completions import completions
from gateway.emulator.refusals import scale_out_disabled


async def invocations(call: Call) -> None:
    """The SageMaker route: generates text, even without the API key."""
    _note(call)
    body = fields.json_body(call.request.headers, call.request.body)
    await (chat if "messages" in body else completions)(call)


async def sleep(call: Call) -> None:
    """Put the engine to sleep: requests hang, /health stays 200."""
    _note(call)
    call.server.asleep = True
    call.server.driver.freeze()
    call.send(200, b"")


async def wake_up(call: Call) -> None:
    """Wake the engine."""
    _note(call)
    call.server.asleep = False
    call.server.driver.thaw()
    call.send(200, b"")


async def is_sleeping(call: Call) -> None:
    """Whether the engine sleeps."""
    _note(call)
    call.send_json(200, {"is_sleeping": call.server.asleep})


async def reset_prefix_cache(call: Call) -> None:
    """Forget all cached prefixes."""
    _note(call)
    call.server.driver.engine.kv.forget_all()
    call.send(200, b"")


async def collective_rpc(call: Call) -> None:
    """Pretend to call a method on every worker."""
    _note(call)
    call.send_json(200, {"results": [None]})


async def adapter(call: Call) -> None:
    """Pretend to load or unload an adapter."""
    _note(call)
    call.send(200, b"Success: LoRA adapter changed.", ["content-type: text/plain; charset=utf-8"])


async def scale_out(call: Call) -> None:
    """The scale-out routes, off unless the spec turns them on."""
    _note(call)
    if not call.server.spec.enable_scale_out:
        raise scale_out_disabled()
    call.send(200, b"")


def _note(call: Call) -> None:
    call.server.control.append(f"{call.request.method} {call.request.path}")
