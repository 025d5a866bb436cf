"""What a stream says, event by event: OpenAI's shape, errors, and the end markers."""

from typing import Any

import pytest

from gateway.protocol.chunks import Protocol, StreamWatch, Verdict, end_marker
from gateway.protocol.engine_error import ErrorInfo
from gateway.protocol.sse import event_data
from tests.support.wire import event as sse

CHAT = Protocol.OPENAI_CHAT
ORDINARY, FINISH, DONE = Verdict.ORDINARY, Verdict.FINISH, Verdict.DONE
ERROR, ABORT, MALFORMED, COMMENT = (
    Verdict.ERROR,
    Verdict.ABORT,
    Verdict.MALFORMED,
    Verdict.COMMENT,
)
END = b"data: [DONE]\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> bytes:
    return sse({"choices": [{"index": index, "delta": delta, "finish_reason": finish}]})


def named(kind: str, **fields: Any) -> bytes:
    return sse({"type": kind, **fields}, kind)


def verdicts(watch: StreamWatch, events: list[bytes]) -> list[Verdict]:
    return [watch.observe(event) for event in events]


@pytest.mark.parametrize(
    ("event", "verdict"),
    [
        (b": keep-alive\n\n", COMMENT),
        (b"event: ping\n\n", COMMENT),
        (b"data:\n\n", COMMENT),
        (b"data: \n\n", COMMENT),
        (END, DONE),
        (b"data:[DONE]\r\n\r\n", DONE),
        (b"data: [DONE] \n\n", DONE),
        (chunk({"content": "a"}), ORDINARY),
        (chunk({}, "stop"), FINISH),
        (chunk({"content": "a"}, "length"), FINISH),
        (chunk({}, "abort"), ABORT),
        (chunk({}, "error"), ABORT),
        (chunk({"content": '"finish_reason":"abort" {"error":{}} [DONE]'}), ORDINARY),
        (chunk({"content": "[DONE]"}), ORDINARY),
        (sse({"choices": [], "usage": {"prompt_tokens": 1}}), ORDINARY),
        (sse({"choices": None}), ORDINARY),
        (sse({}), ORDINARY),
        (sse({"error": None, "choices": []}), ORDINARY),
        (sse({"error": {"message": "m"}}), ERROR),
        (sse({"error": "m"}), ERROR),
        (sse({"object": "error", "message": "m"}), ERROR),
        (b'data:{"error":{"message":"m"}}\n\n', ERROR),
        (b'data: {"error":\ndata: {"message":"m"}}\n\n', ERROR),
        (b'data: {"choices":[{"delta":{}\n\n', MALFORMED),
        (b'data: {"choices":[{"delta":{]}]}\n\n', MALFORMED),
        (b"data: hello\n\n", MALFORMED),
        (b"data: 5\n\n", MALFORMED),
        (b"data: [1]\n\n", MALFORMED),
        (b"data: null\n\n", MALFORMED),
        (b"data: <html>502</html>\n\n", MALFORMED),
        # Unusual, but JSON: read leniently.
        (b'data: {"choices":[{"index":"x","finish_reason":"abort"}]}\n\n', ABORT),
        (b'data: {"choices":[{"logprobs":NaN,"finish_reason":"stop"}]}\n\n', FINISH),
        (b'data: {"choices":[5,{"finish_reason":3}],"x":1e999}\n\n', ORDINARY),
        (b'data: {"choices":"none"}\n\n', ORDINARY),
        (b'data: {"choices":[{"delta":{"content":"\\ud800"}}]}\n\n', ORDINARY),
        (b'data: {"choices":5,"error":{"message":"m"}}\n\n', ERROR),
    ],
)
def test_one_event_of_a_chat(event: bytes, verdict: Verdict) -> None:
    assert StreamWatch(CHAT).observe(event) is verdict
    assert StreamWatch(Protocol.OPENAI_COMPLETIONS).observe(event) is verdict


@pytest.mark.parametrize(
    ("choices", "events", "finished", "complete"),
    [
        (1, [], False, False),
        (1, [END], False, False),
        (1, [chunk({"content": "a"})], False, False),
        (1, [chunk({"content": "a"}), END], False, False),
        (1, [chunk({}, "stop")], True, False),
        (1, [chunk({}, "stop"), END], True, True),
        (1, [chunk({}, "abort"), END], False, False),
        (1, [chunk({}, "stop"), sse({"error": {"message": "m"}}), END], False, False),
        (1, [b"data: {\n\n", chunk({}, "stop"), END], False, False),
        (2, [chunk({}, "stop"), END], False, False),
        (2, [chunk({}, "stop"), chunk({}, "stop", 1), END], True, True),
        (2, [chunk({}, "stop"), chunk({}, "stop"), END], False, False),
        (2, [chunk({}, "stop"), chunk({}, "abort", 1), END], False, False),
        (1, [chunk({"content": "a"}, None, 1), chunk({}, "stop"), END], False, False),
        (1, [chunk({}, "stop"), b": c\n\n", sse({"choices": []}), END], True, True),
    ],
)
def test_when_a_chat_is_whole(
    choices: int, events: list[bytes], finished: bool, complete: bool
) -> None:
    watch = StreamWatch(CHAT, choices)
    verdicts(watch, events)
    assert (watch.is_finished, watch.is_complete) == (finished, complete)


@pytest.mark.parametrize(
    ("event", "has_content"),
    [
        (chunk({"role": "assistant", "content": ""}), False),
        (chunk({"role": "assistant"}), False),
        (chunk({}), False),
        (chunk({}, "stop"), False),
        (chunk({"content": "a"}), True),
        (chunk({"content": None, "tool_calls": [{"index": 0}]}), True),
        (chunk({"reasoning": "a"}), True),
        (chunk({"reasoning_content": "a"}), True),
        (chunk({"x_new": 1}), True),
        (sse({"choices": [{"text": "a"}]}), True),
        (sse({"choices": [{"text": ""}]}), False),
        (sse({"choices": [], "usage": {"prompt_tokens": 1}}), False),
        (b'data: {"choices":[{"delta":"odd"}]}\n\n', True),
        (b": c\n\n", False),
    ],
)
def test_what_counts_as_content(event: bytes, has_content: bool) -> None:
    watch = StreamWatch(CHAT)
    watch.observe(event)
    assert watch.has_content is has_content


@pytest.mark.parametrize(
    ("protocol", "event", "error"),
    [
        (
            CHAT,
            sse({"error": {"message": "busy", "type": "T", "param": None, "code": 503}}),
            ErrorInfo("busy", "T", 503, None),
        ),
        (CHAT, sse({"error": "busy"}), ErrorInfo("busy")),
        (CHAT, sse({"object": "error", "message": "m", "code": 400}), ErrorInfo("m", code=400)),
        (
            Protocol.MESSAGES,
            named("error", error={"type": "overloaded_error", "message": "m"}),
            ErrorInfo("m", "overloaded_error"),
        ),
        (
            Protocol.RESPONSES,
            named("error", code="c", message="m", param="p"),
            ErrorInfo("m", "error", "c", "p"),
        ),
        (Protocol.RESPONSES, sse({"error": {"message": "m"}}), ErrorInfo("m")),
        (
            Protocol.RESPONSES,
            named("response.failed", response={"error": {"code": "server_error", "message": "m"}}),
            ErrorInfo("m", code="server_error"),
        ),
        (
            Protocol.RESPONSES,
            named("response.failed", response={"error": None}),
            ErrorInfo("the engine says that the response failed"),
        ),
        (Protocol.TRANSCRIPTION, sse({"error": {"message": "m"}}), ErrorInfo("m")),
    ],
)
def test_errors_are_read(protocol: Protocol, event: bytes, error: ErrorInfo) -> None:
    watch = StreamWatch(protocol)
    assert watch.observe(event) is ERROR
    assert watch.error == error
    assert watch.has_failed
    watch.observe(END)
    assert (watch.is_finished, watch.is_complete) == (False, False)


def test_finish_reasons_are_kept_by_choice() -> None:
    watch = StreamWatch(CHAT, 2)
    verdicts(watch, [chunk({}, "length", 1), chunk({}, "tool_calls")])
    assert watch.finish_reasons == {1: "length", 0: "tool_calls"}


@pytest.mark.parametrize(
    ("events", "shown"),
    [
        ([], "StreamWatch(openai_chat, open, events=0, finished=0 of 1)"),
        ([chunk({}, "stop"), END], "StreamWatch(openai_chat, complete, events=2, finished=1 of 1)"),
        ([chunk({}, "abort")], "StreamWatch(openai_chat, failed, events=1, finished=1 of 1)"),
    ],
)
def test_the_watch_shows_its_state(events: list[bytes], shown: str) -> None:
    watch = StreamWatch(CHAT)
    verdicts(watch, events)
    assert repr(watch) == shown


@pytest.mark.parametrize("protocol", list(Protocol))
def test_the_end_marker_ends_a_stream(protocol: Protocol) -> None:
    marker = end_marker(protocol)
    if protocol is Protocol.RESPONSES:
        assert marker == b""
        return
    watch = StreamWatch(protocol)
    assert event_data(marker)
    assert watch.observe(marker) is DONE
    assert watch.is_done
