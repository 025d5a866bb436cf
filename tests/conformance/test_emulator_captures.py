"""The emulator against a real vLLM, key by key: status, headers, JSON shape, order of events."""

import json
from typing import Any

import pytest

from gateway.emulator.fleet import EmulatedFleet
from tests.support import captures, wire
from tests.support.captures import SERVED, Capture
from tests.support.fleet import spec
from tests.support.rawclient import RawConnection

PREFIXES = ("02_models", "03_", "04_", "05_", "06_", "07_", "08_", "09_", "10_", "11_", "12_")
# Why the emulator differs there on purpose.
DIFFERENT = {
    "05_chat_stream_to_eos": "the emulated answer ends at the limit, so its last event has text",
    "12_cors_preflight": "browsers talk to the gateway, never to an engine",
    "06_json_schema_bad": "the engine's refusal is that of its schema library, word for word",
}

# Two choices end in an order of their own: the first and the last two kinds are compared.
INTERLEAVED = {"05_chat_n2_stream", "04_comp_batch_stream"}


def header_names(capture: Capture) -> list[str]:
    """The names of the final head's headers, as they were captured."""
    heads = (wire.parse_head(part) for part in capture.response.split(b"\r\n\r\n"))
    headers = next(headers for first, headers in heads if not first.startswith("HTTP/1.1 1"))
    return [name.lower() for name, _ in headers]


def shape(value: Any) -> Any:
    """The keys and kinds of a JSON value; lists by their first entry; null may be anything."""
    if isinstance(value, dict):
        # The keys of top_logprobs are tokens.
        return {
            key: "list" if key == "top_logprobs" else shape(entry) for key, entry in value.items()
        }
    if isinstance(value, list):
        return [shape(value[0])] if value and isinstance(value[0], dict) else "list"
    if value is None:
        return None
    return "number" if isinstance(value, int | float) else type(value).__name__


def agree(theirs: Any, ours: Any) -> bool:
    """Whether two shapes agree; what may be null in one answer may be set in another."""
    if theirs is None or ours is None:
        return True
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return theirs.keys() == ours.keys() and all(agree(theirs[k], ours[k]) for k in theirs)
    if isinstance(theirs, list) and isinstance(ours, list):
        return agree(theirs[0], ours[0])
    return bool(theirs == ours) or {str(theirs), str(ours)} <= {"list", "[]"}


def kinds(stream: bytes) -> list[tuple[str, Any]]:
    """Each kind of event in the order of first appearance: its name and its shape."""
    found: list[tuple[str, Any]] = []
    for block in stream.decode().split("\n\n"):
        lines = [line for line in block.split("\n") if line]
        if not lines:
            continue
        name = next((line[7:] for line in lines if line.startswith("event: ")), "")
        data = next(line[6:] for line in lines if line.startswith("data: "))
        entry = (name, "[DONE]" if data == "[DONE]" else shape(json.loads(data)))
        if not found or not (found[-1][0] == name and agree(found[-1][1], entry[1])):
            found.append(entry)
    return found


@pytest.mark.parametrize("name", [n for n in captures.names(*PREFIXES) if n not in DIFFERENT])
async def test_the_emulator_answers_in_the_engines_shape(name: str) -> None:
    capture = captures.load(name)
    backend = spec("b", SERVED, max_model_len=4096, root="tiny-qwen3", time_scale=1000.0)
    async with EmulatedFleet([backend]) as fleet:  # noqa: SIM117 - the second needs the first
        async with RawConnection("127.0.0.1", fleet["b"].port) as connection:
            headers = [h for h in capture.headers if h[0].lower() not in ("host", "content-length")]
            body = capture.body if capture.method == "POST" else None
            await connection.request(capture.method, capture.target, headers, body)
            answer = await connection.read_answer(has_body=capture.method != "HEAD")
    assert (answer.status, answer.header("content-type")) == (capture.status, capture.content_type)
    assert [header.lower() for header, _ in answer.headers] == header_names(capture)
    if (capture.content_type or "").startswith("text/event-stream"):
        theirs, ours = kinds(capture.answer), kinds(answer.body)
        if name in INTERLEAVED:
            theirs, ours = theirs[:1] + theirs[-2:], ours[:1] + ours[-2:]
        assert [n for n, _ in ours] == [n for n, _ in theirs]
        differing = [(t, o) for (_, t), (_, o) in zip(theirs, ours, strict=True) if not agree(t, o)]
        assert differing == []
    elif capture.answer:
        theirs, ours = shape(json.loads(capture.answer)), shape(json.loads(answer.body))
        assert agree(theirs, ours), (theirs, ours)


def test_the_differences_are_captures_with_reasons() -> None:
    assert set(DIFFERENT) <= set(captures.names(*PREFIXES))
    assert all(DIFFERENT.values())
