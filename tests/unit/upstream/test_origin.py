"""Addresses of backends, as written and as sent."""

import pytest

from gateway.upstream.origin import Origin, TlsOptions

TLS = TlsOptions(ca_file="/ca.pem")


@pytest.mark.parametrize(
    ("url", "origin", "host_header", "authority"),
    [
        ("http://a:8000", Origin("http", "a", 8000), b"a:8000", "a:8000"),
        ("http://a:8000/", Origin("http", "a", 8000), b"a:8000", "a:8000"),
        ("http://A.b:8000/p/v1/", Origin("http", "a.b", 8000, b"/p/v1"), b"a.b:8000", "a.b:8000"),
        ("http://a", Origin("http", "a", 80), b"a", "a:80"),
        ("https://a", Origin("https", "a", 443), b"a", "a:443"),
        ("https://a:80", Origin("https", "a", 80), b"a:80", "a:80"),
        ("http://[::1]:9000", Origin("http", "::1", 9000), b"[::1]:9000", "[::1]:9000"),
        ("http://[::1]/x", Origin("http", "::1", 80, b"/x"), b"[::1]", "[::1]:80"),
        ("http://a/%E4%B8%AD", Origin("http", "a", 80, b"/%E4%B8%AD"), b"a", "a:80"),
    ],
)
def test_parse(url, origin, host_header, authority):
    parsed = Origin.parse(url)
    assert parsed == origin
    assert (parsed.host_header, parsed.authority) == (host_header, authority)


def test_parse_keeps_tls_options():
    assert Origin.parse("https://a", TLS).tls is TLS


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("a:8000", "must start with http"),
        ("ftp://a", "must start with http"),
        ("http://", "needs a host name"),
        ("http://:80", "needs a host name"),
        ("http://a b", "needs a host name"),
        ("http://中", "needs a host name"),
        ("http://a:0", "1 to 65535"),
        ("http://a:65536", "1 to 65535"),
        ("http://a:x", "1 to 65535"),
        ("http://a/?q", "query or a fragment"),
        ("http://a/#f", "query or a fragment"),
        ("http://a/a b", "percent-encoded"),
        ("http://a/中", "percent-encoded"),
    ],
)
def test_refused(url, text):
    with pytest.raises(ValueError, match=text):
        Origin.parse(url)


def test_a_password_is_refused_and_not_repeated():
    with pytest.raises(ValueError, match="must not hold a password") as caught:
        Origin.parse("http://me:secret@a:1")
    assert "secret" not in str(caught.value)


def test_tls_options_need_https():
    with pytest.raises(ValueError, match="not https"):
        Origin.parse("http://a", TLS)
