"""Which paths an emulated server has, by the kind of its model."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gateway.emulator import audio, information, messages, pooling, private, responses
from gateway.emulator.call import Call
from gateway.emulator.chat import chat
from gateway.emulator.completions import completions
from gateway.emulator.spec import BackendSpec, Task

Handler = Callable[[Call], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Route:
    """One path: its handlers by method, and whether it runs the model."""

    handlers: Mapping[str, Handler]
    is_inference: bool = False


def _get(handler: Handler) -> Route:
    return Route(MappingProxyType({"GET": handler}))


def _post(handler: Handler) -> Route:
    return Route(MappingProxyType({"POST": handler}))


def _infer(handler: Handler) -> Route:
    return Route(MappingProxyType({"POST": handler}), is_inference=True)


_ALWAYS: Final[Mapping[str, Route]] = MappingProxyType(
    {
        "/health": _get(information.health),
        "/ping": Route(MappingProxyType({"GET": information.health, "POST": information.health})),
        "/version": _get(information.version),
        "/load": _get(information.load),
        "/metrics": _get(information.metric_text),
        "/v1/models": _get(information.models),
        "/invocations": _infer(private.invocations),
        "/v1/load_lora_adapter": _post(private.adapter),
        "/v1/unload_lora_adapter": _post(private.adapter),
        "/inference/v1/generate": _post(private.scale_out),
        "/inference/v1/abort_requests": _post(private.scale_out),
        "/v1/chat/completions/render": _post(private.scale_out),
    }
)

_BY_TASK: Final[Mapping[Task, Mapping[str, Route]]] = MappingProxyType(
    {
        Task.GENERATE: MappingProxyType(
            {
                "/v1/chat/completions": _infer(chat),
                "/v1/completions": _infer(completions),
                "/tokenize": _post(information.tokenize),
                "/detokenize": _post(information.detokenize),
                "/v1/responses": _infer(responses.responses),
                "/v1/messages": _infer(messages.messages),
                "/v1/messages/count_tokens": _post(messages.count_tokens),
            }
        ),
        Task.EMBED: MappingProxyType(
            {
                "/v1/embeddings": _infer(pooling.embeddings),
                "/pooling": _infer(pooling.pooling),
            }
        ),
        Task.SCORE: MappingProxyType(
            {
                "/score": _infer(pooling.score),
                "/v1/score": _infer(pooling.score),
                "/rerank": _infer(pooling.rerank),
                "/v1/rerank": _infer(pooling.rerank),
                "/v2/rerank": _infer(pooling.rerank),
            }
        ),
        Task.CLASSIFY: MappingProxyType({"/classify": _infer(pooling.classify)}),
        Task.TRANSCRIBE: MappingProxyType(
            {
                "/v1/audio/transcriptions": _infer(audio.transcriptions),
                "/v1/audio/translations": _infer(audio.translations),
            }
        ),
    }
)

_DEV_MODE: Final[Mapping[str, Route]] = MappingProxyType(
    {
        "/server_info": _get(information.server_info),
        "/sleep": _post(private.sleep),
        "/wake_up": _post(private.wake_up),
        "/is_sleeping": _get(private.is_sleeping),
        "/reset_prefix_cache": _post(private.reset_prefix_cache),
        "/collective_rpc": _post(private.collective_rpc),
    }
)


STORED_RESPONSE: Final = _get(responses.stored_response)
"""What answers below /v1/responses/."""


def routes_of(spec: BackendSpec) -> Mapping[str, Route]:
    """Every path of a server; what is not here is 404 {"detail":"Not Found"}."""
    table = {**_ALWAYS, **_BY_TASK.get(spec.task, {})}
    if spec.dev_mode:
        table.update(_DEV_MODE)
    return MappingProxyType(table)
