"""Clients that speak HTTP in unusual ways, right or wrong."""

import pytest

from tests.support import answers, wire
from tests.support.gateway import CHAT, JSON, chat_request, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import one_model
from tests.support.upstream import ScriptedUpstream
from tests.support.waiting import LIMIT_S

BODY = wire.compact(chat_request("m1"))
STREAM = wire.compact(chat_request("m1", stream=True))
POST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\nContent-Type: application/json\r\n"
LENGTH = b"Content-Length: %d\r\n\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
OLD = b"POST /v1/chat/completions HTTP/1.0\r\nContent-Type: application/json\r\n"


async def exchange(data: bytes, count: int = 1) -> tuple[list[RawAnswer], ScriptedUpstream]:
    """The answers to raw bytes on one connection, and what the backend saw."""
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1)) as gateway,
        gateway.connect() as connection,
    ):
        await connection.send(data)
        return [await connection.read_answer() for _ in range(count)], u1


RIGHT = {
    "plain": POST + LENGTH + BODY,
    "absolute form": POST.replace(b"/v1", b"http://other.example/v1", 1) + LENGTH + BODY,
    "chunked": POST + CHUNKED + wire.chunk(BODY[:5]) + wire.chunk(BODY[5:]) + wire.LAST_CHUNK,
    "chunk extension": POST + CHUNKED + b"%x;a=b\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n",
    "trailers": POST + CHUNKED + wire.chunk(BODY) + b"0\r\nX-Sum: 1\r\n\r\n",
    "long header": POST + b"X-Long: " + b"a" * 60_000 + b"\r\n" + LENGTH + BODY,
    "slashes": POST.replace(b"/v1/chat", b"//v1//chat", 1) + LENGTH + BODY,
    "trailing slash": POST.replace(b"completions ", b"completions/ ", 1) + LENGTH + BODY,
    "HTTP/1.0": OLD + LENGTH + BODY,
    "HTTP/1.0 keep-alive": OLD + b"Connection: keep-alive\r\n" + LENGTH + BODY,
    "identity": POST + b"Content-Encoding: identity\r\n" + LENGTH + BODY,
}


@pytest.mark.parametrize("name", sorted(RIGHT))
async def test_what_is_right_is_answered(name: str) -> None:
    (answer,), u1 = await exchange(RIGHT[name])
    assert (answer.status, answer.is_complete) == (200, True)
    assert answer.body == answers.chat_body("m1")
    assert (u1.requests[0].target, u1.requests[0].body) == (CHAT, BODY)


async def test_http_1_0_gets_a_stream_without_chunks() -> None:
    data = OLD + b"Content-Length: %d\r\n\r\n" % len(STREAM) + STREAM
    (answer,), _ = await exchange(data)
    assert answer.status == 200
    assert answer.all("transfer-encoding") == []
    assert answer.events == answers.chat_events("m1")


async def test_pipelined_requests_are_answered_in_order() -> None:
    wrong = wire.compact(chat_request("nobody"))
    second = POST + b"Content-Length: %d\r\n\r\n" % len(wrong) + wrong
    got, u1 = await exchange(POST + LENGTH + BODY + second + POST + LENGTH + BODY, 3)
    assert [answer.status for answer in got] == [200, 404, 200]
    assert len(u1.requests) == 2


async def test_a_query_is_handed_on() -> None:
    data = POST.replace(b"completions ", b"completions?api-version=1&x=%20y ", 1)
    (answer,), u1 = await exchange(data + LENGTH + BODY)
    assert answer.status == 200
    assert u1.requests[0].target == CHAT + "?api-version=1&x=%20y"


@pytest.mark.parametrize("value", ["100-continue", "100-Continue"])
async def test_a_client_that_waits_for_100_gets_it(value: str) -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1)) as gateway,
        gateway.connect() as connection,
    ):
        length = ("Content-Length", str(len(BODY)))
        await connection.request("POST", CHAT, [JSON, ("Expect", value), length])
        assert await connection.read_once(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        await connection.send(BODY)
        assert (await connection.read_answer()).status == 200
        assert u1.requests[0].all("expect") == []


async def test_a_refusal_before_the_body_needs_no_100() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1), client_keys=["k"]) as gateway,
        gateway.connect() as connection,
    ):
        length = ("Content-Length", str(len(BODY)))
        await connection.request("POST", CHAT, [JSON, ("Expect", "100-continue"), length])
        answer = await connection.read_answer()
        assert (answer.status, answer.interim) == (401, [])
        assert answer.header("www-authenticate") == "Bearer"


# Two ways to read where a request ends are a door for smuggled ones: none of them passes.
WRONG = {
    "length and chunked": POST + b"Content-Length: 5\r\n" + CHUNKED + wire.chunk(BODY),
    "two lengths": POST + b"Content-Length: 5\r\n" + LENGTH + BODY,
    "no number": POST + b"Content-Length: abc\r\n\r\n",
    "negative": POST + b"Content-Length: -5\r\n\r\n",
    "plus": POST + b"Content-Length: +5\r\n\r\n",
    "chunk size": POST + CHUNKED + b"zz\r\n",
    "folded header": POST + b"X-A: a\r\n b\r\n" + LENGTH + BODY,
    "blank before colon": POST + b"X-A : a\r\n" + LENGTH + BODY,
    "no HTTP": b"garbage\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


@pytest.mark.parametrize("name", sorted(WRONG))
async def test_what_is_no_http_gets_the_envelope_and_goes_no_further(name: str) -> None:
    (answer,), u1 = await exchange(WRONG[name])
    assert answer.status == 400
    assert answer.error["type"] == "invalid_request_error"
    assert answer.header("connection") == "close"
    assert u1.requests == []


async def test_a_body_is_no_part_of_the_bounded_head() -> None:
    body = wire.compact(chat_request("m1", note="x" * 200_000))
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    got, u1 = await exchange((POST + length + body) * 3, 3)
    assert [answer.status for answer in got] == [200, 200, 200]
    assert [request.body for request in u1.requests] == [body] * 3


async def test_a_packed_body_is_refused_in_words() -> None:
    (answer,), u1 = await exchange(POST + b"Content-Encoding: gzip\r\n" + LENGTH + BODY)
    assert (answer.status, answer.error["code"]) == (415, "unsupported_media_type")
    assert "gzip" in answer.error["message"]
    assert u1.requests == []


async def test_a_connection_lives_on_after_refusals() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1)) as gateway,
        gateway.connect() as connection,
    ):
        for body, status in ((b"[]", 400), (b'{"model":"x"}', 404), (BODY, 200), (STREAM, 200)):
            await connection.request("POST", CHAT, [JSON], body)
            assert (await connection.read_answer()).status == status
        await connection.request("GET", "/v1/models")
        assert (await connection.read_answer()).status == 200
        assert len(u1.requests) == 2


async def test_a_head_without_end_is_bounded() -> None:
    (answer,), u1 = await exchange(POST + b"X-Big: " + b"a" * 100_000)
    assert answer.status == 431
    assert answer.error["message"]
    assert u1.requests == []


async def test_a_head_that_comes_too_slowly_is_ended() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1), head_s=2.0) as gateway,
        gateway.connect() as slow,
        gateway.connect() as silent,
        gateway.connect() as good,
    ):
        await good.send(POST + LENGTH + BODY)
        assert (await good.read_answer()).status == 200
        await slow.send(POST + b"X-Slow: ")
        answer = await slow.read_answer()
        assert (answer.status, answer.error["code"]) == (408, "head_timeout")
        assert await silent.is_closed_by_peer(LIMIT_S)
        # A connection between two requests is not expected to send a head.
        await good.send(POST + LENGTH + BODY)
        assert (await good.read_answer()).status == 200


async def test_connect_is_refused() -> None:
    (answer,), _ = await exchange(b"CONNECT example.org:443 HTTP/1.1\r\nHost: gw\r\n\r\n")
    assert (answer.status, answer.error["code"]) == (400, "invalid_http")


UPGRADES = [
    [("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMA")],
    [("Connection", "upgrade"), ("upgrade", "TLS/1.2")],
    [("UPGRADE", "h2c"), ("Connection", "Upgrade")],
]


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("offer", UPGRADES, ids=["h2c", "tls", "capitals"])
async def test_an_offer_of_another_protocol_is_passed_over(
    offer: list[tuple[str, str]], pieces: int
) -> None:
    """The JDK's client offers h2c with its first request, body included."""
    lines = b"".join(f"{name}: {value}\r\n".encode() for name, value in offer)
    data = POST + lines + LENGTH + BODY
    cut = len(POST) + len(lines) // 2
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1)) as gateway,
        gateway.connect() as connection,
    ):
        for piece in [data] if pieces == 1 else [data[:cut], data[cut:-9], data[-9:]]:
            await connection.send(piece)
        assert (await connection.read_answer()).status == 200
        await connection.send(POST + lines + b"Expect: 100-continue\r\n" + LENGTH)
        # The body comes after the head has been answered, in a write of its own.
        await connection.send(BODY)
        answer = await connection.read_answer()
        assert (answer.status, answer.interim) == (200, [100])
        await connection.send(POST + LENGTH + BODY)
        assert (await connection.read_answer()).status == 200
        assert [request.body for request in u1.requests] == [BODY] * 3
        for request in u1.requests:
            assert not request.all("upgrade")
            assert not request.all("http2-settings")
