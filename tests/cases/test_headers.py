"""Reports about headers of answers: codings, lengths, duplicates, buffering."""

import asyncio
import gzip
import json

import pytest

from tests.support import answers, wire
from tests.support.connection import DATE
from tests.support.gateway import CHAT, JSON, chat_request, running_gateway
from tests.support.routing import one_model
from tests.support.upstream import Exchange, ScriptedUpstream

LONG_ALIAS = "a-much-longer-public-name-than-the-one-the-engine-knows"
ERROR = b'{"error":{"message":"model m1 is busy","type":"BadRequestError","param":null,"code":400}}'


@pytest.mark.case("stream-buffer-1")
async def test_stream_buffer_1() -> None:
    seen: asyncio.Queue[int] = asyncio.Queue()
    events = answers.chat_events("m1", ["a", "b", "c"])

    async def in_step(exchange: Exchange) -> None:
        # The next event is sent only after the client has read the last one.
        await exchange.write(
            wire.head(
                200, [("content-type", "text/event-stream"), ("transfer-encoding", "chunked")]
            )
        )
        for number, one in enumerate(events):
            if number:
                assert await seen.get() >= number
            await exchange.event(one)
        await exchange.end_stream()

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers[CHAT] = in_step
        async with gateway.connect() as connection:
            body = wire.compact(chat_request("m1", stream=True))
            await connection.request("POST", CHAT, [JSON], body)
            answer = await connection.read_head()
            assert (answer.header("content-type") or "").startswith("text/event-stream")
            assert "no-cache" in (answer.header("cache-control") or "")
            assert answer.header("x-accel-buffering") == "no"
            assert answer.header("content-length") is None
            for number in range(1, len(events) + 1):
                await connection.read_events(answer, number)
                seen.put_nowait(number)
            while await connection.read_piece(answer):
                pass
            assert answer.is_complete
            assert answer.events == events


@pytest.mark.case("hdr-coding-1")
@pytest.mark.parametrize("public", ["m1", LONG_ALIAS])
@pytest.mark.parametrize("status", [200, 400])
async def test_hdr_coding_1(public: str, status: int) -> None:
    plain = answers.chat_body("m1") if status == 200 else ERROR

    async def packed(exchange: Exchange) -> None:
        await exchange.answer(status, gzip.compress(plain), headers=[("Content-Encoding", "gzip")])

    expected = json.loads(plain.replace(b'"model":"m1"', b'"model":"%s"' % public.encode()))
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, public)) as gateway:
        u1.handlers[CHAT] = packed
        for accepted in ([("Accept-Encoding", "gzip")], [("Accept-Encoding", "identity")], []):
            answer = await gateway.chat(public, accepted)
            assert answer.status == status
            assert answer.is_complete
            coding = answer.header("content-encoding")
            assert coding in (None, "gzip")
            assert coding is None or accepted == [("Accept-Encoding", "gzip")]
            body = gzip.decompress(answer.body) if coding else answer.body
            assert json.loads(body) == expected


async def test_a_coding_that_cannot_be_undone_keeps_its_header() -> None:
    packed = b"\x1b\x0b\x00\xf8not really brotli"

    async def unknown(exchange: Exchange) -> None:
        await exchange.answer(200, packed, headers=[("content-encoding", "br")])

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers[CHAT] = unknown
        answer = await gateway.chat("m1", [("Accept-Encoding", "br")])
        assert answer.status == 200
        assert (answer.header("content-encoding"), answer.body) == ("br", packed)


async def test_a_packed_stream_is_unpacked_and_relayed() -> None:
    events = answers.chat_events("m1")

    async def packed(exchange: Exchange) -> None:
        await exchange.start_stream([("content-encoding", "gzip")])
        data = gzip.compress(b"".join(events))
        for at in range(0, len(data), 7):
            await exchange.event(data[at : at + 7])
        await exchange.end_stream()

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, "alias")) as gateway:
        u1.handlers[CHAT] = packed
        answer = await gateway.chat("alias", stream=True)
        assert answer.header("content-encoding") is None
        assert answer.events == answers.chat_events("alias")


@pytest.mark.case("hdr-length-1")
async def test_hdr_length_1() -> None:
    async def refuse(exchange: Exchange) -> None:
        await exchange.answer(400, ERROR)

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, LONG_ALIAS)) as gateway:
        whole = await gateway.chat(LONG_ALIAS)
        assert (whole.status, whole.is_complete) == (200, True)
        assert whole.json()["model"] == LONG_ALIAS
        u1.handlers[CHAT] = refuse
        refused = await gateway.chat(LONG_ALIAS, stream=True)
        assert (refused.status, refused.is_complete) == (400, True)
        assert refused.json() == json.loads(ERROR)
        for answer in (whole, refused):
            # The raw client itself fails on both framings at once.
            framed = answer.all("content-length") + answer.all("transfer-encoding")
            assert len(framed) == 1
            assert framed[0] in ("chunked", str(len(answer.body)))


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, b'{"object":"error","message":"flat","type":"BadRequestError","code":400}', "flat"),
        (500, b"Internal Server Error", "text"),
        (404, b'{"detail":"Not Found"}', "detail"),
    ],
)
async def test_a_wrapped_error_has_its_own_length(status: int, body: bytes, kind: str) -> None:
    async def refuse(exchange: Exchange) -> None:
        await exchange.answer(status, body)

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        u1.handlers[CHAT] = refuse
        answer = await gateway.chat("m1", stream=True)
        assert (answer.status, answer.is_complete) == (status, True), kind
        assert answer.header("content-length") == str(len(answer.body))
        assert answer.error["message"]


HOP_BY_HOP = (
    ("date", DATE),
    ("server", "uvicorn"),
    ("connection", "keep-alive, x-hop"),
    ("keep-alive", "timeout=5"),
    ("x-hop", "1"),
    ("proxy-authenticate", "Basic"),
    ("te", "trailers"),
    ("trailer", "x-sum"),
    ("upgrade", "h2c"),
    ("x-request-id", "from-the-engine"),
    ("x-kept", "yes"),
)


@pytest.mark.case("hdr-dup-1")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("public", ["m1", LONG_ALIAS])
async def test_hdr_dup_1(stream: bool, public: str) -> None:
    async def doubled(exchange: Exchange) -> None:
        kind = "text/event-stream; charset=utf-8" if stream else "application/json"
        events = answers.chat_events("m1")
        body = b"".join(events) if stream else answers.chat_body("m1")
        length = ("content-length", str(len(body)))
        await exchange.write(wire.head(200, [*HOP_BY_HOP, ("content-type", kind), length]) + body)

    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1, public)) as gateway:
        u1.handlers[CHAT] = doubled
        answer = await gateway.chat(public, stream=stream)
        assert (answer.status, answer.is_complete) == (200, True)
        for name in ("date", "content-type", "x-request-id"):
            assert len(answer.all(name)) == 1, name
        assert len(answer.all("server")) <= 1
        assert len(answer.all("content-length") + answer.all("transfer-encoding")) == 1
        gone = ("keep-alive", "x-hop", "te", "trailer", "upgrade", "proxy-authenticate")
        assert [name for name in gone if answer.all(name)] == []
        assert not any("x-hop" in value for value in answer.all("connection"))
        assert answer.header("x-request-id") != "from-the-engine"
        assert answer.header("x-kept") == "yes"


async def test_hop_by_hop_headers_of_a_client_end_at_the_gateway() -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        headers = [
            ("Connection", "keep-alive, x-secret-hop"),
            ("X-Secret-Hop", "1"),
            ("Keep-Alive", "timeout=5"),
            ("TE", "trailers"),
            ("Proxy-Connection", "keep-alive"),
            ("X-Kept", "yes"),
        ]
        assert (await gateway.chat("m1", headers)).status == 200
        request = u1.requests[0]
        for name in ("x-secret-hop", "keep-alive", "te", "proxy-connection"):
            assert request.all(name) == []
        assert request.header("x-kept") == "yes"
        assert request.header("host") == u1.authority
