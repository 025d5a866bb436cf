"""What a stream has said so far."""

from typing import Any

import pytest

from gateway.protocol import transcript as module
from gateway.protocol.chunks import Protocol, StreamWatch
from gateway.protocol.transcript import Transcript
from tests.support.wire import event


def heard(*choices: dict[str, Any], **top: Any) -> Transcript:
    transcript = Transcript()
    watch = StreamWatch(Protocol.OPENAI_CHAT, 1, transcript)
    for choice in choices:
        watch.observe(event({"id": "c1", "created": 7, "choices": [{"index": 0, **choice}], **top}))
    return transcript


def delta(**fields: Any) -> dict[str, Any]:
    return {"delta": fields, "finish_reason": None}


def test_text_reasoning_and_opening() -> None:
    said = heard(
        delta(role="assistant", content=""),
        delta(reasoning="hm"),
        delta(content="He"),
        delta(content="llo"),
    )
    assert (said.reasoning, said.content, said.said_total) == ("hm", "Hello", 3)
    assert said.opening["id"] == "c1"
    assert not said.is_empty
    assert repr(said) == "<Transcript 2 + 5 characters in 3 events>"


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_the_name_of_the_reasoning_is_kept(field: str) -> None:
    said = heard(delta(**{field: "hm"}))
    assert (said.reasoning, said.reasoning_field) == ("hm", field)


def test_tokens_without_text_count_once_text_follows() -> None:
    said = heard(delta(role="assistant"), delta(content=""), delta(content="。"), delta(content=""))
    assert (said.said_total, said.silent_total) == (1, 1)
    said.forget_unsaid()
    said.add("x")
    assert (said.said_total, said.silent_total) == (2, 1)


def test_token_ids_end_with_the_last_text() -> None:
    said = heard(
        {**delta(content="a"), "token_ids": [1]},
        {**delta(content=""), "token_ids": [2]},
        {**delta(content="b"), "token_ids": [3]},
        {**delta(content=""), "token_ids": [4]},
        prompt_token_ids=[9, 8],
    )
    assert said.token_ids == [1, 2, 3]
    assert said.prompt_token_ids == [9, 8]
    said.add("c")
    said.add_ids(None)
    assert said.token_ids is None


def test_text_without_ids_is_not_exact() -> None:
    assert heard(delta(content="a")).token_ids is None


def test_a_tool_call_is_noticed() -> None:
    assert heard(delta(tool_calls=[{"index": 0}])).has_tool_call
    assert not heard(delta(tool_calls=[], content="x")).has_tool_call


def test_what_is_not_understood_spoils_it() -> None:
    assert not heard(delta(content=["parts"])).is_readable
    assert not heard({"index": 1, **delta(content="x")}).is_readable


def test_an_abort_and_a_broken_event_are_no_part_of_it() -> None:
    transcript = Transcript()
    watch = StreamWatch(Protocol.OPENAI_CHAT, 1, transcript)
    watch.observe(event({"choices": [{"index": 0, **delta(content="a")}]}))
    aborted = {"delta": {"content": "b"}, "finish_reason": "abort"}
    watch.observe(event({"choices": [{"index": 0, **aborted}]}))
    watch.observe(b"data: {broken\n\n")
    assert (transcript.content, transcript.is_readable) == ("a", True)
    assert not transcript.has_finished


def test_it_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CHARS", 10)
    said = heard(*[delta(content="abcd")] * 3)
    assert (said.is_readable, said.content) == (False, "")
