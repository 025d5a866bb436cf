"""A second stream fitted to a first one."""

import json
from typing import Any

import pytest

from gateway.protocol.chunk_shapes import read_talk
from gateway.protocol.chunks import Protocol
from gateway.protocol.splice import Mismatch, Splice, Way
from gateway.protocol.transcript import Transcript
from tests.support.wire import DONE, event, event_json

CHAT, TEXT = Protocol.OPENAI_CHAT, Protocol.OPENAI_COMPLETIONS


def first(content: str, reasoning: str = "") -> Transcript:
    transcript = Transcript()
    opening = {"id": "c1", "created": 7, "model": "served", "choices": []}
    data = json.dumps(opening).encode()
    transcript.take(read_talk(data), data)
    if reasoning:
        transcript.add(reasoning=reasoning)
    if content:
        transcript.add(content)
    return transcript


def splice(
    way: Way, transcript: Transcript, protocol: Protocol = CHAT, sent: int = 3, strip: bool = True
) -> Splice:
    return Splice(way, protocol, transcript, "pub", sent_tokens=sent, is_stripped=strip)


def chunk(finish: str | None = None, usage: Any = None, **choice: Any) -> bytes:
    choices = [{"index": 0, **choice, "finish_reason": finish}] if choice or finish else []
    body = {"id": "c2", "created": 8, "model": "m", "choices": choices}
    return event({**body, "usage": usage} if usage else body)


def out(spliced: Splice, *events: bytes) -> list[Any]:
    """The chunks a client gets."""
    told = [spliced.event(e, CHAT) for e in events]
    return [event_json(e) for e in told if e.startswith(b"data: {")]


def test_a_continuation_has_the_first_streams_name_and_no_second_role() -> None:
    transcript = first("He")
    told = out(
        splice(Way.CONTINUE, transcript),
        chunk(delta={"role": "assistant", "content": ""}),
        chunk(delta={"content": "llo"}),
        chunk(finish="stop", delta={}),
    )
    assert [c["choices"][0]["delta"] for c in told] == [{"content": "llo"}, {"content": ""}]
    assert {(c["id"], c["created"], c["model"]) for c in told} == {("c1", 7, "pub")}
    assert told[-1]["choices"][0]["finish_reason"] == "stop"
    assert transcript.content == "Hello"


@pytest.mark.parametrize(
    ("way", "expected"),
    [(Way.CONTINUE, (10, 8)), (Way.EXACT, (10, 8)), (Way.REPLAY, (13, 5))],
)
def test_usage_is_that_of_the_whole(way: Way, expected: tuple[int, int]) -> None:
    spliced = splice(way, first(""))
    usage = {"prompt_tokens": 13, "completion_tokens": 5, "total_tokens": 18}
    (told,) = out(spliced, chunk(usage=usage))
    assert (told["usage"]["prompt_tokens"], told["usage"]["completion_tokens"]) == expected
    assert told["usage"]["total_tokens"] == 18
    assert spliced.usage is not None
    assert spliced.usage.completion_tokens == expected[1]


def test_exact_comes_as_completions_and_goes_as_chat_without_ids() -> None:
    transcript = first("He")
    told = out(
        splice(Way.EXACT, transcript),
        chunk(text="llo", token_ids=[5], prompt_token_ids=[1, 2]),
        chunk(finish="length", text="!", token_ids=[6]),
    )
    assert [c["choices"][0]["delta"]["content"] for c in told] == ["llo", "!"]
    assert all(c["choices"][0]["token_ids"] is None for c in told)
    assert all("text" not in c["choices"][0] for c in told)


def test_ids_that_the_client_asked_for_stay() -> None:
    spliced = splice(Way.CONTINUE, first("He"), strip=False)
    (told,) = out(spliced, chunk(delta={"content": "y"}, token_ids=[5]))
    assert told["choices"][0]["token_ids"] == [5]


def test_completions_stay_completions() -> None:
    spliced = splice(Way.CONTINUE, first("He"), TEXT)
    (told,) = out(spliced, chunk(text="llo"))
    assert told["choices"][0]["text"] == "llo"


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["He", "llo", " you"], [" you"]),
        (["Hello you"], [" you"]),
        (["H", "e", "l", "l", "o y", "ou"], [" y", "ou"]),
    ],
)
def test_a_replay_swallows_what_was_sent(pieces: list[str], expected: list[str]) -> None:
    spliced = splice(Way.REPLAY, first("Hello"))
    told = out(spliced, *[chunk(delta={"content": piece}) for piece in pieces])
    assert [c["choices"][0]["delta"]["content"] for c in told] == expected
    assert spliced.is_caught_up


def test_a_replay_of_reasoning() -> None:
    spliced = splice(Way.REPLAY, first("A", reasoning="think"))
    told = out(
        spliced,
        chunk(delta={"reasoning": "thi"}),
        chunk(delta={"reasoning": "nk"}),
        chunk(delta={"content": "AB"}),
    )
    assert [c["choices"][0]["delta"] for c in told] == [{"content": "B"}]


@pytest.mark.parametrize(
    "events",
    [
        [chunk(delta={"content": "Hx"})],
        [chunk(delta={"content": "He"}), chunk(finish="stop", delta={})],
        [chunk(delta={"content": "He"}), DONE],
    ],
    ids=["different", "finished early", "ended early"],
)
def test_a_replay_that_differs_is_a_mismatch(events: list[bytes]) -> None:
    with pytest.raises(Mismatch):
        out(splice(Way.REPLAY, first("Hello")), *events)


def test_less_reasoning_is_a_mismatch() -> None:
    with pytest.raises(Mismatch):
        out(splice(Way.REPLAY, first("", "think")), chunk(delta={"content": "A"}))


def test_comments_and_the_end_pass() -> None:
    spliced = splice(Way.CONTINUE, first("He"))
    assert spliced.event(b": ping\n\n", CHAT) == b": ping\n\n"
    assert spliced.event(DONE, CHAT) == DONE
    assert repr(spliced) == "<Splice continue after 3 tokens>"


def test_a_tool_call_ends_what_can_be_continued_and_is_no_replay() -> None:
    transcript = first("He")
    call = [{"index": 0, "function": {"name": "f"}}]
    (told,) = out(splice(Way.CONTINUE, transcript), chunk(delta={"tool_calls": call}))
    assert told["choices"][0]["delta"]["tool_calls"] == call
    assert transcript.has_tool_call
    with pytest.raises(Mismatch):
        out(splice(Way.REPLAY, first("He")), chunk(delta={"tool_calls": call}))


@pytest.mark.parametrize(
    "data", [b"data: [1]\n\n", b'data: {"choices":[null]}\n\n', b"data: \xff\n\n", b"data: {\n\n"]
)
def test_what_cannot_be_read_is_a_mismatch(data: bytes) -> None:
    with pytest.raises(Mismatch):
        splice(Way.CONTINUE, first("He")).event(data, CHAT)
