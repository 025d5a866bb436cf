"""TLS to a backend: verification, names, client certificates, clear failures."""

import ssl

import pytest
import trustme

from gateway.errors import ConnectFailed, ConnectionLost, LimitReached, Phase
from gateway.upstream.origin import Origin, TlsOptions
from gateway.upstream.timer import PhaseLimits

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


async def always_ok(peer):
    while True:
        await peer.request()
        await peer.send(OK)


async def get(pool, limits):
    async with await pool.send(b"GET", b"/", [], b"", limits) as exchange:
        return exchange.status, await exchange.read_all(100)


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


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def files(authority, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    client = authority.issue_cert("gateway@test.invalid")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    trustme.CA().cert_pem.write_to_path(folder / "other.pem")
    client.private_key_pem.write_to_path(folder / "key.pem")
    client.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    return folder


def server_context(authority, *names):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(*names).configure_cert(context)
    return context


async def tls_pool(bench, context, host, options, script=always_ok):
    server = await bench.server(script, tls=context)
    look_up = resolver(["127.0.0.1"])
    return bench.pool_at(Origin("https", host, server.port, tls=options), resolver=look_up)


@pytest.mark.parametrize(
    ("host", "names", "server_name", "sni"),
    [
        ("npu.test", ["npu.test"], None, "npu.test"),
        ("other.test", ["npu.test"], "npu.test", "npu.test"),
        ("127.0.0.1", ["127.0.0.1"], None, None),
        ("127.0.0.1", ["npu.test"], "npu.test", "npu.test"),
    ],
)
async def test_verified_tls(bench, authority, files, host, names, server_name, sni):
    asked = []
    context = server_context(authority, *names)
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    options = TlsOptions(ca_file=str(files / "ca.pem"), server_name=server_name)
    pool = await tls_pool(bench, context, host, options)
    assert await get(pool, bench.limits) == (200, b"ok")
    assert await get(pool, bench.limits) == (200, b"ok")
    assert asked == [sni]
    assert pool.stats().opened_total == 1


@pytest.mark.parametrize(
    ("host", "ca", "text"),
    [
        ("npu.test", "other.pem", "certificate verify failed: unable to get local issuer"),
        ("other.test", "ca.pem", "certificate verify failed: Hostname mismatch"),
        ("npu.test", None, "certificate verify failed"),
    ],
)
async def test_a_wrong_certificate(bench, authority, files, host, ca, text):
    options = TlsOptions(ca_file=str(files / ca)) if ca else None
    pool = await tls_pool(bench, server_context(authority, "npu.test"), host, options)
    with pytest.raises(ConnectFailed, match=text) as caught:
        await get(pool, bench.limits)
    assert pool.origin.authority in caught.value.message
    assert pool.stats().open == 0


async def test_verification_can_be_switched_off(bench, authority):
    context = server_context(authority, "npu.test")
    pool = await tls_pool(bench, context, "any.test", TlsOptions(verify=False))
    assert await get(pool, bench.limits) == (200, b"ok")


async def test_client_certificate(bench, authority, files):
    context = server_context(authority, "npu.test")
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)
    options = TlsOptions(str(files / "ca.pem"), str(files / "cert.pem"), str(files / "key.pem"))
    pool = await tls_pool(bench, context, "npu.test", options)
    assert await get(pool, bench.limits) == (200, b"ok")
    bare = await tls_pool(bench, context, "npu.test", TlsOptions(str(files / "ca.pem")))
    with pytest.raises((ConnectFailed, ConnectionLost)):
        await get(bare, bench.limits)


async def test_tls_to_a_plain_server(bench):
    async def script(peer):
        await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await peer.closed()

    server = await bench.server(script)
    pool = bench.pool_at(Origin("https", "127.0.0.1", server.port))
    with pytest.raises(ConnectFailed, match="TLS handshake failed"):
        await get(pool, bench.limits)


async def test_a_silent_handshake_is_limited(bench):
    async def script(peer):
        await peer.closed()

    server = await bench.server(script)
    pool = bench.pool_at(Origin("https", "127.0.0.1", server.port))
    with pytest.raises(LimitReached) as caught:
        await get(pool, PhaseLimits(1.0, 9, 9, 9))
    assert caught.value.phase is Phase.CONNECT
    await bench.until(lambda: not server.tasks)


async def test_a_missing_file_is_named(bench):
    options = TlsOptions(ca_file="/nowhere/ca.pem")
    pool = bench.pool_at(Origin("https", "127.0.0.1", 1, tls=options))
    with pytest.raises(ConnectFailed, match="TLS files are not usable"):
        await get(pool, bench.limits)
    assert pool.stats().open == 0


async def test_big_bodies_and_end_of_connection_over_tls(bench, authority, files):
    async def script(peer):
        _, body = await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\n\r\n" + body)

    context = server_context(authority, "npu.test")
    options = TlsOptions(ca_file=str(files / "ca.pem"))
    pool = await tls_pool(bench, context, "npu.test", options, script)
    body = b"x" * 3_000_000
    async with await pool.send(b"POST", b"/", [], body, bench.limits) as exchange:
        assert await exchange.read_all(10**7) == body
    assert pool.stats().open == 0
