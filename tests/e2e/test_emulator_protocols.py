"""The official clients straight at an emulated backend: the Responses and Messages APIs."""

from collections.abc import AsyncIterator
from typing import Any

import anthropic
import httpx
import openai
import pytest

from gateway.emulator.fleet import EmulatedFleet
from tests.support.fleet import spec
from tests.support.waiting import LIMIT_S

ASK: dict[str, Any] = {
    "model": "chat",
    "max_tokens": 40,
    "messages": [{"role": "user", "content": "Please wait, 请稍等"}],
}


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with EmulatedFleet([spec("chat", "chat", time_scale=1000.0)]) as fleet:
        yield fleet["chat"].url


@pytest.fixture
async def chat(url: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=LIMIT_S
    ) as client:
        yield client


@pytest.fixture
async def claude(url: str) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(
        base_url=url, api_key="none", max_retries=0, timeout=LIMIT_S
    ) as client:
        yield client


# -- responses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "status"), [(5, "incomplete"), (2000, "completed")], ids=["limit", "end"]
)
async def test_responses_whole_and_streamed_say_the_same(
    chat: openai.AsyncOpenAI, limit: int, status: str
) -> None:
    ask: dict[str, Any] = {"model": "chat", "input": "hello", "max_output_tokens": limit}
    whole = await chat.responses.create(**ask)
    events = [event async for event in await chat.responses.create(**ask, stream=True)]
    last = events[-1].response
    deltas = [e.delta for e in events if e.type == "response.output_text.delta"]
    assert whole.output_text == last.output_text == "".join(deltas) != ""
    assert whole.status == last.status == status
    assert whole.usage == last.usage
    assert (whole.usage.output_tokens == limit) is (status == "incomplete")
    assert [e.sequence_number for e in events] == list(range(len(events)))
    assert {e.response.id for e in events if hasattr(e, "response")} == {last.id}


async def test_responses_read_instructions_and_messages(chat: openai.AsyncOpenAI) -> None:
    async def say(**fields: Any) -> str:
        answer = await chat.responses.create(model="chat", max_output_tokens=12, **fields)
        return answer.output_text

    parts = [{"role": "user", "content": [{"type": "input_text", "text": "hello"}]}]
    assert await say(input="hello") == await say(input=parts)
    assert await say(input="hello") != await say(input="hello", instructions="Be brief.")


async def test_no_response_is_stored(chat: openai.AsyncOpenAI) -> None:
    made = await chat.responses.create(model="chat", input="hello", max_output_tokens=4)
    for attempt in (
        chat.responses.retrieve(made.id),
        chat.responses.create(model="chat", input="more", previous_response_id=made.id),
    ):
        with pytest.raises(openai.NotFoundError, match="not found") as unknown:
            await attempt
        assert unknown.value.param == "response_id"


async def test_responses_without_input_are_refused(url: str) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=LIMIT_S) as http:
        answer = await http.post("/v1/responses", json={"model": "chat"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "body.input")


# -- messages ------------------------------------------------------------------------------------


async def test_messages_whole_and_streamed_say_the_same(claude: anthropic.AsyncAnthropic) -> None:
    whole = await claude.messages.create(**ASK)
    async with claude.messages.stream(**ASK) as stream:
        text = "".join([part async for part in stream.text_stream])
        last = await stream.get_final_message()
    assert text == whole.content[0].text != ""
    assert (last.stop_reason, last.usage.output_tokens) == (
        whole.stop_reason,
        whole.usage.output_tokens,
    )
    counted = await claude.messages.count_tokens(model="chat", messages=ASK["messages"])
    assert counted.input_tokens == whole.usage.input_tokens == last.usage.input_tokens


async def test_a_system_prompt_counts(claude: anthropic.AsyncAnthropic) -> None:
    plain = await claude.messages.count_tokens(model="chat", messages=ASK["messages"])
    more = await claude.messages.count_tokens(
        model="chat", messages=ASK["messages"], system="Be brief."
    )
    assert more.input_tokens > plain.input_tokens


async def test_a_stop_sequence_ends_a_message(claude: anthropic.AsyncAnthropic) -> None:
    whole = (await claude.messages.create(**ASK)).content[0].text
    stop = whole[10:14]
    ask = {**ASK, "stop_sequences": [stop]}
    stopped = await claude.messages.create(**ask)
    async with claude.messages.stream(**ask) as stream:
        last = await stream.get_final_message()
    for message in (stopped, last):
        assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", stop)
        assert message.content[0].text == whole[: whole.index(stop)]


async def test_messages_ignore_the_sampling_fields_of_chat(
    claude: anthropic.AsyncAnthropic,
) -> None:
    long = {**ASK, "max_tokens": 4000}
    plain = await claude.messages.create(**long)
    assert plain.stop_reason == "end_turn"
    extra = {"ignore_eos": True, "min_tokens": 3000, "stop": [plain.content[0].text[:3]]}
    asked = await claude.messages.create(**long, extra_body=extra)
    assert asked.content == plain.content


async def test_messages_refuse_in_anthropics_words(claude: anthropic.AsyncAnthropic) -> None:
    for attempt in (
        claude.messages.create(**{**ASK, "model": "nobody"}),
        claude.messages.count_tokens(model="nobody", messages=ASK["messages"]),
    ):
        with pytest.raises(anthropic.NotFoundError) as unknown:
            await attempt
        assert unknown.value.body["type"] == "error"
        assert set(unknown.value.body["error"]) == {"type", "message"}
