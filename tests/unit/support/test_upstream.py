"""The scripted server and the raw client agree with each other and with a known client."""

import asyncio

import httpx
import pytest

from tests.support import answers, wire
from tests.support.rawclient import RawConnection
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.wire import ChunkedBody


async def test_a_known_client_is_answered_as_by_vllm() -> None:
    async with (
        ScriptedUpstream("m1") as upstream,
        httpx.AsyncClient(base_url=upstream.url, trust_env=False) as client,
    ):
        assert (await client.get("/health")).status_code == 200
        listed = (await client.get("/v1/models")).json()["data"]
        assert [entry["id"] for entry in listed] == ["m1"]
        body = {"model": "m1", "messages": [], "stream": True}
        streamed = await client.post("/v1/chat/completions", json=body)
        assert streamed.content == b"".join(answers.chat_events("m1"))
        wrong = await client.post("/v1/completions", json={"model": "m2"})
        assert wrong.status_code == 404
        assert upstream.paths == ["/v1/chat/completions", "/v1/completions"]
        assert len(upstream.probes) == 2


@pytest.mark.parametrize("how", ["reset", "close"])
async def test_a_cut_stream_is_seen_as_incomplete(how: str) -> None:
    async def cut(exchange: Exchange) -> None:
        await exchange.start_stream()
        await exchange.event(b"data: 1\n\n")
        getattr(exchange, how)()

    async with ScriptedUpstream("m1") as upstream:
        upstream.handlers["*"] = cut
        async with RawConnection("127.0.0.1", upstream.port) as client:
            await client.request("POST", "/x", body=b"{}")
            answer = await client.read_answer()
        assert not answer.is_complete


async def test_the_peers_close_is_noted_while_a_handler_waits() -> None:
    seen: list[float] = []

    async def hold(exchange: Exchange) -> None:
        seen.append(await exchange.peer_closed())

    async with ScriptedUpstream("m1") as upstream:
        upstream.handlers["*"] = hold
        async with RawConnection("127.0.0.1", upstream.port) as client:
            await client.request("POST", "/x", body=b"{}")
            await upstream.until(lambda: upstream.live == 1)
        await upstream.until(lambda: upstream.live == 0)
        assert upstream.connections[0].closed_at_s is not None


async def test_nobody_listens_before_start_and_after_stop() -> None:
    upstream = ScriptedUpstream("m1")
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", upstream.port)
    async with upstream, RawConnection("127.0.0.1", upstream.port) as client:
        await client.request("GET", "/health")
        assert (await client.read_answer()).status == 200
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", upstream.port)


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
def test_a_chunked_body_is_decoded_under_any_cut(step: int) -> None:
    raw = wire.chunk(b"hello") + b"3;x=y\r\nabc\r\n" + b"0\r\nt: 1\r\n\r\n" + b"next"
    body = ChunkedBody()
    out = b"".join(body.feed(raw[at : at + step]) for at in range(0, len(raw), step))
    assert (out, body.is_complete, body.rest) == (b"helloabc", True, b"next")
    assert body.trailers == [b"t: 1"]
