"""What a stream says in the protocols beside chat and completions, and its token counts."""

from typing import Any

import pytest

from gateway.protocol.chunks import Protocol, StreamWatch, Verdict
from gateway.protocol.usage import Usage
from tests.support.wire import event as sse

CHAT = Protocol.OPENAI_CHAT
ORDINARY, FINISH, DONE = Verdict.ORDINARY, Verdict.FINISH, Verdict.DONE
ERROR, ABORT, MALFORMED = Verdict.ERROR, Verdict.ABORT, Verdict.MALFORMED
END = b"data: [DONE]\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> bytes:
    return sse({"choices": [{"index": index, "delta": delta, "finish_reason": finish}]})


def named(kind: str, **fields: Any) -> bytes:
    return sse({"type": kind, **fields}, kind)


def verdicts(watch: StreamWatch, events: list[bytes]) -> list[Verdict]:
    return [watch.observe(event) for event in events]


CREATED = named("response.created", response={"status": "in_progress"}, sequence_number=0)
TEXT = named("response.output_text.delta", delta="a", sequence_number=1)
START = named("message_start", message={"usage": {"input_tokens": 7, "output_tokens": 0}})
BLOCK = named("content_block_delta", delta={"type": "text_delta", "text": "a"}, index=0)
STOP = named("message_stop")


def ended(status: str, kind: str = "response.completed") -> bytes:
    usage = {"input_tokens": 3, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 2}}
    return named(kind, response={"status": status, "usage": usage}, sequence_number=9)


def delta(reason: str | None, **usage: int) -> bytes:
    return named("message_delta", delta={"stop_reason": reason}, usage=usage or None)


@pytest.mark.parametrize(
    ("protocol", "events", "expected", "complete"),
    [
        (Protocol.RESPONSES, [CREATED, TEXT], [ORDINARY, ORDINARY], False),
        (Protocol.RESPONSES, [CREATED, TEXT, ended("completed")], [ORDINARY, ORDINARY, DONE], True),
        (Protocol.RESPONSES, [TEXT, ended("incomplete")], [ORDINARY, DONE], True),
        (Protocol.RESPONSES, [ended("incomplete", "response.incomplete")], [DONE], True),
        (Protocol.RESPONSES, [ended("cancelled")], [ABORT], False),
        (Protocol.RESPONSES, [ended("failed")], [ABORT], False),
        (Protocol.RESPONSES, [ended("", "response.cancelled")], [ABORT], False),
        (Protocol.RESPONSES, [ended("failed", "response.failed")], [ERROR], False),
        (Protocol.RESPONSES, [TEXT, END], [ORDINARY, DONE], False),
        (Protocol.RESPONSES, [ended("completed"), END], [DONE, DONE], True),
        (Protocol.RESPONSES, [b"data: {\n\n"], [MALFORMED], False),
        (
            Protocol.RESPONSES,
            [b'data: {"type":"response.completed","response":{"status":"completed"},"x":NaN}\n\n'],
            [DONE],
            True,
        ),
        (Protocol.RESPONSES, [b'data: {"type":5,"response":"x"}\n\n'], [ORDINARY], False),
        (Protocol.RESPONSES, [b'data: {"sequence_number":"x"}\n\n'], [ORDINARY], False),
        (Protocol.MESSAGES, [START, BLOCK], [ORDINARY, ORDINARY], False),
        (
            Protocol.MESSAGES,
            [START, BLOCK, delta("end_turn"), STOP],
            [ORDINARY, ORDINARY, FINISH, DONE],
            True,
        ),
        (Protocol.MESSAGES, [delta("max_tokens")], [FINISH], False),
        (Protocol.MESSAGES, [delta(None), STOP], [ORDINARY, DONE], False),
        (Protocol.MESSAGES, [delta("abort"), STOP], [ABORT, DONE], False),
        (Protocol.MESSAGES, [BLOCK, STOP], [ORDINARY, DONE], False),
        (Protocol.MESSAGES, [named("ping")], [ORDINARY], False),
        (Protocol.MESSAGES, [b"data: x\n\n"], [MALFORMED], False),
        (
            Protocol.MESSAGES,
            [b'data: {"delta":{"stop_reason":"end_turn"},"x":NaN}\n\n', STOP],
            [FINISH, DONE],
            True,
        ),
        (Protocol.MESSAGES, [b'data: {"type":[],"message":3,"delta":"x"}\n\n'], [ORDINARY], False),
        (Protocol.TRANSCRIPTION, [chunk({"content": "a"})], [ORDINARY], False),
        (Protocol.TRANSCRIPTION, [chunk({"content": "a"}), END], [ORDINARY, DONE], True),
        (
            Protocol.TRANSCRIPTION,
            [named("transcript.text.delta", delta="a"), named("transcript.text.done", text="a")],
            [ORDINARY, DONE],
            True,
        ),
        (Protocol.GENERIC, [sse({"x": 1}), END], [ORDINARY, DONE], True),
        (Protocol.GENERIC, [chunk({}, "abort"), END], [ABORT, DONE], False),
    ],
)  # fmt: skip
def test_other_protocols(
    protocol: Protocol, events: list[bytes], expected: list[Verdict], complete: bool
) -> None:
    watch = StreamWatch(protocol)
    assert verdicts(watch, events) == expected
    assert watch.is_complete is complete


@pytest.mark.parametrize(
    ("protocol", "events", "usage"),
    [
        (CHAT, [chunk({"content": "a"})], None),
        (CHAT, [sse({"choices": [], "usage": None})], None),
        (
            CHAT,
            [sse({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}})],
            Usage(3, 4),
        ),
        (
            CHAT,
            [
                sse({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}),
                sse({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
                sse({"choices": [], "usage": None}),
            ],
            Usage(3, 2),
        ),
        (Protocol.RESPONSES, [CREATED, ended("completed")], Usage(3, 4, 2)),
        (Protocol.MESSAGES, [START], Usage(7, 0)),
        (Protocol.MESSAGES, [START, delta("end_turn", output_tokens=5)], Usage(7, 5)),
        (Protocol.MESSAGES, [delta("x", input_tokens=7, output_tokens=5)], Usage(7, 5)),
        (Protocol.MESSAGES, [START, delta(None)], Usage(7, 0)),
    ],
)
def test_usage(protocol: Protocol, events: list[bytes], usage: Usage | None) -> None:
    watch = StreamWatch(protocol)
    verdicts(watch, events)
    assert watch.usage == usage


def test_comments_and_sequence_numbers() -> None:
    watch = StreamWatch(Protocol.RESPONSES)
    assert (watch.events_total, watch.sequence_number, watch.has_content) == (0, -1, False)
    verdicts(watch, [b": c\n\n", CREATED])
    assert (watch.events_total, watch.sequence_number, watch.has_content) == (1, 0, False)
    verdicts(watch, [TEXT, b": c\n\n"])
    assert (watch.events_total, watch.sequence_number, watch.has_content) == (2, 1, True)
