"""Events are cut where the standard says, wherever the pieces are cut."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import Phase, ResponseMalformed
from gateway.protocol.sse import (
    EventKind,
    EventSplitter,
    classify_event,
    data_spans,
    event_data,
    event_name,
)

BOM = b"\xef\xbb\xbf"
LIMIT = 1 << 20


@pytest.mark.parametrize(
    ("stream", "events", "rest"),
    [
        (b"", [], b""),
        (b"data: a\n\n", [b"data: a\n\n"], b""),
        (b"data: a\n\ndata: b\n\n", [b"data: a\n\n", b"data: b\n\n"], b""),
        (b"data: a\n\ndata: b\n", [b"data: a\n\n"], b"data: b\n"),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"data: a\r\n\r\n", b"data: b\r\n\r\n"], b""),
        (b"data: a\r\rdata: b\r\r", [b"data: a\r\r", b"data: b\r\r"], b""),
        (b"data: a\n\r\ndata: b\r\n\n", [b"data: a\n\r\n", b"data: b\r\n\n"], b""),
        (b"data: a\n\rdata: b\r\n\r", [b"data: a\n\r", b"data: b\r\n\r"], b""),
        (b"data: a\r\ndata: b\r\n\r\n", [b"data: a\r\ndata: b\r\n\r\n"], b""),
        (b"data: a\rdata: b\n\n", [b"data: a\rdata: b\n\n"], b""),
        (b": keep-alive\n\n", [b": keep-alive\n\n"], b""),
        (b"\n\ndata: a\n\n", [b"\n\ndata: a\n\n"], b""),
        (b"data: a\n\n\n\ndata: b\n\n", [b"data: a\n\n", b"\n\ndata: b\n\n"], b""),
        (b"data: a\n\n\n", [b"data: a\n\n"], b"\n"),
        (BOM + b"data: a\n\n", [BOM + b"data: a\n\n"], b""),
        (b'data: {"a":"\\n\\n"}\n\n', [b'data: {"a":"\\n\\n"}\n\n'], b""),
        (b"a\nb\n\nc", [b"a\nb\n\n"], b"c"),
    ],
)
@pytest.mark.parametrize("step", [1, 2, 3, 1000])
def test_events(stream: bytes, events: list[bytes], rest: bytes, step: int) -> None:
    splitter = EventSplitter(LIMIT)
    found = []
    for at in range(0, len(stream), step):
        found += splitter.feed(stream[at : at + step])
    assert b"".join(found) + splitter.rest == stream
    # A CR at the end of a piece ends the line; its LF then comes before the next event.
    bare = [one.lstrip(b"\r\n").replace(b"\r\n", b"\n").replace(b"\r", b"\n") for one in found]
    assert bare == [
        one.lstrip(b"\r\n").replace(b"\r\n", b"\n").replace(b"\r", b"\n") for one in events
    ]
    assert splitter.has_partial is bool(rest.strip(b"\r\n"))
    if step == 1000:
        assert (found, splitter.rest) == (events, rest)


def lines(event: bytes) -> list[bytes]:
    return [line for line in event.splitlines() if line]


PARTS = st.sampled_from(
    [
        b"data: a",
        b"data:",
        b": c",
        b"event: x",
        b"\n",
        b"\r\n",
        b"\r",
        b"\n\n",
        b"\xe4\xbd\xa0",
        b" ",
    ]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(PARTS, max_size=30).map(b"".join), st.data())
def test_any_cut_gives_the_same_bytes_and_lines(stream: bytes, data: st.DataObject) -> None:
    whole = EventSplitter(LIMIT)
    expected = whole.feed(stream)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8).map(sorted))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    splitter = EventSplitter(LIMIT)
    found = [event for piece in pieces for event in splitter.feed(piece)]
    assert b"".join(found) + splitter.rest == stream
    assert b"".join(expected) + whole.rest == stream
    assert [lines(event) for event in found] == [lines(event) for event in expected]
    assert lines(splitter.rest) == lines(whole.rest)
    assert splitter.has_partial is whole.has_partial
    # No event holds a blank line in its middle.
    for event in found:
        body = event.strip(b"\r\n").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        assert b"\n\n" not in body


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
@pytest.mark.parametrize("step", [7, 65536, 4 << 20])
def test_a_large_event_passes_in_linear_time(end: bytes, step: int) -> None:
    event = b'data: {"a":"' + b"A" * (3 << 20) + b'"}' + end
    splitter = EventSplitter(8 << 20)
    began = time.perf_counter()
    found = []
    for at in range(0, len(event), step):
        found += splitter.feed(event[at : at + step])
    assert found == [event]
    # Looking through all that has come for each piece would take minutes.
    assert time.perf_counter() - began < 20


@pytest.mark.parametrize(
    "pieces",
    [
        [b"data: " + b"a" * 100],
        [b"data: " + b"a" * 100 + b"\n\n"],
        [b"data: a\n\ndata: " + b"a" * 100 + b"\n\ndata: b\n\n"],
        [b"data: a\r\n\r\n", b"data: " + b"a" * 50, b"a" * 50],
        [b"\n" * 200],
    ],
)
def test_an_event_over_the_cap_is_refused(pieces: list[bytes]) -> None:
    splitter = EventSplitter(90)
    with pytest.raises(ResponseMalformed, match="90 bytes") as caught:
        for piece in pieces:
            splitter.feed(piece)
    assert caught.value.phase is Phase.BETWEEN


def test_the_cap_is_per_event() -> None:
    splitter = EventSplitter(20)
    assert len(splitter.feed(b"data: 12345678\n\n" * 50)) == 50


def test_the_splitter_shows_its_state() -> None:
    splitter = EventSplitter(90)
    splitter.feed(b"data: a\n\ndat")
    assert repr(splitter) == "EventSplitter(3 of 90 bytes pending)"


@pytest.mark.parametrize(
    ("event", "data", "name"),
    [
        (b"data: a\n\n", b"a", b""),
        (b"data:a\n\n", b"a", b""),
        (b"data:  a \n\n", b" a ", b""),
        (b"data: a\r\n\r\n", b"a", b""),
        (b"data: a\rdata: b\r\r", b"a\nb", b""),
        (b"data: a\ndata: b\n\n", b"a\nb", b""),
        (b"data: a\ndata\ndata: b\n\n", b"a\n\nb", b""),
        (b"event: n\ndata: a\n\n", b"a", b"n"),
        (b"event: n\r\ndata: a\r\n\r\n", b"a", b"n"),
        (b"event:n\nid: 5\ndata: a\nretry: 3\n\n", b"a", b"n"),
        (b"event: n\nevent\ndata: a\n\n", b"a", b""),
        (b"event: n\n: c\ndata: a\n\n", b"a", b"n"),
        (b": c\ndata: a\n\n", b"a", b""),
        (BOM + b"data: a\n\n", b"a", b""),
        (b"\ndata: a\n\n", b"a", b""),
        (b"\n\r\nevent: n\r\ndata: a\n\n", b"a", b"n"),
        (b"data: a\nother: b\n\n", b"a", b""),
        (b"database: a\ndata: b\n\n", b"b", b""),
        (b"data: a: b\n\n", b"a: b", b""),
        (b"event: data: x\ndata: y\n\n", b"y", b"data: x"),
    ],
)
def test_fields_of_data_events(event: bytes, data: bytes, name: bytes) -> None:
    assert (event_data(event), event_name(event)) == (data, name)
    assert b"\n".join(event[a:b] for a, b in data_spans(event)) == data
    assert classify_event(event) is EventKind.DATA


@pytest.mark.parametrize(
    "event",
    [
        b": keep-alive\n\n",
        b":\n\n",
        b": data: a\n\n",
        b": a\n: b\n\n",
        b": keep-alive\r\n\r\n",
        b"id: 1\n\n",
        b"event: ping\n\n",
        b"retry: 10\r\r",
        b"\n\n",
        b"dataset: 1\n\n",
    ],
)
def test_comments_are_no_data(event: bytes) -> None:
    assert classify_event(event) is EventKind.COMMENT
    assert event_data(event) == b""
    assert data_spans(event) == []
