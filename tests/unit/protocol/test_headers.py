"""Which headers cross, both ways."""

import pytest

from gateway.protocol.headers import first, to_backend, to_client


def names(headers: list[tuple[bytes, bytes]]) -> list[bytes]:
    return [name for name, _ in headers]


@pytest.mark.parametrize(
    "name",
    [
        *(b"host", b"content-length", b"content-type", b"expect", b"accept-encoding"),
        *(b"authorization", b"x-api-key", b"api-key", b"cookie", b"proxy-authorization"),
        *(b"x-request-id", b"connection", b"keep-alive", b"te", b"trailer", b"upgrade"),
        *(b"transfer-encoding", b"proxy-connection"),
    ],
)
def test_what_a_backend_never_sees_of_the_client(name: bytes) -> None:
    sent = to_backend([(name, b"client's"), (b"traceparent", b"00")], b"id-1", None)
    assert (name, b"client's") not in sent
    assert (b"traceparent", b"00") in sent


def test_a_backend_gets_our_id_its_own_key_and_no_coding() -> None:
    sent = to_backend([(b"x-data-parallel-rank", b"0")], b"id-1", b"bk")
    assert sent == [
        (b"x-data-parallel-rank", b"0"),
        (b"accept-encoding", b"identity"),
        (b"x-request-id", b"id-1"),
        (b"authorization", b"Bearer bk"),
    ]


def test_headers_named_in_connection_end_here() -> None:
    given = [(b"connection", b"Keep-Alive, X-Hop"), (b"x-hop", b"1"), (b"x-stays", b"1")]
    assert b"x-hop" not in names(to_backend(given, b"i", None))
    assert names(to_client(given, is_decoded=False)) == [b"x-stays"]


@pytest.mark.parametrize(
    "name",
    [
        *(b"date", b"server", b"content-length", b"transfer-encoding", b"connection"),
        *(b"keep-alive", b"set-cookie", b"location", b"www-authenticate", b"x-request-id"),
        *(b"access-control-allow-origin", b"vary"),
    ],
)
def test_what_a_client_never_sees_of_the_backend(name: bytes) -> None:
    assert to_client([(name, b"x")], is_decoded=False) == []


def test_single_headers_come_once_and_others_as_often_as_sent() -> None:
    given = [(b"content-type", b"a"), (b"content-type", b"b"), (b"x-a", b"1"), (b"x-a", b"2")]
    assert to_client(given, is_decoded=False) == [
        (b"content-type", b"a"),
        (b"x-a", b"1"),
        (b"x-a", b"2"),
    ]


@pytest.mark.parametrize("is_decoded", [True, False])
def test_the_coding_goes_with_the_body(is_decoded: bool) -> None:
    kept = to_client([(b"content-encoding", b"gzip")], is_decoded=is_decoded)
    assert (kept == []) == is_decoded


def test_first() -> None:
    assert first([(b"a", b"1"), (b"a", b"2")], b"a") == b"1"
    assert first([], b"a") is None
