"""Who may serve a request at all: context, what it takes beside text, keys, and the tier asked for.

`/admin/explain` names the reason of each backend that was left out.
"""

import asyncio
from typing import Any

import pytest

from tests.support import wire
from tests.support.gateway import CHAT, GatewayClient, chat_request, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import Tree, backend, model, routes
from tests.support.upstream import Exchange, ScriptedUpstream

SHORT, LONG = 2048, 16_384
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
SOUND = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
HINT = {"type": "text", "text": "what is this?"}


def pair(
    u1: ScriptedUpstream, u2: ScriptedUpstream, first: Tree, second: Tree, **fields: Any
) -> Tree:
    """The model m1 on two backends that differ."""
    entries = [backend("u1", u1, **first), backend("u2", u2, **second)]
    return routes(entries, [model("m1", "u1", "u2", **fields)], health={"canary": False})


async def explained(gateway: GatewayClient, answer: RawAnswer) -> dict[str, Any]:
    """The reasons why backends were left out, by backend, in all decisions on this request."""
    told = await gateway.get(f"/admin/explain?request_id={answer.header('x-request-id')}")
    assert told.status == 200
    return {
        one["backend"]: one["refused"]["why"]
        for decision in told.json()["decisions"]
        for one in decision["backends"]
        if one.get("refused") is not None
    }


def seen(*upstreams: ScriptedUpstream) -> list[int]:
    """How many requests each had since it was asked last."""
    counts = [len(one.requests) for one in upstreams]
    for one in upstreams:
        one.requests.clear()
    return counts


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_long_prompts_go_to_the_longer_context(stream: bool) -> None:
    async with (
        ScriptedUpstream("m1", max_model_len=SHORT) as u1,
        ScriptedUpstream("m1", max_model_len=LONG) as u2,
        running_gateway(pair(u1, u2, {}, {})) as gateway,
    ):
        messages = [{"role": "user", "content": "a long story " * 2000}]
        for _ in range(6):
            answer = await gateway.chat("m1", messages=messages, stream=stream)
            assert answer.status == 200
        assert seen(u1, u2) == [0, 6]
        assert await explained(gateway, answer) == {"u1": "context_too_short"}


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        (CHAT, {**chat_request("m1"), "max_tokens": 8000}),
        (CHAT, {**chat_request("m1"), "max_completion_tokens": 8000}),
        ("/v1/completions", {"model": "m1", "prompt": "hi", "max_tokens": 8000}),
        ("/v1/completions", {"model": "m1", "prompt": list(range(4000)), "max_tokens": 10}),
        ("/v1/responses", {"model": "m1", "input": "hi", "max_output_tokens": 8000}),
        ("/v1/messages", {**chat_request("m1"), "max_tokens": 8000}),
        ("/v1/embeddings", {"model": "m1", "input": "words " * 6000}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(sorted(value)),
)
async def test_what_is_asked_of_the_answer_counts(path: str, fields: dict[str, Any]) -> None:
    async with (
        ScriptedUpstream("m1", max_model_len=SHORT) as u1,
        ScriptedUpstream("m1", max_model_len=LONG) as u2,
        running_gateway(pair(u1, u2, {}, {})) as gateway,
    ):
        for _ in range(4):
            assert (await gateway.post(path, fields)).status == 200
        assert seen(u1, u2) == [0, 4]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("how", ["prompt", "answer", "both"])
async def test_what_fits_nowhere_is_refused_with_the_largest_limit(how: str, stream: bool) -> None:
    fields: dict[str, Any] = {"stream": stream}
    if how != "answer":
        fields["messages"] = [{"role": "user", "content": "x" * 150_000}]
    if how != "prompt":
        fields["max_tokens"] = 16_000 if how == "both" else 20_000
    async with (
        ScriptedUpstream("m1", max_model_len=SHORT) as u1,
        ScriptedUpstream("m1", max_model_len=LONG) as u2,
        running_gateway(pair(u1, u2, {}, {})) as gateway,
    ):
        if how == "prompt":
            fields["messages"] = [{"role": "user", "content": "x" * 400_000}]
        answer = await gateway.chat("m1", **fields)
        assert (answer.status, answer.error["code"]) == (400, "context_length_exceeded")
        assert str(LONG) in answer.error["message"]
        assert "m1" in answer.error["message"]
        assert seen(u1, u2) == [0, 0]


async def too_long(exchange: Exchange) -> None:
    """As vLLM refuses it."""
    message = (
        f"This model's maximum context length is {LONG} tokens. However, you requested 40000 "
        "output tokens. Please reduce the length of the messages or completion."
    )
    error = {"message": message, "type": "BadRequestError", "param": None, "code": 400}
    await exchange.answer(400, wire.compact({"error": error}))


async def test_a_fallback_with_more_context_is_asked() -> None:
    """Too long for all of the model's own backends, but not for those of its fallback."""
    async with (
        ScriptedUpstream("m1", max_model_len=SHORT) as u1,
        ScriptedUpstream("m1", max_model_len=2 * SHORT) as u2,
        ScriptedUpstream("m2", max_model_len=LONG) as u3,
    ):
        config = pair(u1, u2, {}, {}, fallback_models=["m2"])
        config["backends"].append(backend("u3", u3))
        config["models"].append(model("m2", "u3"))
        async with running_gateway(config) as gateway:
            assert (await gateway.chat("m1", max_tokens=10_000)).status == 200
            assert seen(u1, u2, u3) == [0, 0, 1]
            # Its backends are all alike, so the engine says best what is wrong.
            u3.handlers[CHAT] = too_long
            refused = await gateway.chat("m1", max_tokens=40_000)
            assert refused.status == 400
            assert str(LONG) in refused.error["message"], "not the largest limit there is"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("part", [PICTURE, SOUND], ids=["image", "audio"])
async def test_pictures_go_to_who_sees(part: dict[str, Any], stream: bool) -> None:
    media = "image" if part is PICTURE else "audio"
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        config = pair(u1, u2, {"modalities": []}, {"modalities": [media]})
        async with running_gateway(config) as gateway:
            messages = [{"role": "user", "content": [HINT, part]}]
            for _ in range(6):
                answer = await gateway.chat("m1", messages=messages, stream=stream)
                assert answer.status == 200
            assert seen(u1, u2) == [0, 6]
            assert await explained(gateway, answer) == {"u1": "modality"}
            # Text is for both.
            told = await asyncio.gather(*(gateway.chat("m1", stream=stream) for _ in range(20)))
            assert {one.status for one in told} == {200}
            assert min(seen(u1, u2)) > 0


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("others", [[], ["audio"]])
async def test_pictures_that_nobody_sees(others: list[str], stream: bool) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        config = pair(u1, u2, {"modalities": []}, {"modalities": others})
        async with running_gateway(config) as gateway:
            messages = [{"role": "user", "content": [HINT, PICTURE]}]
            answer = await gateway.chat("m1", messages=messages, stream=stream)
            assert seen(u1, u2) == [0, 0]
            assert await explained(gateway, answer) == {"u1": "modality", "u2": "modality"}
            assert "image" in answer.error["message"]
            # Trying again is of no use: it is the request that has to change.
            assert (answer.status, answer.error["code"]) == (400, "modality_not_supported")
            assert answer.header("retry-after") is None


async def test_a_picture_in_the_dialect_of_anthropic() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    content = [{"type": "text", "text": "?"}, {"type": "image", "source": source}]
    body = {"model": "m1", "max_tokens": 5, "messages": [{"role": "user", "content": content}]}
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        config = pair(u1, u2, {"modalities": []}, {"modalities": ["image"]})
        async with running_gateway(config) as gateway:
            for _ in range(4):
                assert (await gateway.post("/v1/messages", body)).status == 200
            assert seen(u1, u2) == [0, 4]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_backend_for_some_keys(stream: bool) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        config = pair(u1, u2, {"keys": ["team-a"]}, {})
        keys = ("team-a=key-a", "team-b=key-b")
        async with running_gateway(config, client_keys=keys) as gateway:
            for _ in range(6):
                headers = [("Authorization", "Bearer key-b")]
                answer = await gateway.chat("m1", headers, stream=stream)
                assert answer.status == 200
            assert seen(u1, u2) == [0, 6]
            assert await explained(gateway, answer) == {"u1": "not_permitted"}
            ours = [("Authorization", "Bearer key-a")]
            told = await asyncio.gather(*(gateway.chat("m1", ours) for _ in range(20)))
            assert {one.status for one in told} == {200}
            assert min(seen(u1, u2)) > 0


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_key_that_no_backend_serves(stream: bool) -> None:
    async with ScriptedUpstream("m1") as u1, ScriptedUpstream("m1") as u2:
        config = pair(u1, u2, {"keys": ["team-a"]}, {"keys": ["team-a"]})
        keys = ("team-a=key-a", "team-b=key-b")
        async with running_gateway(config, client_keys=keys) as gateway:
            answer = await gateway.chat("m1", [("Authorization", "Bearer key-b")], stream=stream)
            assert seen(u1, u2) == [0, 0]
            why = await explained(gateway, answer)
            assert why == {"u1": "not_permitted", "u2": "not_permitted"}
            assert "key-b" not in answer.error["message"].replace("'team-b'", "")
            # Trying again is of no use: the key has to change.
            assert (answer.status, answer.error["code"]) == (403, "model_not_permitted")


@pytest.mark.parametrize("tier", ["eager", "graph", "EAGER"])
async def test_a_client_may_ask_for_a_tier(tier: str) -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_gateway(pair(u1, u2, {}, {"tier": "eager"})) as gateway,
    ):
        for stream in (False, True, False, True):
            answer = await gateway.chat("m1", [("x-tier", tier)], stream=stream)
            assert answer.status == 200
        is_graph = tier == "graph"
        assert seen(u1, u2) == ([4, 0] if is_graph else [0, 4])
        assert await explained(gateway, answer) == {"u2" if is_graph else "u1": "tier"}


async def test_a_tier_that_nobody_has_and_one_that_is_none() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        ScriptedUpstream("m1") as u2,
        running_gateway(pair(u1, u2, {}, {})) as gateway,
    ):
        odd = await gateway.chat("m1", [("x-tier", "fast")])
        assert (odd.status, odd.error["code"]) == (400, "invalid_header")
        assert "x-tier" in odd.error["message"]
        nobody = await gateway.chat("m1", [("x-tier", "eager")])
        assert await explained(gateway, nobody) == {"u1": "tier", "u2": "tier"}
        assert nobody.status in (400, 503)
        assert "tier" in nobody.error["message"]
        assert seen(u1, u2) == [0, 0]
