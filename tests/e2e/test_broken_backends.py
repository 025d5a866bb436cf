"""Backends that answer wrongly: the client gets an error in words, never half an answer."""

import asyncio
import json

import pytest

from tests.support import answers, wire
from tests.support.gateway import CHAT, chat_request, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import one_model
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import eventually

EVENTS = answers.chat_events("m1")
BODY = answers.chat_body("m1")
KIND = ("content-type", "application/json")
SSE = [("content-type", "text/event-stream"), ("transfer-encoding", "chunked")]
ENGINE_ERROR = (
    b'data: {"error": {"message": "out of it", "type": "E", "param": null, "code": %d}}\n\n'
)


def whole(body: bytes, status: int = 200, kind: tuple[str, str] = KIND) -> bytes:
    return wire.head(status, [kind, ("content-length", str(len(body)))]) + body


def stream(*events: bytes) -> bytes:
    return wire.head(200, SSE) + b"".join(map(wire.chunk, events)) + wire.LAST_CHUNK


async def ask(raw: bytes, *, is_stream: bool = False, path: str = CHAT) -> RawAnswer:
    async def send(exchange: Exchange) -> None:
        await exchange.write(raw)
        exchange.close()

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, "public")) as gateway:
        u1.handlers[path] = send
        answer = await gateway.post(path, chat_request("public", stream=is_stream))
        await gateway.until_idle()
        # Nothing of where the backend lives is told.
        assert str(u1.port).encode() not in answer.body
        assert b"127.0.0.1" not in answer.body
        return answer


WHOLE = {
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", "backend_stream_cut"),
    "empty": (whole(b""), "backend_stream_cut"),
    "html": (whole(b"<html></html>"), "backend_malformed_answer"),
    "half json": (whole(BODY[:60]), "backend_malformed_answer"),
    "cut": (wire.head(200, [KIND, ("content-length", "999")]) + BODY[:60], "backend_stream_cut"),
    "status line": (b"HTP/1.1 200 OK\r\n\r\n", "backend_malformed_answer"),
    "long head": (
        wire.head(200, [("x", "a" * 200_000)]) + b"{}",
        "backend_malformed_answer",
    ),
    "switch": (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "backend_malformed_answer"),
    "redirect": (
        wire.head(307, [("location", "http://10.0.0.1/x"), ("content-length", "0")]),
        "backend_malformed_answer",
    ),
    "chunk size": (wire.head(200, SSE) + b"zz\r\n", "backend_malformed_answer"),
    "error in 200": (
        whole(b'{"error":{"message":"out of it","type":"E","param":null,"code":500}}'),
        "backend_error",
    ),
}


@pytest.mark.parametrize("name", sorted(WHOLE))
async def test_a_wrong_answer_is_a_502(name: str) -> None:
    raw, code = WHOLE[name]
    answer = await ask(raw)
    assert (answer.status, answer.error["code"]) == (502, code)
    assert answer.all("location") == []


@pytest.mark.parametrize(
    "events",
    [
        [],
        [b": keep-alive\n\n"],
        [wire.DONE],
        [b"data: {not json\n\n", *EVENTS],
        [b'data: {"error": "boom"}\n\n', wire.DONE],
        [b": keep-alive\n\n", ENGINE_ERROR % 500, wire.DONE],
    ],
)
async def test_a_stream_that_never_begins_is_a_real_error(events: list[bytes]) -> None:
    answer = await ask(stream(*events), is_stream=True)
    assert answer.status in (500, 502)
    assert answer.error["type"]
    assert b"[DONE]" not in answer.body


async def test_a_first_event_with_the_clients_fault_is_a_400() -> None:
    answer = await ask(stream(ENGINE_ERROR % 400, wire.DONE), is_stream=True)
    assert (answer.status, answer.error["message"]) == (400, "out of it")


@pytest.mark.parametrize(
    "ending",
    [
        [b"data: {not json\n\n", *EVENTS[2:]],
        [ENGINE_ERROR % 500, wire.DONE],
        [b'data: {"object":"error","message":"flat","type":"E","code":500}\n\n', wire.DONE],
        [wire.DONE],
        [answers.chat_event("m1", {}, "abort"), wire.DONE],
    ],
    ids=["malformed", "error", "flat error", "done without finish", "abort"],
)
async def test_a_stream_that_goes_wrong_ends_in_one_error_event(ending: list[bytes]) -> None:
    answer = await ask(stream(*EVENTS[:2], *ending), is_stream=True)
    assert (answer.status, answer.is_complete) == (200, True)
    assert answer.events[:2] == answers.chat_events("public")[:2]
    assert len(answer.events) == 3
    assert wire.event_json(answer.events[2])["error"]["message"]
    assert b"[DONE]" not in answer.body


RIGHT = {
    "length": wire.head(200, [SSE[0], ("content-length", str(sum(map(len, EVENTS))))])
    + b"".join(EVENTS),
    "until close": wire.head(200, [SSE[0], ("connection", "close")]) + b"".join(EVENTS),
    "capitals": wire.head(200, [("Content-Type", "Text/Event-Stream; charset=UTF-8"), SSE[1]])
    + b"".join(map(wire.chunk, EVENTS))
    + wire.LAST_CHUNK,
    "one chunk": stream(b"".join(EVENTS)),
    "early hints": b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + stream(*EVENTS),
}


@pytest.mark.parametrize("name", sorted(RIGHT))
async def test_unusual_framings_of_a_good_stream_are_good(name: str) -> None:
    answer = await ask(RIGHT[name], is_stream=True)
    assert (answer.status, answer.is_complete) == (200, True)
    assert answer.events == answers.chat_events("public")


async def test_a_whole_answer_to_a_stream_request_stays_whole() -> None:
    answer = await ask(whole(BODY), is_stream=True)
    assert answer.header("content-type") == "application/json"
    assert json.loads(answer.body) == json.loads(answers.chat_body("public"))


@pytest.mark.parametrize("kind", ["application/octet-stream", "text/plain"])
async def test_vectors_in_bytes_pass_untouched(kind: str) -> None:
    """vLLM answers `encoding_format: bytes` in bytes."""
    data = bytes(range(256))
    answer = await ask(whole(data, kind=("content-type", kind)), path="/v1/embeddings")
    assert (answer.status, answer.body) == (200, data)
    assert answer.header("content-type") == kind


@pytest.mark.parametrize(("path", "state"), [("/health", "down"), ("/v1/models", "up")])
async def test_a_probe_that_drips_has_an_end(path: str, state: str) -> None:
    """Byte by byte no read is late; only /health decides on the state."""

    async def drips(exchange: Exchange) -> None:
        head = [("content-type", "application/json"), ("content-length", "100000")]
        await exchange.write(wire.head(200, head))
        while True:
            await exchange.write(b" ")
            await asyncio.sleep(0.1)

    async with ScriptedUpstream("m1") as u1:
        u1.handlers[path] = drips
        settings = {"probe_interval_s": 0.2, "probe_timeout_s": 0.5}
        async with running_gateway(one_model(u1), wait=False, **settings) as gateway:

            async def is_there() -> bool:
                return (await gateway.health())["backends"]["u1"]["state"] == state

            await eventually(is_there)
