"""Which streams may be continued, how, and with which requests."""

from typing import Any

import pytest

from gateway.config.vocabulary import Resume
from gateway.protocol.chunks import Protocol
from gateway.protocol.splice import Way
from gateway.protocol.transcript import Transcript
from gateway.recovery.resume import request_for, ways, why_not

CHAT, TEXT = Protocol.OPENAI_CHAT, Protocol.OPENAI_COMPLETIONS
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def said(content: str = "", reasoning: str = "", ids: list[int] | None = None) -> Transcript:
    transcript = Transcript()
    if reasoning:
        transcript.add(reasoning=reasoning)
    if content:
        transcript.add(content)
    transcript.add_ids(ids)
    if ids:
        transcript.prompt_token_ids = [7, 8]
    return transcript


@pytest.mark.parametrize(
    ("fields", "protocol", "mode", "is_possible"),
    [
        ({}, CHAT, Resume.TEXT, True),
        ({"n": 1, "logprobs": False, "tool_choice": "auto"}, CHAT, Resume.TEXT, True),
        ({"response_format": {"type": "text"}}, CHAT, Resume.TEXT, True),
        ({"tools": [{}]}, CHAT, Resume.TEXT, True),
        ({}, CHAT, Resume.OFF, False),
        ({}, Protocol.RESPONSES, Resume.TEXT, False),
        ({}, Protocol.MESSAGES, Resume.TEXT, False),
        ({"n": 2}, CHAT, Resume.TEXT, False),
        ({"use_beam_search": True}, CHAT, Resume.TEXT, False),
        ({"logprobs": True}, CHAT, Resume.TEXT, False),
        ({"logprobs": 3}, TEXT, Resume.TEXT, False),
        ({"prompt_logprobs": 1}, CHAT, Resume.TEXT, False),
        ({"response_format": {"type": "json_schema"}}, CHAT, Resume.TEXT, False),
        ({"guided_json": {}}, CHAT, Resume.TEXT, True),
        ({"guided_regex": "a+"}, CHAT, Resume.TEXT, False),
        ({"structured_outputs": {"choice": ["a"]}}, CHAT, Resume.TEXT, False),
        ({"tool_choice": "required"}, CHAT, Resume.TEXT, False),
        ({"tool_choice": {"type": "function"}}, CHAT, Resume.TEXT, False),
        ({"prompt": "a"}, TEXT, Resume.TEXT, True),
        ({"prompt": [1, 2]}, TEXT, Resume.TEXT, True),
        ({"prompt": ["a", "b"]}, TEXT, Resume.TEXT, False),
        ({"prompt": "a", "echo": True}, TEXT, Resume.TEXT, False),
        ({"prompt": "a", "suffix": "b"}, TEXT, Resume.TEXT, False),
    ],
)
def test_why_not(
    fields: dict[str, Any], protocol: Protocol, mode: Resume, is_possible: bool
) -> None:
    assert (why_not({**ASKED, **fields}, protocol, mode) is None) == is_possible


@pytest.mark.parametrize(
    ("transcript", "payload", "protocol", "mode", "expected"),
    [
        (said(), ASKED, CHAT, Resume.TEXT, [Way.REPLAY]),
        (said("a"), ASKED, CHAT, Resume.TEXT, [Way.CONTINUE, Way.REPLAY]),
        (said("a"), ASKED, CHAT, Resume.EXACT, [Way.CONTINUE, Way.REPLAY]),
        (said("a", ids=[1]), ASKED, CHAT, Resume.EXACT, [Way.EXACT, Way.CONTINUE, Way.REPLAY]),
        (
            said("a", ids=[1]),
            {**ASKED, "tools": [1]},
            CHAT,
            Resume.EXACT,
            [Way.CONTINUE, Way.REPLAY],
        ),
        (said("a"), {**ASKED, "stop": ["x"]}, CHAT, Resume.TEXT, [Way.REPLAY, Way.CONTINUE]),
        (said("", "hm"), ASKED, CHAT, Resume.TEXT, [Way.REPLAY]),
        (said("", "hm", [1]), ASKED, CHAT, Resume.EXACT, [Way.REPLAY]),
        (said("a", "hm"), ASKED, CHAT, Resume.TEXT, [Way.REPLAY, Way.CONTINUE]),
        (said("a"), {"prompt": "p"}, TEXT, Resume.TEXT, [Way.CONTINUE, Way.REPLAY]),
        (said("a"), {"prompt": [1]}, TEXT, Resume.TEXT, [Way.REPLAY]),
        (said("a", ids=[1]), {"prompt": [1]}, TEXT, Resume.EXACT, [Way.EXACT, Way.REPLAY]),
    ],
)
def test_ways(
    transcript: Transcript,
    payload: dict[str, Any],
    protocol: Protocol,
    mode: Resume,
    expected: list[Way],
) -> None:
    assert list(ways(payload, protocol, mode, transcript)) == expected


def test_a_tool_call_or_an_unread_event_ends_all_ways() -> None:
    for name in ("has_tool_call", "has_finished"):
        transcript = said("a")
        setattr(transcript, name, True)
        assert ways(ASKED, CHAT, Resume.TEXT, transcript) == ()
    transcript = said("a")
    transcript.is_readable = False
    assert ways(ASKED, CHAT, Resume.TEXT, transcript) == ()


def test_continue_opens_the_assistants_message() -> None:
    asked = {**ASKED, "max_tokens": 10, "min_tokens": 4, "seed": 3}
    request = request_for(Way.CONTINUE, asked, CHAT, said("He"), 3)
    assert request["messages"][-1] == {"role": "assistant", "content": "He"}
    assert (request["continue_final_message"], request["add_generation_prompt"]) == (True, False)
    assert (request["max_tokens"], request["min_tokens"], request["seed"]) == (7, 1, 3)
    assert asked["messages"] == ASKED["messages"]


def test_continue_goes_on_with_the_clients_own_open_message() -> None:
    opened = [*ASKED["messages"], {"role": "assistant", "content": "So: "}]
    asked = {**ASKED, "messages": opened, "continue_final_message": True}
    request = request_for(Way.CONTINUE, asked, CHAT, said("He"), 1)
    assert request["messages"][-1] == {"role": "assistant", "content": "So: He"}
    assert len(request["messages"]) == 2


def test_continue_says_the_reasoning_under_its_own_name() -> None:
    transcript = said("A", "hm")
    transcript.reasoning_field = "reasoning_content"
    request = request_for(Way.CONTINUE, ASKED, CHAT, transcript, 2)
    assert request["messages"][-1]["reasoning_content"] == "hm"


def test_a_completion_goes_on_with_its_prompt() -> None:
    request = request_for(Way.CONTINUE, {"prompt": "Once "}, TEXT, said("upon"), 1)
    assert request["prompt"] == "Once upon"


@pytest.mark.parametrize(
    ("fields", "context", "max_tokens"),
    [
        ({"max_tokens": 10}, 4096, 8),
        ({"max_completion_tokens": 5}, 4096, 3),
        ({}, 100, 96),
        ({}, None, 4092),
        ({"max_tokens": 2}, 4096, 1),
    ],
)
def test_exact_is_a_completion_of_all_ids(
    fields: dict[str, Any], context: int | None, max_tokens: int
) -> None:
    asked = {**ASKED, "temperature": 0, **fields}
    request = request_for(Way.EXACT, asked, CHAT, said("ab", ids=[1, 2]), 2, context)
    assert request["prompt"] == [7, 8, 1, 2]
    assert request["max_tokens"] == max_tokens
    assert request["return_token_ids"] is True
    assert request["temperature"] == 0
    assert "messages" not in request
    assert "max_completion_tokens" not in request


def test_a_replay_asks_the_same_again() -> None:
    assert request_for(Way.REPLAY, ASKED, CHAT, said("a"), 0) == ASKED


def test_a_completion_without_a_limit_has_the_engines_usual_one() -> None:
    request = request_for(Way.CONTINUE, {"prompt": "Once "}, TEXT, said("upon"), 6)
    assert request["max_tokens"] == 10


PICTURE = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]
PARTS = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]


@pytest.mark.parametrize(
    ("fields", "is_exact"),
    [({"messages": PARTS}, True), ({"messages": PICTURE}, False), ({"stop": ["x"]}, False)],
)
def test_exact_only_where_ids_say_everything(fields: dict[str, Any], is_exact: bool) -> None:
    found = ways({**ASKED, **fields}, CHAT, Resume.EXACT, said("a", ids=[1]))
    assert (Way.EXACT in found) == is_exact
    assert Way.CONTINUE in found


def test_an_open_message_in_parts_is_kept() -> None:
    opened = [*PARTS, {"role": "assistant", "content": [{"type": "text", "text": "So: "}]}]
    asked = {"messages": opened, "continue_final_message": True}
    request = request_for(Way.CONTINUE, asked, CHAT, said("He"), 1)
    assert [p["text"] for p in request["messages"][-1]["content"]] == ["So: ", "He"]
