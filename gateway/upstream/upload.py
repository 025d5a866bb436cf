"""Send a request body that is not in memory, while its answer may already come."""

import asyncio
from functools import partial

from gateway.upstream.connection import Connection
from gateway.upstream.exchange import Exchange
from gateway.upstream.request import BodySource


def start_upload(
    loop: asyncio.AbstractEventLoop, connection: Connection, exchange: Exchange, body: BodySource
) -> None:
    """Send `body` in a task of its own, which ends with the exchange at the latest."""
    task = loop.create_task(_upload(connection, body), name=f"upload to {connection.authority}")
    exchange.upload = task
    task.add_done_callback(partial(_report, connection, exchange))


def _report(connection: Connection, exchange: Exchange, task: asyncio.Task[None]) -> None:
    if task.cancelled():
        return
    error = task.exception()
    if error is None:
        if not exchange.is_complete:
            connection.body_sent()
    elif not exchange.is_complete:
        connection.upload_failed(error)


async def _upload(connection: Connection, body: BodySource) -> None:
    length_bytes = body.length_bytes
    sent_bytes = 0
    chunks = body.chunks()
    try:
        connection.wait_for_source()
        async for chunk in chunks:
            if not chunk:
                continue
            sent_bytes += len(chunk)
            if length_bytes is None:
                await connection.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            elif sent_bytes <= length_bytes:
                await connection.write(chunk)
            else:
                break
            connection.wait_for_source()
    finally:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()
    if length_bytes is None:
        await connection.write(b"0\r\n\r\n")
    elif sent_bytes != length_bytes:
        raise ValueError(
            f"the request body for {connection.authority} is not {length_bytes} bytes long,"
            " as its source had promised"
        )
