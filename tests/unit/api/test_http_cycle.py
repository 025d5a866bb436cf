"""Answers as bytes: framing, one write for head and body, HTTP/1.0, and wrong applications."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn

from gateway.api.http_protocol import GatewayHttpProtocol
from gateway.server import open_socket

Application = Callable[[Any, Any, Any], Awaitable[None]]
LENGTH = (b"content-length", b"5")


def answering(*messages: dict[str, Any]) -> Application:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        for message in messages:
            await send(message)

    return application


def start(status: int = 200, *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def body(data: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": more}


async def talk(application: Application, request: bytes) -> bytes:
    """Everything that comes back for `request` until the server closes."""
    config = uvicorn.Config(
        application,  # type: ignore[arg-type]
        http=GatewayHttpProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        server_header=False,
        date_header=False,
    )
    server = uvicorn.Server(config)
    server.capture_signals = _no_signals  # type: ignore[method-assign]
    listener = open_socket("127.0.0.1", 0, 10)
    port = listener.getsockname()[1]
    task = asyncio.create_task(server.serve([listener]))
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        async with asyncio.timeout(20):
            answer = await reader.read()
        writer.close()
        await writer.wait_closed()
    finally:
        server.should_exit = True
        await task
    return answer


class _no_signals:  # noqa: N801 - stands in for a context manager function
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


GET = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
HEAD = GET.replace(b"GET", b"HEAD")
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable"
OLD = b"GET / HTTP/1.0\r\n\r\n"


@pytest.mark.parametrize(
    ("messages", "request_bytes", "answer"),
    [
        (
            [start(200, LENGTH), body(b"hello")],
            GET,
            b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello",
        ),
        (
            [start(), body(b"hel", more=True), body(b"", more=True), body(b"lo")],
            GET,
            CHUNKED + b"3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
        ),
        (
            [start(), body(b"hel", more=True), body(b"lo")],
            OLD,
            b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello",
        ),
        (
            [start(200, LENGTH), body(b"hello")],
            OLD,
            b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello",
        ),
        (
            [start(200, LENGTH), body(b"hello")],
            HEAD,
            b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\n",
        ),
        ([start(204), body(b"")], GET, b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"),
        (
            [start(503, (b"connection", b"close"), LENGTH), body(b"hello")],
            GET.replace(b"connection: close\r\n", b""),
            UNAVAILABLE + b"\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello",
        ),
    ],
)
async def test_framing(messages: list[dict[str, Any]], request_bytes: bytes, answer: bytes) -> None:
    assert await talk(answering(*messages), request_bytes) == answer


@pytest.mark.parametrize(
    "messages",
    [
        [start(200, LENGTH), body(b"too long")],
        [start(200, (b"x-a", b"1\r\nx-b: 2")), body(b"")],
        [start(200, (b"x-a", b"1\nx-b: 2")), body(b"")],
        [body(b"no start")],
    ],
)
async def test_a_wrong_application_sends_nothing_wrong(messages: list[dict[str, Any]]) -> None:
    answer = await talk(answering(*messages), GET)
    assert b"x-b" not in answer
    assert b"too long" not in answer


async def test_a_short_body_closes_the_connection() -> None:
    answer = await talk(answering(start(200, LENGTH), body(b"he")), GET)
    assert answer.endswith(b"\r\n\r\nhe")


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (b"NONSENSE\r\n\r\n", b"400 Bad Request", b"invalid_http"),
        (
            b"GET / HTTP/1.1\r\nx: " + b"a" * 70_000 + b"\r\n\r\n",
            b"431 Request Header Fields Too Large",
            b"headers_too_large",
        ),
        (b"GET /" + b"a" * 70_000, b"431 Request Header Fields Too Large", b"headers_too_large"),
    ],
)
async def test_broken_and_huge_heads_get_the_envelope(
    request_bytes: bytes, status: bytes, code: bytes
) -> None:
    answer = await talk(answering(start(200, LENGTH), body(b"hello")), request_bytes)
    assert answer.startswith(b"HTTP/1.1 " + status + b"\r\n")
    assert b'"code":"' + code + b'"' in answer
