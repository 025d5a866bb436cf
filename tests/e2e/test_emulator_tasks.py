"""Emulated models that don't generate, asked directly: embed, score, classify, transcribe."""

import base64
import io
import json
import struct
from collections.abc import AsyncIterator
from typing import Any

import httpx
import openai
import pytest

from gateway.emulator.audio import said_in
from gateway.emulator.fleet import EmulatedFleet
from gateway.emulator.pooling import relevance, vector
from gateway.emulator.spec import Task
from tests.support.fleet import spec
from tests.support.waiting import LIMIT_S

# Every byte value and line end, so that a careless form parser would change it.
SPEECH = b"RIFF\r\n\r\n--" + bytes(range(256)) * 400 + b"\r\n"


@pytest.fixture
async def fleet() -> AsyncIterator[EmulatedFleet]:
    specs = [
        spec("embed", "embed", task=Task.EMBED),
        spec("score", "score", task=Task.SCORE),
        spec("classify", "classify", task=Task.CLASSIFY),
        spec("audio", "audio", task=Task.TRANSCRIBE),
    ]
    async with EmulatedFleet(specs) as running:
        yield running


def openai_at(fleet: EmulatedFleet, name: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url=f"{fleet[name].url}/v1", api_key="none", max_retries=0, timeout=LIMIT_S
    )


@pytest.fixture
async def embed(fleet: EmulatedFleet) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai_at(fleet, "embed") as client:
        yield client


@pytest.fixture
async def audio(fleet: EmulatedFleet) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai_at(fleet, "audio") as client:
        yield client


async def post(fleet: EmulatedFleet, name: str, path: str, **request: Any) -> httpx.Response:
    async with httpx.AsyncClient(
        base_url=fleet[name].url, trust_env=False, timeout=LIMIT_S
    ) as http:
        return await http.post(path, **request)


# -- embeddings and the like ---------------------------------------------------------------------


@pytest.mark.parametrize("size", [None, 4, 100])
async def test_embeddings_in_both_encodings(embed: openai.AsyncOpenAI, size: int | None) -> None:
    texts = ["a", "你好"]
    extra = {} if size is None else {"dimensions": size}
    floats = await embed.embeddings.create(
        model="embed", input=texts, encoding_format="float", **extra
    )
    # The client asks for base64 by itself and decodes it.
    packed = await embed.embeddings.create(model="embed", input=texts, **extra)
    assert [one.embedding for one in floats.data] == [vector(t, size or 16) for t in texts]
    for one, other in zip(floats.data, packed.data, strict=True):
        assert other.embedding == pytest.approx(one.embedding, abs=1e-6)
    assert floats.data[0].embedding != floats.data[1].embedding
    assert floats.usage.prompt_tokens == floats.usage.total_tokens > 0


async def test_base64_is_little_endian_single_precision(fleet: EmulatedFleet) -> None:
    body = {"model": "embed", "input": "a", "encoding_format": "base64", "dimensions": 3}
    answer = await post(fleet, "embed", "/v1/embeddings", json=body)
    raw = base64.b64decode(answer.json()["data"][0]["embedding"])
    assert struct.unpack("<3f", raw) == pytest.approx(vector("a", 3), abs=1e-6)


async def test_token_ids_are_one_text_each_list(embed: openai.AsyncOpenAI) -> None:
    one = await embed.embeddings.create(model="embed", input=[1, 2, 3])
    two = await embed.embeddings.create(model="embed", input=[[1, 2, 3], [4]])
    assert (len(one.data), len(two.data)) == (1, 2)
    assert one.data[0].embedding == two.data[0].embedding


async def test_rerank_puts_the_best_first(fleet: EmulatedFleet) -> None:
    documents = ["a", "b", "c", "d"]
    body = {"model": "score", "query": "q", "documents": documents}
    ranked = (await post(fleet, "score", "/v1/rerank", json=body)).json()
    scores = [result["relevance_score"] for result in ranked["results"]]
    assert scores == sorted(scores, reverse=True)
    for result in ranked["results"]:
        text = documents[result["index"]]
        assert result["document"] == {"text": text, "multi_modal": None}
        assert result["relevance_score"] == relevance("q", text)
    first = (await post(fleet, "score", "/v1/rerank", json={**body, "top_n": 2})).json()
    assert first["results"] == ranked["results"][:2]


@pytest.mark.parametrize(
    ("one", "two", "pairs"),
    [
        ("a", "b", [("a", "b")]),
        ("a", ["b", "c"], [("a", "b"), ("a", "c")]),
        (["a", "b"], ["c", "d"], [("a", "c"), ("b", "d")]),
        (["a", "b"], ["c", "d", "e"], None),
    ],
    ids=["one to one", "one to many", "each to each", "uneven"],
)
async def test_score_pairs(
    fleet: EmulatedFleet, one: Any, two: Any, pairs: list[tuple[str, str]] | None
) -> None:
    body = {"model": "score", "text_1": one, "text_2": two}
    answer = await post(fleet, "score", "/score", json=body)
    if pairs is None:
        assert (answer.status_code, "1:N" in answer.text) == (400, True)
    else:
        assert [e["score"] for e in answer.json()["data"]] == [relevance(*pair) for pair in pairs]


async def test_classify_gives_the_likelier_label(fleet: EmulatedFleet) -> None:
    texts = [f"text {index}" for index in range(8)]
    answer = await post(fleet, "classify", "/classify", json={"model": "classify", "input": texts})
    data = answer.json()["data"]
    for entry in data:
        likelier = entry["probs"].index(max(entry["probs"]))
        assert (entry["label"], entry["num_classes"]) == (f"LABEL_{likelier}", 2)
        assert sum(entry["probs"]) == pytest.approx(1.0)
    assert {entry["label"] for entry in data} == {"LABEL_0", "LABEL_1"}


@pytest.mark.parametrize(
    ("name", "path", "body", "param"),
    [
        ("embed", "/v1/embeddings", {}, "body.input"),
        ("embed", "/pooling", {}, "body.input"),
        ("classify", "/classify", {}, "body.input"),
        ("score", "/score", {"text_2": "b"}, "body.text_1"),
        ("score", "/score", {"text_1": "a"}, "body.text_2"),
        ("score", "/rerank", {"documents": ["a"]}, "body.query"),
        ("score", "/rerank", {"query": "q"}, "body.documents"),
    ],
)
async def test_a_missing_field_is_refused(
    fleet: EmulatedFleet, name: str, path: str, body: dict[str, Any], param: str
) -> None:
    answer = await post(fleet, name, path, json=body)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


# -- audio ---------------------------------------------------------------------------------------


def speech() -> tuple[str, io.BytesIO]:
    return ("speech.wav", io.BytesIO(SPEECH))


async def test_transcriptions_hear_the_file_as_it_was_sent(audio: openai.AsyncOpenAI) -> None:
    said = await audio.audio.transcriptions.create(model="audio", file=speech())
    assert said.text == said_in(SPEECH, "transcribed")
    assert (said.usage.type, said.usage.seconds) == ("duration", len(SPEECH) // 32_000)
    plain = await audio.audio.transcriptions.create(
        model="audio", file=speech(), response_format="text"
    )
    assert plain == said.text


async def test_a_streamed_transcription_says_the_same(fleet: EmulatedFleet) -> None:
    form = {"data": {"model": "audio", "stream": "true"}, "files": {"file": ("a.wav", SPEECH)}}
    for path, kind, name in (
        ("/v1/audio/transcriptions", "transcribed", "transcription.chunk"),
        ("/v1/audio/translations", "translated", "translation.chunk"),
    ):
        answer = await post(fleet, "audio", path, **form)
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        *events, done, end = answer.text.split("\n\n")
        assert (done, end) == ("data: [DONE]", "")
        chunks = [json.loads(event.removeprefix("data: ")) for event in events]
        assert {chunk["object"] for chunk in chunks} == {name}
        choices = [chunk["choices"][0] for chunk in chunks]
        assert "".join(choice["delta"]["content"] for choice in choices) == said_in(SPEECH, kind)
        assert [choice.get("finish_reason") for choice in choices[-2:]] == [None, "stop"]


async def test_translations_have_no_usage(fleet: EmulatedFleet) -> None:
    form = {"data": {"model": "audio"}, "files": {"file": ("a.wav", SPEECH)}}
    answer = await post(fleet, "audio", "/v1/audio/translations", **form)
    assert answer.json() == {"text": said_in(SPEECH, "translated")}


async def test_audio_forms_are_checked(fleet: EmulatedFleet, audio: openai.AsyncOpenAI) -> None:
    path = "/v1/audio/transcriptions"
    unnamed = await post(fleet, "audio", path, files={"other": ("a.wav", SPEECH)})
    assert (unnamed.status_code, unnamed.json()["error"]["param"]) == (400, "body.file")
    assert (await post(fleet, "audio", path, json={"model": "audio"})).status_code == 400
    with pytest.raises(openai.NotFoundError, match="nobody"):
        await audio.audio.transcriptions.create(model="nobody", file=speech())
