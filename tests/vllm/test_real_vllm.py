"""The official clients against two real vLLM servers behind one gateway.

The last test kills an engine, so the order of the file matters.
"""

import contextlib
import json
import os
import signal
from collections.abc import Iterator

import anthropic
import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

from tests.vllm.servers import Engine, Gateway, get, until

SMALL, LARGE = "qwen3.5-9b", "qwen3.5-27b"
TWINS = ("twin-text", "twin-exact")
SPECIAL_TOKENS = range(16)
HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "hello"}]
# Ten seconds of text, so that an answer never ends by itself while a test looks at it.
LONG_BODY = {"messages": HELLO, "max_tokens": 3000, "ignore_eos": True}


def test_models_are_listed_by_their_public_names(client: openai.OpenAI) -> None:
    listed = {model.id: model for model in client.models.list()}
    assert set(listed) == {SMALL, LARGE, *TWINS}
    for model in listed.values():
        assert isinstance(model.created, int)
        assert model.model_extra is not None
        assert model.model_extra["max_model_len"] == 4096
    assert client.models.retrieve(LARGE).id == LARGE


@pytest.mark.parametrize("name", [SMALL, LARGE, "gpt-4o-mini"])
def test_chat(client: openai.OpenAI, name: str) -> None:
    answer = client.chat.completions.create(model=name, messages=HELLO, max_tokens=16)
    assert answer.model == name
    assert answer.choices[0].message.content
    assert answer.choices[0].finish_reason in {"stop", "length"}
    assert answer.usage is not None
    assert 0 < answer.usage.completion_tokens <= 16


@pytest.mark.parametrize("name", [SMALL, LARGE, "gpt-4o-mini"])
def test_a_stream_says_the_same_as_the_whole_answer(client: openai.OpenAI, name: str) -> None:
    whole = client.chat.completions.create(model=name, messages=HELLO, max_tokens=24, temperature=0)
    with client.chat.completions.create(
        model=name,
        messages=HELLO,
        max_tokens=24,
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
    ) as stream:
        chunks = list(stream)
    assert {chunk.model for chunk in chunks} == {name}
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] is not None
    assert chunks[-1].usage == whole.usage


def test_completions_responses_and_messages(
    client: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    completion = client.completions.create(model="gpt-4o-mini", prompt="hello", max_tokens=8)
    assert (completion.model, bool(completion.choices[0].text)) == ("gpt-4o-mini", True)

    response = client.responses.create(model="gpt-4o-mini", input="hello", max_output_tokens=16)
    assert (response.model, bool(response.output_text)) == ("gpt-4o-mini", True)

    message = claude.messages.create(
        model="gpt-4o-mini", max_tokens=16, messages=[{"role": "user", "content": "hello"}]
    )
    assert message.model == "gpt-4o-mini"
    assert message.usage.output_tokens > 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("qwen3.5-9", [SMALL]),
        ("Qwen3.5-27B", [LARGE, "case"]),
        ("vllm-ascend-qwen3", [LARGE, "container"]),
        ("vllm-ascend-qwen3.5", [SMALL, "container"]),
    ],
)
@pytest.mark.parametrize("is_stream", [False, True])
def test_a_wrong_name_is_answered_with_the_right_one(
    client: openai.OpenAI, name: str, said: list[str], is_stream: bool
) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model=name, messages=HELLO, stream=is_stream)
    assert caught.value.code == "model_not_found"
    assert caught.value.param == "model"
    assert [word for word in said if word not in caught.value.message] == []


def test_the_engines_own_refusal_arrives_as_it_is(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model=SMALL, messages=HELLO, max_tokens=100_000)
    assert "max_model_len" in caught.value.message


@contextlib.contextmanager
def raw_stream(gateway: Gateway, name: str) -> Iterator[tuple[httpx.Response, Iterator[str]]]:
    """A chat stream as its lines, without a client's interpretation."""
    body = {**LONG_BODY, "model": name, "stream": True}
    with (
        httpx.Client(trust_env=False, verify=False, timeout=60) as http,
        http.stream("POST", f"{gateway.url}/v1/chat/completions", json=body) as response,
    ):
        yield response, response.iter_lines()


def long_stream(client: openai.OpenAI, name: str) -> openai.Stream[ChatCompletionChunk]:
    return client.chat.completions.create(
        model=name, messages=HELLO, stream=True, max_tokens=3000, extra_body={"ignore_eos": True}
    )


def states(gateway: Gateway) -> set[str]:
    backends = gateway.health()["backends"]
    assert isinstance(backends, dict)
    return {backend["state"] for backend in backends.values()}


def in_flight_everywhere(gateway: Gateway) -> int:
    backends = gateway.health()["backends"]
    assert isinstance(backends, dict)
    return sum(backend["in_flight"] for backend in backends.values())


def test_a_client_that_leaves_a_stream_frees_the_engine(
    client: openai.OpenAI, gateway: Gateway, engines: dict[str, Engine]
) -> None:
    engine = engines[SMALL]
    stream = long_stream(client, SMALL)
    next(stream)
    until(lambda: engine.running() == 1, 5, "the engine runs the request")
    stream.close()
    until(lambda: engine.running() == 0, 1, "the engine has dropped the request")
    until(lambda: in_flight_everywhere(gateway) == 0, 5, "the slot is free")


def test_a_client_that_leaves_before_its_answer_frees_the_engine(
    gateway: Gateway, engines: dict[str, Engine]
) -> None:
    engine = engines[SMALL]
    body = {**LONG_BODY, "model": SMALL}
    with (
        httpx.Client(trust_env=False, verify=False, timeout=httpx.Timeout(60, read=2)) as http,
        pytest.raises(httpx.ReadTimeout),
    ):
        http.post(f"{gateway.url}/v1/chat/completions", json=body)
    until(lambda: engine.running() == 0, 1, "the engine has dropped the request")
    until(lambda: in_flight_everywhere(gateway) == 0, 5, "the slot is free")


def greedy(client: openai.OpenAI, name: str) -> openai.Stream[ChatCompletionChunk]:
    return client.chat.completions.create(
        model=name,
        messages=HELLO,
        stream=True,
        stream_options={"include_usage": True},
        temperature=0,
        max_tokens=1000,
        # Without an end of its own the answer is long enough to be broken. Banned, and not just
        # ignored: an ignored end is a token without text, so a text would not be all of it.
        logit_bias={str(token): -100 for token in SPECIAL_TOKENS},
    )


def said(chunks: list[ChatCompletionChunk]) -> dict[str, object]:
    """Everything of a stream that must be the same whether or not it was broken."""
    choices = [choice for chunk in chunks for choice in chunk.choices]
    usage = chunks[-1].usage
    return {
        "text": "".join(c.delta.content or "" for c in choices),
        "roles": [c.delta.role for c in choices if c.delta.role],
        "finishes": [c.finish_reason for c in choices if c.finish_reason],
        "ids": len({chunk.id for chunk in chunks}),
        "models": {chunk.model for chunk in chunks},
        "usage": None if usage is None else (usage.prompt_tokens, usage.completion_tokens),
    }


def test_an_engine_killed_in_mid_stream(
    client: openai.OpenAI, gateway: Gateway, engines: dict[str, Engine]
) -> None:
    """What another engine can go on with is one whole stream; the rest never looks like an end."""
    core_pid = engines[LARGE].core_pid()
    whole = {name: said(list(greedy(client, name))) for name in TWINS}
    with raw_stream(gateway, LARGE) as (response, lines):
        assert response.status_code == 200
        stream = long_stream(client, LARGE)
        twins = {name: greedy(client, name) for name in TWINS}
        begun = {name: [next(twin) for _ in range(20)] for name, twin in twins.items()}
        for _ in range(5):
            assert next(stream).model == LARGE
            next(lines)
        os.kill(core_pid, signal.SIGKILL)

        with pytest.raises(openai.APIError) as caught, stream:
            for _ in stream:
                pass
        rest = [line for line in lines if line]

    for name, twin in twins.items():
        assert said([*begun[name], *twin]) == whole[name]
    told = json.loads(get(f"{gateway.url}/admin/events?kind=resume")[1])["events"]
    assert {event["model"] for event in told} == set(TWINS), get(f"{gateway.url}/admin/events")[1]
    assert caught.value.message
    assert "data: [DONE]" not in rest
    last = json.loads(rest[-1].removeprefix("data:"))
    assert set(last["error"]) >= {"message", "type", "code", "param"}
    assert 'finish_reason":"stop' not in "".join(rest)


def test_after_it_the_model_is_down_and_the_other_one_is_not(
    client: openai.OpenAI, gateway: Gateway
) -> None:
    until(lambda: "down" in states(gateway), 30, "the loss is noticed")
    with pytest.raises(openai.InternalServerError) as caught:
        client.chat.completions.create(model=LARGE, messages=HELLO)
    assert caught.value.status_code == 503
    assert caught.value.code == "no_backend_available"
    assert int(caught.value.response.headers["retry-after"]) > 0

    answer = client.chat.completions.create(model=SMALL, messages=HELLO, max_tokens=8)
    assert answer.model == SMALL
    assert get(f"{gateway.url}/readyz")[0] == 200
