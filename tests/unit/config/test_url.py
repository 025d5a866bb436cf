import pytest

from gateway.config.url import UrlProblem, parse_backend_url


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("http://h:1", "http://h:1"),
        ("http://h:1/", "http://h:1"),
        ("http://h:1/v1", "http://h:1"),
        ("http://h:1/v1/", "http://h:1"),
        ("http://h:1//v1//", "http://h:1"),
        ("http://h:1/pre", "http://h:1/pre"),
        ("http://h:1/pre/v1", "http://h:1/pre"),
        ("http://h:1/pre/v1/", "http://h:1/pre"),
        ("http://h:1/a/b/v1", "http://h:1/a/b"),
        ("http://h:1/v1/pre", "http://h:1/v1/pre"),
        ("http://h:1/v11", "http://h:1/v11"),
        ("http://h:1/pre-v1", "http://h:1/pre-v1"),
        ("http://h:1/V1", "http://h:1/V1"),
        ("http://h:1/a@b:c%20d", "http://h:1/a@b:c%20d"),
        ("http://h", "http://h:80"),
        ("http://h:", "http://h:80"),
        ("HTTPS://H", "https://h:443"),
        ("http://h:65535", "http://h:65535"),
        ("http://h:00080", "http://h:80"),
        ("http://vllm_1.site-a.example.", "http://vllm_1.site-a.example.:80"),
        ("http://10.0.0.5:12322", "http://10.0.0.5:12322"),
        ("http://[::1]", "http://[::1]:80"),
        ("http://[::1]:5/v1", "http://[::1]:5"),
        ("http://[2001:DB8::1]:5", "http://[2001:db8::1]:5"),
        ("http://[fe80::1%Eth0]:5", "http://[fe80::1%Eth0]:5"),
        ("http://[fe80::1%25Eth0]:5", "http://[fe80::1%Eth0]:5"),
    ],
)
def test_every_spelling_of_an_address(text, base):
    assert parse_backend_url(text).base == base


def test_parts():
    url = parse_backend_url("https://[::1]:5/pre/v1/")
    assert (url.scheme, url.host, url.port, url.prefix) == ("https", "::1", 5, "/pre")
    assert (url.authority, url.listener) == ("[::1]:5", ("localhost", 5))


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("http://localhost:1", "http://127.0.0.1:1", True),
        ("http://localhost:1", "http://[::1]:1", True),
        ("http://localhost:1", "http://[0:0:0:0:0:0:0:1]:1", True),
        ("http://h", "https://H.:80/x", True),
        ("http://[2001:db8::1]:1", "http://[2001:DB8:0::0:1]:1", True),
        ("http://localhost:1", "http://localhost:2", False),
        ("http://127.0.0.1:1", "http://127.0.0.2:1", False),
        ("http://h", "https://h", False),
        ("http://[fe80::1%a]:1", "http://[fe80::1%b]:1", False),
    ],
)
def test_one_listener(one, other, is_same):
    listeners = parse_backend_url(one).listener, parse_backend_url(other).listener
    assert (listeners[0] == listeners[1]) == is_same


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no scheme"),
        ("h:1", "no scheme"),
        ("//h:1", "no scheme"),
        ("ftp://h", "'ftp' is not a scheme"),
        ("http://", "no host"),
        ("http://:1", "no host"),
        ("http:///v1", "no host"),
        ("http://h:x", "wrong port"),
        ("http://h:-1", "wrong port"),
        ("http://h:65536", "wrong port"),
        ("http://h:70000", "wrong port"),
        ("http://h:999999", "wrong port"),
        ("http://h:٣", "wrong port"),
        ("http://[::1]x:5", "wrong port"),
        ("http://h:0", "port 0"),
        ("http://::1:5", "IPv6 address without brackets"),
        ("http://[h]:1", "not an IPv6 address"),
        ("http://[]:1", "not an IPv6 address"),
        ("http://[1:2]:5", "not an IPv6 address"),
        ("http://[fe80::1%e th]:5", "white space"),
        ("http://[fe80::1%!]:5", "network interface"),
        ("http://a b", "white space"),
        ("http://h\n", "white space"),
        ("http://h/\x07", "control characters"),
        ("http://h?x", "query"),
        ("http://h/v1?x=1", "query"),
        ("http://h#x", "fragment"),
        ("http://h/ä", "%-encoding"),
        ("http://ä", "not a host name"),
        ("http://a..b", "not a host name"),
        ("http://-a", "not a host name"),
        (f"http://{'a' * 64}", "not a host name"),
        (f"http://{'a.' * 127}b", "not a host name"),
    ],
)
def test_what_is_no_address(text, said):
    with pytest.raises(UrlProblem) as caught:
        parse_backend_url(text)
    assert said in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        "http://user:secret@h:1",
        "http://user:secret?@h:1",
        "http://user:secret #@h:1",
        "http://user:1/secret@h",
        "http://user:secret/x@h:1",
        "user:secret@h:1",
        "ftp://user:secret@h",
        "http://secret@[::1]:1",
    ],
)
def test_a_password_is_never_shown(text):
    try:
        shown = parse_backend_url(text).authority
    except UrlProblem as problem:
        shown = f"{problem} {problem.remedy}"
    assert "secret" not in shown
