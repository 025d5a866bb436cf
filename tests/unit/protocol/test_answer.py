"""Whole answers with status 200: not all of them are answers."""

import pytest

from gateway.protocol.answer import answer_verdict
from gateway.protocol.chunks import Protocol, Verdict
from gateway.protocol.engine_error import ErrorInfo
from gateway.protocol.usage import Usage

CHAT, GENERIC, AUDIO = Protocol.OPENAI_CHAT, Protocol.GENERIC, Protocol.TRANSCRIPTION
RESPONSES, MESSAGES = Protocol.RESPONSES, Protocol.MESSAGES
Reading = tuple[Verdict, ErrorInfo | None, Usage | None]
FINISH: Reading = (Verdict.FINISH, None, None)
ORDINARY: Reading = (Verdict.ORDINARY, None, None)
COUNTED: Reading = (Verdict.FINISH, None, Usage(1))
ABORT: Reading = (Verdict.ABORT, None, None)
MALFORMED: Reading = (Verdict.MALFORMED, None, None)


def error(message: str) -> Reading:
    return (Verdict.ERROR, ErrorInfo(message), None)


@pytest.mark.parametrize(
    ("protocol", "body", "reading"),
    [
        (CHAT, b'{"choices":[{"finish_reason":"stop"}]}', FINISH),
        (CHAT, b'{"choices":[{"index":0,"finish_reason":"tool_calls"}],"error":null}', FINISH),
        (CHAT, b'{"choices":[{"finish_reason":"abort"}]}', ABORT),
        (CHAT, b'{"choices":[{"finish_reason":"stop"},{"finish_reason":"abort"}]}', ABORT),
        (CHAT, b'{"choices":[{"t":"finish_reason\\":\\"abort","finish_reason":"stop"}]}', FINISH),
        (CHAT, b'{"choices":[{"finish_reason":"stop"},{"finish_reason":null}]}', ORDINARY),
        (CHAT, b'{"choices":[]}', ORDINARY),
        (CHAT, b"{}", ORDINARY),
        (CHAT, b'{"error":{"message":"m"}}', error("m")),
        (CHAT, b'{"error":"m"}', error("m")),
        (CHAT, b'{"object":"error","message":"m"}', error("m")),
        (CHAT, b"", MALFORMED),
        (CHAT, b"<html>", MALFORMED),
        (CHAT, b'{"choices":[{"finish_reason":"stop"}]', MALFORMED),
        (CHAT, b'{"choices":[{"finish_reason":"stop","x":NaN}]}', FINISH),
        (CHAT, b'{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}', COUNTED),
        (RESPONSES, b'{"status":"completed","error":null,"usage":{"input_tokens":1}}', COUNTED),
        (RESPONSES, b'{"status":"incomplete"}', FINISH),
        (RESPONSES, b'{"status":"queued"}', ORDINARY),
        (RESPONSES, b'{"status":"cancelled"}', ABORT),
        (RESPONSES, b'{"status":"failed","error":{"message":"m"}}', error("m")),
        (RESPONSES, b"x", MALFORMED),
        (MESSAGES, b'{"stop_reason":"end_turn","usage":{"input_tokens":1}}', COUNTED),
        (MESSAGES, b'{"stop_reason":"abort"}', ABORT),
        (MESSAGES, b'{"stop_reason":null}', ORDINARY),
        (MESSAGES, b'{"input_tokens":26}', ORDINARY),
        (MESSAGES, b'{"type":"error","error":{"message":"m"}}', error("m")),
        (MESSAGES, b"x", MALFORMED),
        (GENERIC, b'{"data":[{"embedding":[1.5,2]}],"usage":{"prompt_tokens":4}}',
         (Verdict.ORDINARY, None, Usage(4))),
        (GENERIC, b' {"error":{"message":"m"}}', error("m")),
        (GENERIC, b'{"data":[', MALFORMED),
        (GENERIC, b"\x00\x01raw", ORDINARY),
        (GENERIC, b"[1]", ORDINARY),
        (AUDIO, b"plain text", ORDINARY),
        (AUDIO, b"{braces} are text too", ORDINARY),
        (AUDIO, b'{"text":"a","usage":{"type":"duration","seconds":3}}',
         (Verdict.ORDINARY, None, Usage())),
        (AUDIO, b'{"error":{"message":"m"}}', error("m")),
    ],
)  # fmt: skip
def test_bodies(protocol: Protocol, body: bytes, reading: Reading) -> None:
    found = answer_verdict(body, protocol)
    assert (found.verdict, found.error, found.usage) == reading
