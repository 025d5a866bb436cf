"""The parser alone: states, interim answers, bounds that do not depend on the cut."""

import pytest

from gateway.upstream.parser import ParserState, ResponseParser

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


def feed(data, *, size=10**9, head=False, bound=4096):
    parser = ResponseParser(bound)
    parser.begin(is_head_request=head)
    for at in range(0, len(data), size):
        parser.feed(data[at : at + size])
    return parser


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_states_of_one_answer(size):
    assert feed(OK[:20], size=size).state is ParserState.HEAD
    assert feed(OK[:-1], size=size).state is ParserState.BODY
    parser = feed(OK, size=size)
    assert parser.state is ParserState.DONE
    assert (parser.status, b"".join(parser.pieces), parser.keep_alive) == (200, b"ok", True)
    assert not parser.has_extra


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_one_parser_reads_many_answers(size):
    parser = ResponseParser(4096)
    for head in (False, True, False, False):
        parser.begin(is_head_request=head)
        data = OK[:-2] if head else OK
        for at in range(0, len(data), size):
            parser.feed(data[at : at + size])
        assert parser.state is ParserState.DONE
        assert parser.headers == [(b"content-length", b"2")]
        assert b"".join(parser.pieces) == (b"" if head else b"ok")
        parser.pieces.clear()


@pytest.mark.parametrize(
    ("data", "keep_alive"),
    [
        (OK, True),
        (OK.replace(b"1.1", b"1.0"), False),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nconnection: x, close\r\ncontent-length: 0\r\n\r\n", False),
        (
            (
                b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n"
                b"0\r\n\r\n"
            ),
            False,
        ),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: CHUNKED\r\ncontent-length: 1\r\n\r\n0\r\n\r\n",
            False,
        ),
    ],
)
def test_keep_alive(data, keep_alive):
    parser = feed(data)
    assert (parser.state, parser.keep_alive) == (ParserState.DONE, keep_alive)


@pytest.mark.parametrize("extra", [b"x", b"HTTP/1.1 200 OK\r\n", b"\0"])
def test_bytes_after_the_end_are_noticed(extra):
    parser = feed(OK + extra)
    assert (parser.state, parser.has_extra) == (ParserState.DONE, True)
    assert parser.pieces == [b"ok"]
    assert parser.headers == [(b"content-length", b"2")]


@pytest.mark.parametrize("extra", [b"o", b"ok", b"3\r\n", b"3\r\nabc\r\n0\r\n\r\n"])
@pytest.mark.parametrize("framing", [b"content-length: 2", b"transfer-encoding: chunked"])
def test_bytes_after_a_head_answer_are_noticed(framing, extra):
    parser = feed(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n\r\n" + extra, head=True)
    assert (parser.state, parser.has_extra, parser.pieces) == (ParserState.DONE, True, [])


@pytest.mark.parametrize("size", [100, 1000, 10**6])
@pytest.mark.parametrize("count", [390, 420])
def test_the_bound_of_the_head_does_not_depend_on_the_cut(size, count):
    head = b"HTTP/1.1 200 OK\r\n" + b"name: val\r\n" * count + b"content-length: 2\r\n\r\n"
    parser = feed(head + b"ok", size=size, bound=4500)
    expected = ParserState.DONE if len(head) <= 4500 else ParserState.FAULTY
    assert parser.state is expected
    assert ("longer than 4500 bytes" in parser.fault) is (expected is ParserState.FAULTY)


def test_interim_answers_do_not_add_to_the_final_head():
    parser = feed(b"HTTP/1.1 103 X\r\nlink: a\r\ncontent-length: 7\r\n\r\n" + OK)
    assert parser.headers == [(b"content-length", b"2")]
    assert parser.pieces == [b"ok"]


def test_the_end_of_the_stream():
    assert feed(b"HTTP/1.1 200 OK\r\n\r\nabc").feed_eof() is True
    assert feed(OK[:-1]).feed_eof() is False
    assert feed(OK[:10]).feed_eof() is False
    assert feed(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").feed_eof() is False


def test_many_small_chunks_are_not_taken_for_endless_framing():
    data = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1;ext=1\r\nx\r\n" * 5000
    parser = feed(data, size=64, bound=1000)
    assert parser.state is ParserState.BODY
    assert b"".join(parser.pieces) == b"x" * 5000


def test_endless_chunk_framing_is_refused():
    data = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;" + b"e" * 2000
    assert feed(data, size=64, bound=1000).state is ParserState.FAULTY
