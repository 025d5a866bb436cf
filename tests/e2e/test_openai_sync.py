"""The official OpenAI client in its blocking form, as most scripts use it."""

import asyncio
import io
from collections.abc import Callable
from typing import Any

import openai
import pytest

from gateway.emulator.spec import Task
from tests.support.clients import sync_openai_client
from tests.support.fleet import gateway_over, spec

ASK: dict[str, Any] = {
    "model": "public-chat",
    "messages": [{"role": "user", "content": "你好"}],
    "max_tokens": 12,
}


def chat(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(**ASK)
    with client.chat.completions.create(**ASK, stream=True) as stream:
        chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert {chunk.model for chunk in chunks} == {whole.model} == {"public-chat"}


def completions(client: openai.OpenAI) -> None:
    answer = client.completions.create(model="alias-chat", prompt="a", max_tokens=4)
    assert answer.model == "alias-chat"
    assert answer.choices[0].text


def responses(client: openai.OpenAI) -> None:
    whole = client.responses.create(model="public-chat", input="hello", max_output_tokens=8)
    with client.responses.create(
        model="public-chat", input="hello", max_output_tokens=8, stream=True
    ) as stream:
        kinds = [event.type for event in stream]
    assert whole.output_text
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"


def embeddings(client: openai.OpenAI) -> None:
    answer = client.embeddings.create(model="public-embed", input=["a", "b"])
    assert [one.index for one in answer.data] == [0, 1]


def audio(client: openai.OpenAI) -> None:
    file = ("a.wav", io.BytesIO(b"RIFF" + bytes(5000)))
    assert client.audio.transcriptions.create(model="public-audio", file=file).text


def models(client: openai.OpenAI) -> None:
    assert [one.id for one in client.models.list()] == [
        "public-chat",
        "public-embed",
        "public-audio",
    ]
    assert client.models.retrieve("public-embed").id == "public-embed"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nobody")


def refusals(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(**{**ASK, "model": "public-chatt"})
    assert missing.value.code == "model_not_found"
    assert "public-chat" in missing.value.message
    with pytest.raises(openai.BadRequestError) as unnamed:
        client.chat.completions.create(**{**ASK, "model": ""})
    assert unnamed.value.param == "model"


STEPS: list[Callable[[openai.OpenAI], None]] = [
    chat,
    completions,
    responses,
    embeddings,
    audio,
    models,
    refusals,
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
async def test_the_blocking_client(step: Callable[[openai.OpenAI], None]) -> None:
    async with gateway_over(
        spec("chat", "/models/Qwen3.5-9B"),
        spec("embed", "bge", task=Task.EMBED),
        spec("audio", "whisper", task=Task.TRANSCRIBE),
    ) as (gateway, _):

        def run() -> None:
            with sync_openai_client(gateway.openai_url) as client:
                step(client)

        await asyncio.to_thread(run)
