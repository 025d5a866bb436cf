"""The one table from outcome to answer, and its rendering in each protocol."""

import json

import pytest

from gateway.errors import Outcome, Refusal
from gateway.protocol.chunks import Protocol
from gateway.protocol.envelope import TABLE, ErrorView, error_body, error_event

OPENAI = [
    Protocol.OPENAI_CHAT,
    Protocol.OPENAI_COMPLETIONS,
    Protocol.TRANSCRIPTION,
    Protocol.GENERIC,
    Protocol.RESPONSES,
]


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_face(outcome: Outcome) -> None:
    face = TABLE[outcome]
    assert 400 <= face.status < 600
    assert face.meaning.endswith(".")
    assert (face.type == "invalid_request_error") == (
        face.status in (400, 404, 405, 408, 413, 415, 431)
    )


@pytest.mark.parametrize("protocol", OPENAI)
def test_openais_envelope(protocol: Protocol) -> None:
    view = ErrorView.of(Refusal(Outcome.MODEL_NOT_FOUND, "no 模型", param="model"))
    assert json.loads(error_body(view, protocol)) == {
        "error": {
            "message": "no 模型",
            "type": "invalid_request_error",
            "param": "model",
            "code": "model_not_found",
        }
    }


def test_anthropics_envelope() -> None:
    view = ErrorView.of(Refusal(Outcome.MODEL_NOT_FOUND, "no", param="model"))
    told = json.loads(error_body(view, Protocol.MESSAGES))
    assert told["type"] == "error"
    assert told["error"]["type"] == "not_found_error"
    assert (told["error"]["message"], told["error"]["code"]) == ("no", "model_not_found")


@pytest.mark.parametrize(
    ("protocol", "head"),
    [
        (Protocol.OPENAI_CHAT, b'data: {"error":{'),
        (Protocol.OPENAI_COMPLETIONS, b'data: {"error":{'),
        (Protocol.TRANSCRIPTION, b'data: {"error":{'),
        (Protocol.MESSAGES, b'event: error\ndata: {"type":"error","error":{'),
        (Protocol.RESPONSES, b'event: error\ndata: {"type":"error",'),
    ],
)
def test_events(protocol: Protocol, head: bytes) -> None:
    event = error_event(ErrorView.of(Refusal(Outcome.UPSTREAM_CUT, "cut")), protocol, 7)
    assert event.startswith(head)
    assert event.endswith(b"}\n\n")
    assert event.count(b"\n\n") == 1
    told = json.loads(event.partition(b"data: ")[2])
    assert told["error"]["message"] == "cut"
    if protocol is Protocol.RESPONSES:
        assert (told["code"], told["sequence_number"]) == ("backend_stream_cut", 7)


@pytest.mark.parametrize(
    ("seconds", "header"), [(None, None), (0.0, b"1"), (0.2, b"1"), (1.0, b"1"), (1.2, b"2")]
)
def test_retry_after_is_whole_seconds(seconds: float | None, header: bytes | None) -> None:
    refusal = Refusal(Outcome.OVERLOADED, "full", retry_after_s=seconds)
    assert dict(ErrorView.of(refusal).headers).get(b"retry-after") == header


def test_a_lone_surrogate_does_not_break_an_error() -> None:
    view = ErrorView.of(Refusal(Outcome.MODEL_NOT_FOUND, "no '\ud800'"))
    assert json.loads(error_body(view, Protocol.GENERIC))["error"]["message"] == "no '\ud800'"
