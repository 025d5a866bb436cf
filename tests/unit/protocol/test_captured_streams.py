"""The bytes of a real vLLM 0.32, taken apart as the gateway does."""

import json
import re
from pathlib import Path

import pytest

from gateway.errors import Outcome, Refusal
from gateway.protocol.answer import answer_verdict
from gateway.protocol.chunks import Protocol, StreamWatch, Verdict
from gateway.protocol.request import read_json_request
from gateway.protocol.rewrite import ModelRewriter, rewrite_request
from gateway.protocol.sse import EventSplitter
from gateway.protocol.usage import Usage

CAPTURES = Path(__file__).parents[2] / "golden" / "captures"
CHAT, COMP = Protocol.OPENAI_CHAT, Protocol.OPENAI_COMPLETIONS
RESPONSES, MESSAGES = Protocol.RESPONSES, Protocol.MESSAGES
O, F, D, E, A, C = (  # noqa: E741 - one letter an event keeps the table readable
    Verdict.ORDINARY,
    Verdict.FINISH,
    Verdict.DONE,
    Verdict.ERROR,
    Verdict.ABORT,
    Verdict.COMMENT,
)
_CHUNK = re.compile(rb"(?:^|\r\n)([0-9a-f]+)\r\n")


def unchunked(text: bytes) -> bytes:
    """The data of a chunked body that may have lost its beginning; stops at the end or a cut."""
    match = _CHUNK.search(text)
    body = b""
    while match is not None:
        size = int(match[1], 16)
        body += text[match.end() : match.end() + size]
        match = _CHUNK.match(text, match.end() + size) if size else None
    return body


def stream(name: str) -> bytes:
    """The events of a capture of one exchange, or of the last bytes of a long stream."""
    text = (CAPTURES / name).read_bytes()
    return unchunked(text.partition(b"<<< response\n")[2].partition(b"\r\n\r\n")[2] or text)


def literal_stream(name: str) -> bytes:
    """The events of a capture that shows the whole answer as a Python literal."""
    text = (CAPTURES / name).read_text("utf-8")
    answer = next(m for m in re.findall(r"b'(.*)'", text) if "\\ndata: [DONE]" in m and "{" in m)
    raw = answer.encode().decode("unicode_escape").encode("latin-1")
    return unchunked(raw.partition(b"\r\n\r\n")[2])


def watched(protocol: Protocol, body: bytes, choices: int = 1) -> tuple[list[Verdict], StreamWatch]:
    watch = StreamWatch(protocol, choices)
    splitter = EventSplitter(1 << 20)
    found = [watch.observe(event) for event in splitter.feed(body)]
    assert splitter.rest == b""
    return found, watch


@pytest.mark.parametrize(
    ("name", "protocol", "choices", "expected", "usage"),
    [
        ("04_comp_stream.txt", COMP, 1, [O, O, O, F, D], None),
        ("04_comp_stream_usage.txt", COMP, 1, [O, O, O, F, O, D], Usage(2, 4)),
        ("04_comp_batch_stream.txt", COMP, 2, [O, O, F, F, D], None),
        ("05_chat_stream.txt", CHAT, 1, [O, O, O, O, F, D], None),
        ("05_chat_stream_usage.txt", CHAT, 1, [O, O, O, O, F, O, D], Usage(26, 4)),
        ("05_chat_stream_continuous_usage.txt", CHAT, 1, [O, O, O, O, F, O, D], Usage(26, 4)),
        ("05_chat_stream_to_eos.txt", CHAT, 1, None, None),
        ("05_chat_n2_stream.txt", CHAT, 2, [O, O, O, F, O, F, D], None),
        ("05_chat_return_token_ids_stream.txt", CHAT, 1, [O, O, F, D], None),
        ("06_tools_named_stream.txt", CHAT, 1, [O, O, O, O, O, O, O, O, F, D], None),
        ("09_responses_stream.txt", RESPONSES, 1, [O] * 9 + [D], Usage(12, 4, 0)),
        ("10_messages_stream.txt", MESSAGES, 1, [O] * 7 + [F, D], Usage(26, 4)),
    ],
)
def test_whole_streams(
    name: str,
    protocol: Protocol,
    choices: int,
    expected: list[Verdict] | None,
    usage: Usage | None,
) -> None:
    found, watch = watched(protocol, stream(name), choices)
    if expected is None:
        expected = [O] * (len(found) - 2) + [F, D]
    assert found == expected
    assert watch.is_complete
    assert watch.has_content
    assert watch.usage == usage


@pytest.mark.parametrize(
    ("name", "protocol", "tail"),
    [
        ("20_worker_killed_chat_stream.txt", CHAT, [O, E, D]),
        ("20_worker_killed_completions_stream.txt", COMP, [O, E, D]),
        ("20_worker_killed_responses_stream.txt", RESPONSES, [O, O, O]),
        ("21_sigterm_error_chat_stream.txt", CHAT, [O, E, D]),
        ("21_sigterm_error_completions_stream.txt", COMP, [O, E, D]),
        ("21_sigterm_error_responses_stream.txt", RESPONSES, [O, O, O]),
        ("22_sigterm_abort_chat_stream.txt", CHAT, [O, A, D]),
        ("22_sigterm_abort_completions_stream.txt", COMP, [O, A, D]),
        ("23_sigterm_hang_chat_stream.txt", CHAT, [O, O, O]),
        ("23_sigterm_hang_completions_stream.txt", COMP, [O, O, O]),
        ("23_sigterm_hang_responses_stream.txt", RESPONSES, [O, O, O]),
    ],
)
def test_failed_streams_never_look_whole(
    name: str, protocol: Protocol, tail: list[Verdict]
) -> None:
    found, watch = watched(protocol, stream(name))
    assert found[-3:] == tail
    assert not watch.is_finished
    assert not watch.is_complete
    if E in tail:
        assert watch.error is not None
        assert watch.error.message.startswith("EngineCore encountered an issue")
        assert (watch.error.type, watch.error.code) == ("InternalServerError", 500)


def test_a_busy_engine_says_so_inside_a_stream() -> None:
    found, watch = watched(CHAT, literal_stream("28_admission_stream.txt"))
    assert found == [E, D]
    assert watch.error is not None
    assert (watch.error.type, watch.error.code) == ("Service Unavailable", 503)


def test_keep_alive_comments_are_no_progress() -> None:
    text = (CAPTURES / "31_sse_keepalive.txt").read_text("utf-8")
    assert "b'e\\r\\n: keep-alive\\n\\n\\r\\n'" in text
    found, watch = watched(COMP, b": keep-alive\n\n" * 3)
    assert found == [C, C, C]
    assert watch.events_total == 0


STREAMS = [
    ("04_comp_stream.txt", COMP),
    ("05_chat_stream_usage.txt", CHAT),
    ("06_tools_named_stream.txt", CHAT),
    ("09_responses_stream.txt", RESPONSES),
    ("10_messages_stream.txt", MESSAGES),
]


@pytest.mark.parametrize(("name", "protocol"), STREAMS)
@pytest.mark.parametrize("step", [1, 100, 1 << 20])
@pytest.mark.parametrize("shown", ["\u901a\u4e49-7B", "qwen3.5-9b"])
def test_streams_carry_the_shown_name(name: str, protocol: Protocol, step: int, shown: str) -> None:
    body = stream(name)
    splitter, rewriter = EventSplitter(1 << 20), ModelRewriter(shown)
    out = b"".join(
        rewriter.event(event, protocol)
        for at in range(0, len(body), step)
        for event in splitter.feed(body[at : at + step])
    )
    assert b'"model":"qwen3.5-9b"' in body
    assert out == body.replace(b'"model":"qwen3.5-9b"', f'"model":"{shown}"'.encode())


BODIES = [
    ("04_comp_n2.txt", COMP),
    ("05_chat.txt", CHAT),
    ("06_tools_auto.txt", CHAT),
    ("09_responses.txt", RESPONSES),
    ("10_messages.txt", MESSAGES),
]


@pytest.mark.parametrize(("name", "protocol"), BODIES)
def test_whole_answers(name: str, protocol: Protocol) -> None:
    text = (CAPTURES / name).read_bytes().partition(b"<<< response\n")[2]
    body = text.partition(b"\r\n\r\n")[2].partition(b"\n\n--- closed")[0]
    reading = answer_verdict(body, protocol)
    assert reading.verdict is F
    assert reading.usage is not None
    assert reading.usage.prompt_tokens
    assert reading.usage.completion_tokens
    out = ModelRewriter("pub").body(body, protocol)
    assert out == body.replace(b'"model":"qwen3.5-9b"', b'"model":"pub"')


def test_an_aborted_answer_is_no_answer() -> None:
    text = (CAPTURES / "22_sigterm_abort_chat_nonstream.txt").read_bytes()
    choice = b'{"index":0,"message":{"content":"' + text.rpartition(b'"content":"')[2]
    assert answer_verdict(b'{"choices":[' + choice, CHAT).verdict is A


def request_body(name: str) -> bytes:
    """The JSON body of a captured request; empty if the capture has none or not all of it."""
    text = (CAPTURES / name).read_bytes()
    head, _, rest = text.partition(b"\r\n\r\n")
    body = rest.partition(b"\n\n<<< response")[0]
    is_whole = f"\r\nContent-Length: {len(body)}".encode() in head
    return body if is_whole and head.startswith(b">>> request\nPOST ") else b""


REFUSED = {
    "08_err_bad_json.txt": Outcome.BODY_NOT_JSON,
    "08_err_json_array.txt": Outcome.BODY_NOT_JSON,
    "08_err_empty_body.txt": Outcome.BODY_NOT_JSON,
    "08_err_not_utf8.txt": Outcome.BODY_NOT_UTF8,
    "08_model_number.txt": Outcome.MODEL_REQUIRED,
}
TAKEN = sorted(
    path.name
    for path in CAPTURES.glob("*.txt")
    if path.name not in REFUSED and request_body(path.name)
)


def test_there_are_requests() -> None:
    assert len(TAKEN) > 50


@pytest.mark.parametrize("name", TAKEN)
def test_requests_are_read_and_renamed(name: str) -> None:
    body = request_body(name)
    facts = read_json_request(body)
    assert facts.payload == json.loads(body)
    renamed = json.loads(rewrite_request(body, "served"))
    assert renamed == {**facts.payload, "model": "served"}


@pytest.mark.parametrize(("name", "outcome"), REFUSED.items())
def test_what_the_engine_refuses_is_refused(name: str, outcome: Outcome) -> None:
    with pytest.raises(Refusal) as caught:
        read_json_request(request_body(name))
    assert caught.value.outcome is outcome
