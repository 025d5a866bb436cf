"""Opening connections: causes of failure, several addresses, names, limits."""

import asyncio
import socket

import pytest

from gateway.errors import ConnectFailed, ConnectionLost, LimitReached, Phase
from gateway.upstream.dial import explain, interleave, resolve
from gateway.upstream.origin import Origin
from gateway.upstream.timer import PhaseLimits

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


async def always_ok(peer):
    while True:
        await peer.request()
        await peer.send(OK)


async def get(pool, limits):
    async with await pool.send(b"GET", b"/", [], b"", limits) as exchange:
        return exchange.status, await exchange.read_all(100)


@pytest.fixture
def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        yield sock.getsockname()[1]  # bound but not listening: refused, and nobody else's


def resolver(*answers):
    """A resolver that gives these answers in turn, the last one for good."""
    left = list(answers)

    async def look_up(host, port):
        look_up.asked.append((host, port))
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    look_up.asked = []
    return look_up


async def test_refused(bench, free_port):
    pool = bench.pool(free_port)
    with pytest.raises(ConnectFailed, match=rf"127\.0\.0\.1:{free_port}: connection refused"):
        await get(pool, bench.limits)
    assert pool.stats().open == 0
    assert pool.stats().opened_total == 0


@pytest.mark.parametrize(
    "error", [socket.gaierror(-2, "Name or service not known"), OSError("no answer")]
)
async def test_unknown_name(bench, error):
    pool = bench.pool(80, "nowhere.invalid", resolver=resolver(error))
    with pytest.raises(ConnectFailed, match=r"nowhere\.invalid:80: name not known \("):
        await get(pool, bench.limits)


async def test_no_address(bench):
    pool = bench.pool(80, "empty.invalid", resolver=resolver([]))
    with pytest.raises(ConnectFailed, match="no address found"):
        await get(pool, bench.limits)


async def test_the_systems_resolver(bench):
    addresses = await resolve("localhost", 80)
    assert set(addresses) <= {"127.0.0.1", "::1"}
    assert addresses
    server = await bench.server(always_ok)
    assert await get(bench.pool(server, "localhost"), bench.limits) == (200, b"ok")


async def test_ipv6_literal(bench):
    heads = []

    async def script(peer):
        heads.append(await peer.head())
        await peer.send(OK)

    server = await bench.server(script, "::1")
    pool = bench.pool_at(Origin.parse(f"http://[::1]:{server.port}/pre"))
    assert await get(pool, bench.limits) == (200, b"ok")
    assert heads == [b"GET /pre/ HTTP/1.1\r\nhost: [::1]:%d\r\n\r\n" % server.port]


@pytest.mark.parametrize(
    "addresses", [["127.0.0.2", "127.0.0.1"], ["::1", "127.0.0.1"], ["127.0.0.1", "::1"]]
)
async def test_the_address_that_answers_is_used(bench, addresses):
    server = await bench.server(always_ok)
    pool = bench.pool(server, "both.invalid", resolver=resolver(addresses))
    assert await get(pool, bench.limits) == (200, b"ok")
    assert pool.stats().open == 1


async def test_all_addresses_refuse(bench, free_port):
    look_up = resolver(["127.0.0.1", "127.0.0.2", "::1"])
    pool = bench.pool(free_port, "both.invalid", resolver=look_up)
    with pytest.raises(ConnectFailed, match=r"both\.invalid:\d+: connection refused"):
        await get(pool, bench.limits)


@pytest.fixture
def full_listener():
    """A listening socket that takes no more connections: SYNs stay without an answer."""
    fillers = []
    # The same port is kept free on 127.0.0.1 too: a socket that is bound there, and does not
    # listen, keeps others away but not a server (SO_REUSEADDR on Linux).
    with socket.socket() as keeper, socket.socket() as listener:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.2", keeper.getsockname()[1]))
        listener.listen(0)
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
            fillers.append(filler)
        yield listener.getsockname()[1]
        for filler in fillers:
            filler.close()


async def test_a_silent_address_does_not_hold_up_the_next(bench, full_listener):
    server = type(await bench.server(always_ok))(always_ok)
    await server.start("127.0.0.1", port=full_listener)
    bench.servers.append(server)
    look_up = resolver(["127.0.0.2", "127.0.0.1"])
    pool = bench.pool(server, "both.invalid", resolver=look_up)
    assert await get(pool, PhaseLimits(15, 20, 20, 60)) == (200, b"ok")
    assert pool.stats().open == 1


@pytest.mark.parametrize(
    ("connect_s", "total_s", "phase"), [(0.1, 9, Phase.CONNECT), (9, 0.1, Phase.TOTAL)]
)
async def test_connecting_is_limited(bench, full_listener, connect_s, total_s, phase):
    pool = bench.pool(full_listener, "127.0.0.2")
    with pytest.raises(LimitReached) as caught:
        await get(pool, PhaseLimits(connect_s, 9, 9, total_s))
    assert (caught.value.phase, caught.value.limit_s) == (phase, 0.1)
    assert caught.value.may_have_run is False
    assert pool.stats().open == 0


async def test_resolving_is_limited_and_can_be_cancelled(bench):
    async def never(host, port):
        started.set()
        await asyncio.Event().wait()

    started = asyncio.Event()
    pool = bench.pool(80, "slow.invalid", resolver=never, max_connections=1)
    with pytest.raises(LimitReached, match="no connection to"):
        await get(pool, PhaseLimits(0.05, 9, 9, 9))
    started.clear()
    task = asyncio.create_task(get(pool, bench.limits))
    await started.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert pool.stats().open == 0


async def test_a_cancelled_connect_frees_its_slot(bench, full_listener):
    pool = bench.pool(full_listener, "127.0.0.2", max_connections=1)
    task = asyncio.create_task(get(pool, bench.limits))
    waiting = asyncio.create_task(get(pool, PhaseLimits(0.1, 9, 9, 9)))
    await bench.until(lambda: pool.stats().waiting == 1)
    task.cancel()
    with pytest.raises(LimitReached):
        await waiting
    assert pool.stats().open == 0


async def test_each_connection_resolves_anew(bench):
    server = await bench.server(always_ok)
    look_up = resolver(["127.0.0.2"], ["127.0.0.1"])
    pool = bench.pool(server, "moved.invalid", resolver=look_up)
    with pytest.raises(ConnectFailed):
        await get(pool, bench.limits)
    for _ in range(2):
        assert await get(pool, bench.limits) == (200, b"ok")
    assert look_up.asked == [("moved.invalid", server.port)] * 2


async def test_closed_at_once(bench):
    async def script(peer):
        peer.reset()

    pool = await bench.serve(script)
    with pytest.raises((ConnectionLost, ConnectFailed)):
        await get(pool, bench.limits)
    assert pool.stats().open == 0


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (["1", "2"], ["1", "2"]),
        ([":1", ":2", "1", "2"], [":1", "1", ":2", "2"]),
        (["1", "2", "3", ":1"], ["1", ":1", "2", "3"]),
    ],
)
def test_families_take_turns(addresses, expected):
    assert interleave(addresses) == expected


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "connection refused; check"),
        (OSError(113, "No route to host"), "no route to host; check the network"),
        (ConnectionResetError(104, "Connection reset by peer"), "closed the connection at once"),
        (OSError(), "oserror; check"),
    ],
)
def test_explain(error, text):
    assert text in explain(error)
