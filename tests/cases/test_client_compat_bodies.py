"""Reports about large and multipart bodies."""

import asyncio
import hashlib
from collections.abc import Iterator

import pytest

from tests.support import answers, wire
from tests.support.gateway import CHAT, JSON, GatewayClient, running_gateway
from tests.support.rawclient import RawAnswer
from tests.support.routing import backend, model, one_model, routes
from tests.support.upstream import Exchange, ScriptedUpstream

MIB = 1 << 20
LIMIT_BYTES = 20 * MIB
AUDIO = "/v1/audio/transcriptions"


def image_request(size_bytes: int, model_name: str = "m1") -> bytes:
    url = "data:image/png;base64," + "A" * size_bytes
    part = {"type": "image_url", "image_url": {"url": url}}
    return wire.compact({"model": model_name, "messages": [{"role": "user", "content": [part]}]})


async def upload(gateway: GatewayClient, body: bytes, *, chunked: bool) -> RawAnswer:
    """Send while reading, as clients do; the answer may come before the body is out."""
    async with gateway.connect() as connection:
        framing = (
            ("Transfer-Encoding", "chunked") if chunked else ("Content-Length", str(len(body)))
        )
        await connection.request("POST", CHAT, [JSON, framing])

        async def send() -> None:
            for piece in pieces(body):
                await connection.send(wire.chunk(piece) if chunked else piece)
            if chunked:
                await connection.send(wire.LAST_CHUNK)

        sending = asyncio.create_task(send())
        try:
            return await connection.read_answer()
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


def pieces(body: bytes) -> Iterator[bytes]:
    for at in range(0, len(body), 256 * 1024):
        yield body[at : at + 256 * 1024]


@pytest.mark.case("body-1")
async def test_body_1() -> None:
    async with (
        ScriptedUpstream("m1") as u1,
        running_gateway(one_model(u1), max_body_bytes=LIMIT_BYTES) as gateway,
    ):
        for chunked in (False, True):
            body = image_request(12 * MIB)
            answer = await upload(gateway, body, chunked=chunked)
            assert answer.status == 200
            assert u1.requests[-1].body == body
        seen = len(u1.requests)
        for chunked in (False, True):
            answer = await upload(gateway, image_request(25 * MIB), chunked=chunked)
            assert answer.status == 413
            assert answer.error["type"] == "invalid_request_error"
            assert answer.error["code"] == "request_too_large"
            message = answer.error["message"]
            assert "20971520" in message or "20 MiB" in message
            if not chunked:
                assert str(len(image_request(25 * MIB))) in message or "25" in message
        assert len(u1.requests) == seen


async def test_a_model_may_have_a_smaller_limit() -> None:
    async with ScriptedUpstream("m1") as u1:
        config = one_model(u1, limits={"max_body_bytes": 1000})
        async with running_gateway(config) as gateway:
            assert (await upload(gateway, image_request(10), chunked=False)).status == 200
            answer = await upload(gateway, image_request(2000), chunked=False)
            assert (answer.status, answer.error["code"]) == (413, "request_too_large")
            assert "1000" in answer.error["message"]
            assert len(u1.requests) == 1


def form(model_name: str, file: bytes, *, model_first: bool) -> bytes:
    name = b'--XX\r\nContent-Disposition: form-data; name="model"\r\n\r\n%s\r\n' % (
        model_name.encode()
    )
    part = (
        b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n'
        b"Content-Type: audio/wav\r\n\r\n" + file + b"\r\n"
    )
    other = b'--XX\r\nContent-Disposition: form-data; name="language"\r\n\r\nzh\r\n'
    parts = (name, other, part) if model_first else (part, other, name)
    return b"".join(parts) + b"--XX--\r\n"


async def check_audio(exchange: Exchange) -> None:
    """Answer with the file's hash; 401 without the backend's own key."""
    request = exchange.request
    if request.all("authorization") != ["Bearer bk"]:
        await exchange.answer(401, b'{"error":"Unauthorized"}')
        return
    assert answers.asked_model(request) == "m1"
    file = request.body.split(b'name="file"', 1)[1].split(b"\r\n\r\n", 1)[1]
    file = file.split(b"\r\n--XX", 1)[0]
    await exchange.answer(200, wire.compact({"text": hashlib.sha256(file).hexdigest()}))


@pytest.mark.case("paths-3")
@pytest.mark.parametrize("public", ["m1", "a-longer-alias", "语音"])
async def test_paths_3(monkeypatch: pytest.MonkeyPatch, public: str) -> None:
    monkeypatch.setenv("TEST_BACKEND_KEY", "bk")
    # Bytes that look like a form field, but aren't one.
    trap = b'\r\n--X\r\nContent-Disposition: form-data; name="model"\r\n\r\nwrong\r\n'
    file = bytes(range(256)) * (8 * MIB // 256) + trap
    sha = hashlib.sha256(file).hexdigest()
    async with ScriptedUpstream("m1") as u1:
        u1.handlers[AUDIO] = check_audio
        config = routes([backend("u1", u1, api_key_env="TEST_BACKEND_KEY")], [model(public, "u1")])
        async with running_gateway(config) as gateway:
            for model_first in (True, False):
                body = form(public, file, model_first=model_first)
                kind = "multipart/form-data; boundary=XX"
                answer = await gateway.post(
                    AUDIO, body, [("Authorization", "Bearer client")], content_type=kind
                )
                assert (answer.status, answer.json()["text"]) == (200, sha)
                request = u1.requests[-1]
                assert request.header("content-type") == kind
                assert request.body == form("m1", file, model_first=model_first)
                if request.header("content-length") is not None:
                    assert request.header("content-length") == str(len(request.body))


async def test_multipart_that_is_off_is_a_clear_404() -> None:
    async with ScriptedUpstream("m1") as u1:
        config = {**one_model(u1), "endpoints": {"transcriptions": False}}
        async with running_gateway(config) as gateway:
            kind = "multipart/form-data; boundary=XX"
            answer = await gateway.post(
                AUDIO, form("m1", b"x", model_first=True), content_type=kind
            )
            assert (answer.status, answer.error["code"]) == (404, "route_disabled")
            assert u1.requests == []


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"not a form", "multipart/form-data; boundary=XX"),
        (b"--XX--\r\n", "multipart/form-data"),
        (b'{"model":"m1"}', "application/json"),
        (form("m1", b"x", model_first=True)[:-30], "multipart/form-data; boundary=XX"),
    ],
)
async def test_a_broken_form_is_refused_before_any_backend(body: bytes, kind: str) -> None:
    async with ScriptedUpstream("m1") as u1, running_gateway(one_model(u1)) as gateway:
        answer = await gateway.post(AUDIO, body, content_type=kind)
        assert answer.status in (400, 415)
        assert answer.error["type"] == "invalid_request_error"
        assert u1.requests == []
