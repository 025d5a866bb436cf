"""The official OpenAI and Anthropic clients through the gateway, every endpoint, over emulators."""

import io
from collections.abc import AsyncIterator

import anthropic
import openai
import pytest

from gateway.emulator.faults import FaultKind
from gateway.emulator.fleet import EmulatedFleet
from gateway.emulator.spec import Task
from tests.support.clients import anthropic_client, openai_client
from tests.support.fleet import gateway_over, spec
from tests.support.gateway import GatewayClient

CHAT = "public-chat"
HELLO = [{"role": "user", "content": "你好, fleet"}]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


@pytest.fixture
async def stage() -> AsyncIterator[tuple[GatewayClient, EmulatedFleet]]:
    async with gateway_over(
        spec("chat", "/models/Qwen3.5-9B"),
        spec("embed", "bge", task=Task.EMBED),
        spec("score", "reranker", task=Task.SCORE),
        spec("classify", "classifier", task=Task.CLASSIFY),
        spec("audio", "whisper", task=Task.TRANSCRIBE),
    ) as both:
        yield both


@pytest.fixture
async def client(
    stage: tuple[GatewayClient, EmulatedFleet],
) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai_client(stage[0]) as opened:
        yield opened


async def test_models(client: openai.AsyncOpenAI) -> None:
    listed = [model async for model in client.models.list()]
    names = [f"public-{name}" for name in ("chat", "embed", "score", "classify", "audio")]
    assert [model.id for model in listed] == names
    assert (await client.models.retrieve("alias-chat")).id == "alias-chat"


@pytest.mark.parametrize("name", [CHAT, "alias-chat"])
async def test_chat_whole_and_streamed_say_the_same(client: openai.AsyncOpenAI, name: str) -> None:
    whole = await client.chat.completions.create(model=name, messages=HELLO, max_tokens=12)
    stream = await client.chat.completions.create(
        model=name,
        messages=HELLO,
        max_tokens=12,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in stream]
    assert {chunk.model for chunk in chunks} == {whole.model} == {name}
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    assert text
    assert chunks[-1].usage is not None
    assert whole.usage is not None
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens


async def test_tools_whole_and_streamed(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(
        model=CHAT, messages=HELLO, tools=[TOOL], tool_choice="required", max_tokens=200
    )
    calls = answer.choices[0].message.tool_calls
    assert calls
    stream = await client.chat.completions.create(
        model=CHAT,
        messages=HELLO,
        tools=[TOOL],
        tool_choice="required",
        max_tokens=200,
        stream=True,
    )
    arguments = ""
    async for chunk in stream:
        for call in chunk.choices[0].delta.tool_calls or []:
            arguments += call.function.arguments or ""
    assert arguments == calls[0].function.arguments


async def test_completions(client: openai.AsyncOpenAI) -> None:
    whole = await client.completions.create(model=CHAT, prompt="The gateway", max_tokens=8)
    stream = await client.completions.create(
        model=CHAT, prompt="The gateway", max_tokens=8, stream=True
    )
    text = "".join([chunk.choices[0].text async for chunk in stream])
    assert text == whole.choices[0].text
    assert whole.model == CHAT


async def test_responses(client: openai.AsyncOpenAI) -> None:
    whole = await client.responses.create(model=CHAT, input="hello", max_output_tokens=16)
    assert (whole.model, bool(whole.output_text)) == (CHAT, True)
    stream = await client.responses.create(
        model=CHAT, input="hello", max_output_tokens=16, stream=True
    )
    events = [event async for event in stream]
    assert events[-1].type == "response.completed"
    assert events[-1].response.model == CHAT
    assert events[-1].response.output_text == whole.output_text


async def test_embeddings(client: openai.AsyncOpenAI) -> None:
    answer = await client.embeddings.create(model="public-embed", input=["a", "b"])
    assert answer.model == "public-embed"
    assert [len(one.embedding) for one in answer.data] == [16, 16]
    plain = await client.embeddings.create(model="public-embed", input="a", encoding_format="float")
    assert plain.data[0].embedding == pytest.approx(answer.data[0].embedding, abs=1e-6)


async def test_audio(client: openai.AsyncOpenAI) -> None:
    file = ("speech.wav", io.BytesIO(b"RIFF" + bytes(100_000)))
    said = await client.audio.transcriptions.create(model="public-audio", file=file)
    assert said.text
    file = ("speech.wav", io.BytesIO(b"RIFF" + bytes(100_000)))
    # The client warns that OpenAI's own translations are deprecated; engines still have them.
    with pytest.warns(DeprecationWarning, match="deprecated"):
        translated = await client.audio.translations.create(model="alias-audio", file=file)
    assert translated.text != said.text


async def test_anthropics_messages(stage: tuple[GatewayClient, EmulatedFleet]) -> None:
    async with anthropic_client(stage[0]) as claude:
        ask = {"model": CHAT, "max_tokens": 12, "messages": [{"role": "user", "content": "hi"}]}
        whole = await claude.messages.create(**ask)
        assert (whole.model, whole.content[0].type) == (CHAT, "text")
        async with claude.messages.stream(**ask) as stream:
            text = "".join([part async for part in stream.text_stream])
            last = await stream.get_final_message()
        assert text == whole.content[0].text
        assert (last.model, last.stop_reason) == (CHAT, whole.stop_reason)
        counted = await claude.messages.count_tokens(model=CHAT, messages=ask["messages"])
        assert counted.input_tokens == whole.usage.input_tokens


@pytest.mark.parametrize(
    ("path", "body", "key"),
    [
        ("/v1/rerank", {"model": "public-score", "query": "q", "documents": ["a", "b"]}, "results"),
        ("/v2/rerank", {"model": "public-score", "query": "q", "documents": ["a", "b"]}, "results"),
        ("/rerank", {"model": "public-score", "query": "q", "documents": ["a"]}, "results"),
        ("/score", {"model": "public-score", "text_1": "a", "text_2": ["b", "c"]}, "data"),
        ("/v1/score", {"model": "public-score", "text_1": "a", "text_2": "b"}, "data"),
        ("/classify", {"model": "public-classify", "input": ["a"]}, "data"),
        ("/pooling", {"model": "public-embed", "input": "a"}, "data"),
        ("/tokenize", {"model": CHAT, "prompt": "hello"}, "tokens"),
        ("/detokenize", {"model": CHAT, "tokens": [10, 11]}, "prompt"),
    ],
)
async def test_the_other_endpoints(
    stage: tuple[GatewayClient, EmulatedFleet], path: str, body: dict[str, object], key: str
) -> None:
    answer = await stage[0].post(path, body)
    assert answer.status == 200, answer.body
    assert answer.json()[key]
    if "model" in answer.json():
        assert answer.json()["model"] == body["model"]


async def test_every_kind_of_refusal_is_the_clients_own_exception(
    stage: tuple[GatewayClient, EmulatedFleet], client: openai.AsyncOpenAI
) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        await client.chat.completions.create(model="public-chatt", messages=HELLO)
    assert (missing.value.code, missing.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.BadRequestError) as too_large:
        await client.chat.completions.create(model=CHAT, messages=HELLO, max_tokens=10**6)
    assert "max_model_len" in too_large.value.message
    with pytest.raises(openai.NotFoundError):
        await client.embeddings.create(model=CHAT, input="a")
    async with anthropic_client(stage[0]) as claude:
        with pytest.raises(anthropic.NotFoundError) as unknown:
            await claude.messages.create(model="nobody", max_tokens=1, messages=HELLO)
        assert unknown.value.body["error"]["code"] == "model_not_found"


@pytest.mark.parametrize("kind", [FaultKind.CUT_RST, FaultKind.CUT_FIN, FaultKind.CUT_CLEAN])
async def test_a_cut_stream_raises_in_every_protocol(
    stage: tuple[GatewayClient, EmulatedFleet], client: openai.AsyncOpenAI, kind: FaultKind
) -> None:
    gateway, fleet = stage
    fleet["chat"].set_fault(kind, after_events=8)
    long = 60
    with pytest.raises(openai.APIError, match="could not be completed"):
        async for _ in await client.chat.completions.create(
            model=CHAT, messages=HELLO, max_tokens=long, stream=True
        ):
            pass
    with pytest.raises(openai.APIError, match="could not be completed"):
        async for _ in await client.completions.create(
            model=CHAT, prompt="x", max_tokens=long, stream=True
        ):
            pass
    with pytest.raises(openai.APIError, match="could not be completed"):
        async for _ in await client.responses.create(
            model=CHAT, input="x", max_output_tokens=long, stream=True
        ):
            pass
    async with anthropic_client(gateway) as claude:
        with pytest.raises(anthropic.APIStatusError, match="could not be completed"):
            async with claude.messages.stream(
                model=CHAT, max_tokens=long, messages=HELLO
            ) as stream:
                async for _ in stream:
                    pass
    await gateway.until_idle()


async def test_a_client_that_leaves_frees_the_engine(
    stage: tuple[GatewayClient, EmulatedFleet], client: openai.AsyncOpenAI
) -> None:
    gateway, fleet = stage
    stream = await client.chat.completions.create(
        model=CHAT,
        messages=HELLO,
        max_tokens=2000,
        stream=True,
        extra_body={"ignore_eos": True},
    )
    async for _ in stream:
        break
    assert fleet["chat"].live.driver.engine.running == 1
    await stream.close()
    await gateway.until_idle()
    assert fleet["chat"].live.driver.engine.running == 0
    assert fleet["chat"].live.driver.aborted == 1
