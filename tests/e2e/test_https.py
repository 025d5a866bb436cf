"""HTTPS to the gateway: official clients, streams, clients that leave, and another certificate."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import trustme
import yaml

from gateway.app import build_gateway
from gateway.config.load import load_text
from gateway.emulator.fleet import EmulatedFleet
from gateway.server import Server
from gateway.settings import Settings
from tests.support import answers
from tests.support.fleet import spec
from tests.support.gateway import CHAT, chat_request
from tests.support.process import gateway_process
from tests.support.routing import backend, model, one_model, routes
from tests.support.upstream import Exchange, ScriptedUpstream
from tests.support.waiting import LIMIT_S, eventually

HOST = "127.0.0.1"
HELLO = [{"role": "user", "content": "你好, fleet"}]


class Secured:
    """A gateway behind HTTPS, its files and what its clients trust."""

    def __init__(self, folder: Path) -> None:
        self.authority = trustme.CA()
        self.files = {"tls_cert_file": folder / "tls.crt", "tls_key_file": folder / "tls.key"}
        self.issue()
        self.trust = ssl.create_default_context()
        self.authority.configure_trust(self.trust)
        self.server: Server | None = None

    def issue(self) -> None:
        pair = self.authority.issue_cert(HOST)
        pair.private_key_pem.write_to_path(self.files["tls_key_file"])
        pair.cert_chain_pems[0].write_to_path(self.files["tls_cert_file"])

    @property
    def url(self) -> str:
        assert self.server is not None
        return f"{self.server.scheme}://{HOST}:{self.server.port}"

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.url, verify=self.trust, timeout=LIMIT_S)

    async def until_up(self) -> None:
        async with self.client() as client:

            async def is_up() -> bool:
                told = (await client.get("/health")).json()
                return all(one["state"] == "up" for one in told["backends"].values())

            await eventually(is_up)

    async def until_idle(self) -> None:
        async with self.client() as client:

            async def is_idle() -> bool:
                told = (await client.get("/health")).json()
                return all(one["in_flight"] == 0 for one in told["backends"].values())

            await eventually(is_idle)


@asynccontextmanager
async def secured(config: dict[str, Any], folder: Path, **settings: Any) -> AsyncIterator[Secured]:
    loaded = load_text(yaml.safe_dump(config), "routing.yaml")
    assert loaded.config is not None, loaded.problems
    stage = Secured(folder)
    values = {"port": 0, "access_log": False, **stage.files, **settings}
    stage.server = Server(build_gateway(Settings(**values), loaded.config))
    await stage.server.start()
    try:
        await stage.until_up()
        yield stage
    finally:
        await asyncio.wait_for(stage.server.stop(), LIMIT_S)


async def test_the_official_client_whole_and_streamed(tmp_path: Path) -> None:
    async with EmulatedFleet([spec("a", "m")]) as fleet:
        entries = [backend("a", fleet["a"].url, served_name="m")]
        config = routes(entries, [model("pub", "a")])
        async with (
            secured(config, tmp_path) as stage,
            stage.client() as http,
            openai.AsyncOpenAI(
                base_url=f"{stage.url}/v1", api_key="none", max_retries=0, http_client=http
            ) as client,
        ):
            asked: dict[str, Any] = {"model": "pub", "messages": HELLO, "max_tokens": 64}
            whole = await client.chat.completions.create(**asked)
            streams = await asyncio.gather(
                *(client.chat.completions.create(**asked, stream=True) for _ in range(4))
            )
            for stream in streams:
                chunks = [chunk async for chunk in stream]
                text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
                assert text == whole.choices[0].message.content
                assert chunks[-1].choices[0].finish_reason == whole.choices[0].finish_reason
            with pytest.raises(openai.NotFoundError, match="pub"):
                await client.chat.completions.create(model="pubb", messages=HELLO)


async def test_large_bodies_go_both_ways_and_connections_are_kept(tmp_path: Path) -> None:
    said = "y" * 3_000_000

    async def answer(exchange: Exchange) -> None:
        await exchange.answer(200, answers.chat_body("m1", said))

    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = answer
        async with secured(one_model(u1), tmp_path) as stage, stage.client() as client:
            streams = set()
            for _ in range(3):
                sent = chat_request("m1", user="x" * 3_000_000)
                reply = await client.post(CHAT, json=sent)
                assert reply.json()["choices"][0]["message"]["content"] == said
                assert reply.http_version == "HTTP/1.1"
                streams.add(reply.extensions["network_stream"].get_extra_info("client_addr"))
            assert len(streams) == 1
        assert [len(request.body) > 3_000_000 for request in u1.requests] == [True] * 3


@pytest.mark.parametrize("is_polite", [True, False])
async def test_a_client_that_leaves_ends_its_request(tmp_path: Path, is_polite: bool) -> None:
    event = answers.chat_events("m1", ["x"])[1]

    async def go_on(exchange: Exchange) -> None:
        await exchange.start_stream()
        while True:
            await exchange.event(event)
            await asyncio.sleep(0.01)

    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = go_on
        async with secured(one_model(u1), tmp_path) as stage:
            assert stage.server is not None
            reader, writer = await asyncio.open_connection(
                HOST, stage.server.port, ssl=stage.trust, server_hostname=HOST
            )
            body = b'{"model":"m1","stream":true,"messages":[]}'
            head = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            writer.write(head.encode() + b"content-length: %d\r\n\r\n%b" % (len(body), body))
            await reader.readuntil(b"data: ")
            if is_polite:
                writer.close()
            else:
                writer.transport.abort()
            await stage.until_idle()


async def test_a_client_that_does_not_read_is_dropped(tmp_path: Path) -> None:
    event = answers.chat_events("m1", ["x" * 4000])[1]

    async def flood(exchange: Exchange) -> None:
        await exchange.start_stream()
        while True:
            await exchange.event(event)

    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = flood
        config = one_model(u1, timeouts={"total_s": 1.0})
        async with secured(config, tmp_path) as stage, stage.client() as client:
            asked = chat_request("m1", stream=True)
            async with client.stream("POST", CHAT, json=asked) as reply:
                assert reply.status_code == 200
                await stage.until_idle()


async def test_plain_http_and_half_a_handshake_harm_nobody(tmp_path: Path) -> None:
    async with ScriptedUpstream("m1") as u1, secured(one_model(u1), tmp_path) as stage:
        assert stage.server is not None
        port = stage.server.port
        plain_reader, plain = await asyncio.open_connection(HOST, port)
        plain.write(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
        assert b"HTTP" not in await asyncio.wait_for(plain_reader.read(), LIMIT_S)
        _, half = await asyncio.open_connection(HOST, port)
        half.write(b"\x16\x03\x01")
        async with stage.client() as client:
            assert (await client.get("/livez")).status_code == 200
            refused = await client.get("/livez", headers={"x-long": "x" * 100_000})
            assert refused.status_code == 431
        for writer in (plain, half):
            writer.close()


async def test_another_certificate_without_a_broken_stream(tmp_path: Path) -> None:
    is_over = asyncio.Event()

    async def two_parts(exchange: Exchange) -> None:
        events = answers.chat_events("m1", ["one", "two"])
        await exchange.start_stream()
        await exchange.event(events[0])
        await exchange.event(events[1])
        await is_over.wait()
        for event in events[2:]:
            await exchange.event(event)
        await exchange.end_stream()

    async with ScriptedUpstream("m1") as u1:
        u1.handlers[CHAT] = two_parts
        async with secured(one_model(u1), tmp_path) as stage, stage.client() as client:
            assert stage.server is not None
            asked = chat_request("m1", stream=True)
            async with client.stream("POST", CHAT, json=asked) as reply:
                pieces = reply.aiter_text()
                text = await anext(pieces)
                old = await _serial(stage)
                stage.issue()
                stage.server.reload_tls()
                assert await _serial(stage) != old
                stage.files["tls_key_file"].write_text("gone")
                with pytest.raises(ValueError, match="no private key"):
                    stage.server.reload_tls()
                assert await _serial(stage) != old
                is_over.set()
                text += "".join([piece async for piece in pieces])
            assert "two" in text
            assert text.endswith("data: [DONE]\n\n")


async def _serial(stage: Secured) -> str:
    assert stage.server is not None
    _, writer = await asyncio.open_connection(
        HOST, stage.server.port, ssl=stage.trust, server_hostname=HOST
    )
    serial: str = writer.get_extra_info("peercert")["serialNumber"]
    writer.close()
    return serial


async def test_a_process_says_https_and_serves_it(tmp_path: Path) -> None:
    stage = Secured(tmp_path)
    flags = [
        part for name, file in stage.files.items() for part in (f"--{_dashed(name)}", str(file))
    ]
    async with (
        ScriptedUpstream("m1") as u1,
        gateway_process(one_model(u1), tmp_path, *flags, wait=False) as process,
        httpx.AsyncClient(verify=stage.trust, timeout=LIMIT_S) as client,
    ):
        url = f"https://{HOST}:{process.port}"

        async def is_ready() -> bool:
            assert process.process.returncode is None, process.text
            try:
                return (await client.get(f"{url}/readyz")).status_code == 200
            except httpx.ConnectError:
                return False

        await eventually(is_ready)
        reply = await client.post(f"{url}{CHAT}", json=chat_request("m1"))
        assert reply.json()["model"] == "m1"
        assert f"listens on {url}/v1" in process.text
        # The client stays connected and is too idle to answer the goodbye of TLS.
        process.terminate()
        assert await process.exit_code() == 0
    assert "graceful shutdown exceeded" not in process.text


async def test_an_unusable_certificate_ends_the_start_with_a_clear_text(tmp_path: Path) -> None:
    stage = Secured(tmp_path)
    stage.files["tls_key_file"].unlink()
    flags = [
        part for name, file in stage.files.items() for part in (f"--{_dashed(name)}", str(file))
    ]
    async with (
        ScriptedUpstream("m1") as u1,
        gateway_process(one_model(u1), tmp_path, *flags, wait=False) as process,
    ):
        assert await process.exit_code() == 1
    assert f"Error: {tmp_path / 'tls.key'} can't be read: No such file" in process.text
    assert "Traceback" not in process.text


def _dashed(name: str) -> str:
    return name.replace("_", "-")
