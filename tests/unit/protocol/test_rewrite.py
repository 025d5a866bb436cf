"""Only `model` changes, and only where it is one."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import Outcome, Refusal
from gateway.protocol.chunks import Protocol
from gateway.protocol.json_spans import value_spans
from gateway.protocol.rewrite import ModelRewriter, json_name, rename_in_header, rewrite_request

CHAT = Protocol.OPENAI_CHAT
BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"model":"gpt-4","x":1}', b'{"model":"/m/9b","x":1}'),
        (b'{"model": "gpt-4"}', b'{"model": "/m/9b"}'),
        (b'{"model":null,"x":1}', b'{"model":"/m/9b","x":1}'),
        (b'{"model":""}', b'{"model":"/m/9b"}'),
        (b'{"x":1}', b'{"model":"/m/9b","x":1}'),
        (b' { "x":1}', b' {"model":"/m/9b", "x":1}'),
        (BOM + b'{"x":1}', BOM + b'{"model":"/m/9b","x":1}'),
        (b"{}", b'{"model":"/m/9b"}'),
        (b"{ \n}", b'{"model":"/m/9b" \n}'),
        (b'{"x":{"model":"n"}}', b'{"model":"/m/9b","x":{"model":"n"}}'),
        (b'{"model":"a","model":"bbb"}', b'{"model":"/m/9b","model":"/m/9b"}'),
        (b'{"\\u006dodel":"a"}', b'{"\\u006dodel":"/m/9b"}'),
        (
            b'{"x":"say \\"model\\":\\"gpt-4\\"","seed":1234567890123456789012,"model":"gpt-4"}',
            b'{"x":"say \\"model\\":\\"gpt-4\\"","seed":1234567890123456789012,"model":"/m/9b"}',
        ),
    ],
)
def test_request(body: bytes, expected: bytes) -> None:
    assert rewrite_request(body, "/m/9b") == expected


def test_a_request_that_is_no_object_is_refused() -> None:
    with pytest.raises(Refusal) as caught:
        rewrite_request(b"[]", "m")
    assert caught.value.outcome is Outcome.BODY_NOT_JSON


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m", b'"m"'),
        ("a/b:c", b'"a/b:c"'),
        ('q"\\', b'"q\\"\\\\"'),
        ("\u901a\u4e49", '"\u901a\u4e49"'.encode()),
        ("a\nb", b'"a\\nb"'),
    ],
)
def test_a_name_is_written_plainly(name: str, text: bytes) -> None:
    assert json_name(name) == text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"id":1,"model":"/m/9b","choices":[]}', b'{"id":1,"model":"pub","choices":[]}'),
        (b'{"id":1, "model": "/m/9b"}\n', b'{"id":1, "model": "pub"}\n'),
        (b'{"model":"pub"}', b'{"model":"pub"}'),
        (b'{"model":null}', b'{"model":null}'),
        (b'{"model":5}', b'{"model":5}'),
        (b'{"text":"/m/9b"}', b'{"text":"/m/9b"}'),
        (b'{"a":{"model":"/m/9b"}}', b'{"a":{"model":"/m/9b"}}'),
        (b'{"model":"/m/9b","choi', b'{"model":"/m/9b","choi'),
        (b"1\n00:00 model text", b"1\n00:00 model text"),
        (b'[{"model":"/m/9b"}]', b'[{"model":"/m/9b"}]'),
        (b"", b""),
        (b'say "model": {}', b'say "model": {}'),
    ],
)
@pytest.mark.parametrize("protocol", list(Protocol))
def test_whole_answers(body: bytes, expected: bytes, protocol: Protocol) -> None:
    assert ModelRewriter("pub").body(body, protocol) == expected


@pytest.mark.parametrize(
    ("protocol", "event", "expected"),
    [
        (CHAT, b'data: {"model":"/m","c":[]}\n\n', b'data: {"model":"pub","c":[]}\n\n'),
        (CHAT, b'data:{"model":"/m"}\r\n\r\n', b'data:{"model":"pub"}\r\n\r\n'),
        (CHAT, b'data: {"model":"/m"}\r\r', b'data: {"model":"pub"}\r\r'),
        (CHAT, b'data: {"id": "a", "model": "/m"}\n\n', b'data: {"id": "a", "model": "pub"}\n\n'),
        (
            CHAT,
            b'data: {"x":"\\"model\\":\\"/m\\""}\n\n',
            b'data: {"x":"\\"model\\":\\"/m\\""}\n\n',
        ),
        (CHAT, b'data: {"x":{"model":"/m"}}\n\n', b'data: {"x":{"model":"/m"}}\n\n'),
        (CHAT, b'data: {"model":null}\n\n', b'data: {"model":null}\n\n'),
        (CHAT, b"data: [DONE]\n\n", b"data: [DONE]\n\n"),
        (CHAT, b": keep-alive\n\n", b": keep-alive\n\n"),
        (CHAT, b': "model":"/m"\n\n', b': "model":"/m"\n\n'),
        (CHAT, b'data: not "model": json\n\n', b'data: not "model": json\n\n'),
        (
            CHAT,
            b'data: {"id":1,\ndata: "model":"/m",\ndata: "x":2}\n\n',
            b'data: {"id":1,\ndata: "model":"pub",\ndata: "x":2}\n\n',
        ),
        (
            Protocol.RESPONSES,
            b'event: x\ndata: {"response":{"id":"r","m":null,"model":"/m"},"n":0}\n\n',
            b'event: x\ndata: {"response":{"id":"r","m":null,"model":"pub"},"n":0}\n\n',
        ),
        (
            Protocol.RESPONSES,
            b'event: x\ndata: {"delta":"/m","model":"/m"}\n\n',
            b'event: x\ndata: {"delta":"/m","model":"/m"}\n\n',
        ),
        (
            Protocol.MESSAGES,
            b'event: message_start\ndata: {"type":"t","message":{"content":[],"model":"/m"}}\n\n',
            b'event: message_start\ndata: {"type":"t","message":{"content":[],"model":"pub"}}\n\n',
        ),
    ],
)
def test_events(protocol: Protocol, event: bytes, expected: bytes) -> None:
    rewriter = ModelRewriter("pub")
    assert rewriter.event(event, protocol) == expected
    # Once more, now that the beginning is known.
    assert rewriter.event(event, protocol) == expected


@pytest.mark.parametrize("shown", ["pub", "/m"])
def test_what_was_learnt_from_one_event_does_not_fool_the_next(shown: str) -> None:
    rewriter = ModelRewriter(shown)
    begin = b'data: {"id":"a","model":"/m"'
    want = b'data: {"id":"a","model":"' + shown.encode() + b'"'
    for rest, rest_wanted in [
        (b',"x":1}\n\n', None),
        (b',"x":{"model":"/m"}}\n\n', None),
        (b',"model":"/m"}\n\n', b',"model":"' + shown.encode() + b'"}\n\n'),
        (b',"\\u006dodel":"/m"}\n\n', b',"\\u006dodel":"' + shown.encode() + b'"}\n\n'),
        (b',"x":2}\n\n', None),
    ]:
        assert rewriter.event(begin + rest, CHAT) == want + (rest_wanted or rest)
    assert rewriter.event(b'data: {"id":"b","model":"/other"}\n\n', CHAT) == (
        b'data: {"id":"b","model":"' + shown.encode() + b'"}\n\n'
    )


def test_the_rewriter_shows_its_name() -> None:
    assert repr(ModelRewriter("pub")) == "ModelRewriter('pub')"


KEYS = st.sampled_from(["model", "m", "response", "x", "\u6a21", 'a"b', "a\\"]) | st.text(
    max_size=3
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(alphabet=st.characters(), max_size=8)
    | st.sampled_from(['"model":"n"', "model", '\\"model', "\ud800", "}", "]", '"', "\\"])
)


class Pairs(list[tuple[str, Any]]):
    """An object as a list of members, so that keys may come twice."""


def documents() -> st.SearchStrategy[Pairs]:
    inner = st.recursive(
        LEAVES,
        lambda child: (
            st.lists(child, max_size=3) | st.lists(st.tuples(KEYS, child), max_size=3).map(Pairs)
        ),
        max_leaves=8,
    )
    return st.lists(st.tuples(KEYS, inner), max_size=5).map(Pairs)


def write(value: Any, draw: Any) -> str:
    """JSON with any legal spacing and escaping."""

    def space() -> str:
        return str(draw(st.sampled_from(["", "", " ", "\n\t"])))

    if isinstance(value, Pairs):
        members = [
            f"{space()}{string(key, draw)}{space()}:{space()}{write(child, draw)}{space()}"
            for key, child in value
        ]
        return "{" + (",".join(members) or space()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(space() + write(child, draw) for child in value) + "]"
    return string(value, draw) if isinstance(value, str) else json.dumps(value)


def string(text: str, draw: Any) -> str:
    if text and draw(st.integers(0, 3)) == 0:
        escaped = f"\\u{ord(text[0]):04x}" if ord(text[0]) < 0x10000 else json.dumps(text[0])[1:-1]
        return '"' + escaped + json.dumps(text[1:])[1:]
    has_surrogate = any("\ud800" <= char <= "\udfff" for char in text)
    return json.dumps(text, ensure_ascii=has_surrogate or draw(st.booleans()))


def with_model(pairs: list[tuple[str, Any]], name: str) -> list[tuple[str, Any]]:
    changed = [(key, name if key == "model" else value) for key, value in pairs]
    return changed if any(key == "model" for key, _ in pairs) else [("model", name), *changed]


def members(text: bytes) -> list[tuple[str, Any]]:
    """The top-level members with all duplicates; NaN is comparable by its spelling, and no text."""
    pairs = json.loads(
        text.decode("utf-8-sig"),
        object_pairs_hook=Pairs,
        parse_constant=lambda name: ("constant", name),
    )
    assert isinstance(pairs, Pairs)
    return pairs


@settings(max_examples=200, deadline=None)
@given(documents(), st.data(), st.booleans())
def test_any_document_is_rewritten_exactly(document: Pairs, data: Any, has_bom: bool) -> None:
    body = (BOM if has_bom else b"") + write(document, data.draw).encode()
    out = rewrite_request(body, "served/\u540d")
    assert members(out) == with_model(members(body), "served/\u540d")
    spans = value_spans(body, ("model",))
    expected, last = b"", 0
    for start, end in spans:
        expected += body[last:start] + '"served/\u540d"'.encode()
        last = end
    if spans:
        assert out == expected + body[last:]
    else:
        at = body.index(b"{") + 1
        inserted = len(out) - len(body)
        assert out[:at] + out[at + inserted :] == body


@settings(max_examples=100, deadline=None)
@given(documents(), st.data(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_event_is_rewritten_exactly(document: Pairs, data: Any, line_end: str) -> None:
    text = write(document, data.draw).encode().replace(b"\n", b"\n" + b"data: ")
    end = line_end.encode()
    event = (b"data: " + text + b"\n\n").replace(b"\n", end)
    rewriter = ModelRewriter("pub")
    out = rewriter.event(event, CHAT)
    assert rewriter.event(event, CHAT) == out

    def joined(one: bytes) -> bytes:
        return one.removeprefix(b"data: ").replace(end + b"data: ", b"\n").rstrip(b"\r\n")

    before, after = members(joined(event)), members(joined(out))
    assert after == [
        (key, "pub" if key == "model" and isinstance(value, str) else value)
        for key, value in before
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            b'{"id": "e-1", "model": "/m/9b", "data": []}',
            b'{"id": "e-1", "model": "a\\u901a\\"b", "data": []}',
        ),
        (b'{"id": "e-1"}', b'{"id": "e-1"}'),
        (b'{"model": null}', b'{"model": null}'),
        (b"a: /m/9b", b"a: /m/9b"),
        (b'{"model": "', b'{"model": "'),
        (b"", b""),
    ],
)
def test_a_header_that_holds_the_model(value: bytes, expected: bytes) -> None:
    assert rename_in_header(value, 'a\u901a"b') == expected
