"""Heads of requests, and what may not get into one."""

import pytest

from gateway.upstream.origin import Origin
from gateway.upstream.request import RequestEncoder

ENCODER = RequestEncoder(Origin.parse("http://h:1/pre"))


class Source:
    def __init__(self, length_bytes):
        self.length_bytes = length_bytes


@pytest.mark.parametrize(
    ("method", "body", "framing"),
    [
        (b"GET", b"", b""),
        (b"HEAD", b"", b""),
        (b"DELETE", b"", b""),
        (b"DELETE", b"x", b"content-length: 1\r\n"),
        (b"POST", b"", b"content-length: 0\r\n"),
        (b"POST", b"abc", b"content-length: 3\r\n"),
        (b"POST", Source(7), b"content-length: 7\r\n"),
        (b"POST", Source(None), b"transfer-encoding: chunked\r\n"),
    ],
)
def test_framing(method, body, framing):
    head = ENCODER.encode(method, b"/v1?a", [(b"X-A", b"b: c")], body)
    start = method + b" /pre/v1?a HTTP/1.1\r\nhost: h:1\r\nX-A: b: c\r\n"
    assert head == start + framing + b"\r\n"


@pytest.mark.parametrize("bad", [b"a\rb", b"a\nb", b"a\r\nx: y", b"a\0b", b"\n", b"a\r\n\r\n"])
def test_line_ends_in_values_are_refused(bad):
    with pytest.raises(ValueError, match=r"b'x-b' holds a line end or a NUL"):
        ENCODER.encode(b"GET", b"/", [(b"x-a", b"fine"), (b"x-b", bad)], b"")


@pytest.mark.parametrize("bad", [b"", b"a b", b"a:", b"a\r\nb", b"\xe4", b"a\0", b'"'])
def test_names_that_are_no_tokens_are_refused(bad):
    with pytest.raises(ValueError, match="header name"):
        ENCODER.encode(b"GET", b"/", [(bad, b"1")], b"")


@pytest.mark.parametrize(
    "name", [b"Host", b"Content-Length", b"transfer-encoding", b"connection", b"TE", b"Expect"]
)
def test_headers_of_the_connection_are_refused(name):
    with pytest.raises(ValueError, match="written by the connection pool"):
        ENCODER.encode(b"GET", b"/", [(name, b"1")], b"")


@pytest.mark.parametrize("bad", [b"", b"x", b"/a b", b"/a\r\nb", b"/\0", b"/\t", b"http://a/"])
def test_targets_are_checked(bad):
    with pytest.raises(ValueError, match="request target"):
        ENCODER.encode(b"GET", bad, [], b"")


@pytest.mark.parametrize("bad", [b"", b"GET /", b"G\r\n"])
def test_methods_are_checked(bad):
    with pytest.raises(ValueError, match="request method"):
        ENCODER.encode(bad, b"/", [], b"")
