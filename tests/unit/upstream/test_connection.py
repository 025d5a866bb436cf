"""What a connection shows of itself, and its socket's options."""

import asyncio
import socket

from gateway.upstream.connection import Connection

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


async def test_repr_and_socket_options(bench):
    gate = asyncio.Event()

    async def script(peer):
        while True:
            await peer.request()
            await peer.send(OK)
            if peer.requests == 3:
                await peer.request()
                await gate.wait()

    pool = await bench.serve(script)
    for _ in range(3):
        async with await pool.send(b"GET", b"/", [], b"", bench.limits) as exchange:
            await exchange.read_all(10)
    connection = pool._supply.slots.take_idle()
    authority = pool.origin.authority
    assert repr(connection) == f"<Connection {authority} idle 3 requests>"
    sock = connection._transport.get_extra_info("socket")
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
    pool.connection_free(connection)

    task = asyncio.create_task(pool.send(b"GET", b"/", [], b"", bench.limits))
    await bench.until(lambda: pool.stats().busy == 1)
    assert repr(connection) == f"<Connection {authority} busy in first_byte 4 requests>"
    task.cancel()
    await asyncio.wait([task])
    assert repr(connection) == f"<Connection {authority} closed 4 requests>"
    gate.set()


async def test_an_unconnected_one_is_closed():
    connection = Connection(None, "a:1", asyncio.get_running_loop(), 100)
    assert repr(connection) == "<Connection a:1 closed 0 requests>"
