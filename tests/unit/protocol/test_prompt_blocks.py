"""Prompts as text and blocks: what they have in common, and what clients send all the same."""

from typing import Any

import pytest

from gateway.protocol.prompt_blocks import BLOCK_BYTES, prompt_text
from gateway.protocol.response_id import response_id_in

LONG = "some words and more of them " * 100


def chat(*texts: str, **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text} for text in texts], **more}


def shared(one: dict[str, Any], other: dict[str, Any]) -> int:
    pairs = zip(prompt_text(one, "m").blocks, prompt_text(other, "m").blocks, strict=False)
    return sum(a == b for a, b in pairs)


def test_prompts_that_begin_alike_share_their_first_blocks() -> None:
    one, other = chat(LONG, "and then this"), chat(LONG, "and then that", max_tokens=5)
    assert shared(one, other) == len(LONG) // BLOCK_BYTES
    assert shared(one, chat("x" + LONG)) == 0


def test_what_shares_no_cache_shares_no_blocks() -> None:
    assert prompt_text(chat(LONG), "m").blocks != prompt_text(chat(LONG), "lora").blocks


def test_tools_come_first() -> None:
    tools = [{"type": "function", "function": {"name": LONG}}]
    assert shared(chat(LONG, tools=tools), chat("other", tools=tools)) >= len(LONG) // BLOCK_BYTES


@pytest.mark.parametrize(
    ("part", "medium"),
    [
        ({"type": "image_url", "image_url": {"url": "data:x"}}, "image"),
        ({"type": "input_audio", "input_audio": {"data": "x"}}, "audio"),
        ({"type": "video_url", "video_url": {"url": "x"}}, "video"),
        ({"type": "image", "source": {"data": "x"}}, "image"),
    ],
)
def test_media_are_seen_and_do_not_count_as_text(part: dict[str, Any], medium: str) -> None:
    found = prompt_text({"messages": [{"role": "user", "content": [part]}]}, "m")
    assert found.media == {medium}
    assert found.chars < 60


def test_ids_are_exact_and_count_once() -> None:
    ids = list(range(20_000))
    found = prompt_text({"prompt": ids}, "m")
    assert (found.token_ids, found.chars, found.utf8_bytes) == (20_000, 0, 0)
    assert shared({"prompt": ids}, {"prompt": [*ids[:10_000], 7, *ids[10_000:]]}) > 50


@pytest.mark.parametrize(
    "payload",
    [
        {"messages": "x"},
        {"messages": [None, 1, [], {"content": None}, {"content": [None, 5, {"text": 3}]}]},
        {"tools": {}},
        {"prompt": [[1, 2], [3]]},
        {"prompt": ["a", 5, None]},
        {"input": [{"type": "message", "content": [{"type": "input_text", "text": "x"}]}]},
        chat("\ud83d"),
        chat("x", tools=[{"name": "\ud83d"}]),
        {"messages": [{"role": "assistant", "tool_calls": [{"arguments": "\ud83d"}]}]},
        {"messages": [{"content": [{"type": "image_url", "image_url": "\ud83d"}]}]},
    ],
)
def test_odd_prompts_are_taken_as_they_are(payload: dict[str, Any]) -> None:
    assert prompt_text(payload, "m").utf8_bytes >= 0


@pytest.mark.parametrize(
    ("begin", "expected"),
    [
        (b'{"id": "resp_12ab", "object": "response"}', "resp_12ab"),
        (b'event: response.created\ndata: {"response":{"id":"resp_9"}}\n\n', "resp_9"),
        (b'{"id": "chatcmpl-1"}', None),
        (b"", None),
        (b" " * 5000 + b'{"id": "resp_late"}', None),
    ],
)
def test_the_id_of_a_response(begin: bytes, expected: str | None) -> None:
    assert response_id_in(begin) == expected
