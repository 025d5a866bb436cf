"""The spans of `model` values, in every place where the word may stand."""

import time

import pytest

from gateway.protocol.json_spans import (
    MESSAGE_MODEL,
    MODEL,
    RESPONSE_MODEL,
    model_spans,
    value_spans,
)

BOM = b"\xef\xbb\xbf"


def values(body: bytes, path: tuple[str, ...] = MODEL) -> list[bytes]:
    quick = model_spans(body, path)
    assert quick == value_spans(body, path)
    return [body[start:end] for start, end in quick]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"model":"m"}', [b'"m"']),
        (b'{ "model" :\t"m" , "x":1}', [b'"m"']),
        (BOM + b' {"x":1,"model":"m"}', [b'"m"']),
        (b'{"model":null}', [b"null"]),
        (b'{"model":-1.5e3}', [b"-1.5e3"]),
        (b'{"model":NaN}', [b"NaN"]),
        (b'{"model":["a",{"b":"}"}],"x":1}', [b'["a",{"b":"}"}]']),
        (b'{"model":{"model":"in"}}', [b'{"model":"in"}']),
        (b'{"model":"a","model":"b"}', [b'"a"', b'"b"']),
        (b'{"model":"a","x":{"model":"n"},"model":"b"}', [b'"a"', b'"b"']),
        (b'{"x":{"model":"n"}}', []),
        (b'{"x":[{"model":"n"}],"model":"m"}', [b'"m"']),
        (b'{"model":"m","x":[{"model":"n"}]}', [b'"m"']),
        (b'{"x":"\\"model\\":\\"n\\"","model":"m"}', [b'"m"']),
        (b'{"x":"\\"model","model":"m"}', [b'"m"']),
        (b'{"x":"a\\\\","model":"m"}', [b'"m"']),
        (b'{"x":"a\\\\\\"","model":"m"}', [b'"m"']),
        (b'{"x":"model","model":"m"}', [b'"m"']),
        (b'{"model":"model"}', [b'"model"']),
        (b'{"model":"a \\" b","x":"c"}', [b'"a \\" b"']),
        (b'{"\\u006dodel":"m"}', [b'"m"']),
        (b'{"m\\u006Fdel":"a","model":"b"}', [b'"a"', b'"b"']),
        (b'{"m\\u006Fdels":"a","model":"b"}', [b'"b"']),
        (b'{"Model":"a"}', []),
        (b'{"x":[1,[2,"]"],{}],"model":"m"}', [b'"m"']),
        (b'{"x":{"y":["}"]},"model":"m"}', [b'"m"']),
        (b'{"x":{"model":"m"} }', []),
        (b'{"x":1,"\\"model":"m"}', []),
        (b'{"x":1,"a\\\\\\"model":"m"}', []),
        (b'{"x":[[1]],"model":"m" }\n', [b'"m"']),
        (b"{}", []),
        (b" { } ", []),
        (b'{"x":"' + b"\\n" * 3000 + b'","model":"m","y":[[]]}', [b'"m"']),
        (b'{"x":"' + b"a" * 3000 + b'\\"","model":"m","y":[[]]}', [b'"m"']),
        (b'{"x":["' + b"a" * 3000 + b'"],"model":"m","y":[[]]}', [b'"m"']),
    ],
)
def test_top_level(body: bytes, found: list[bytes]) -> None:
    assert values(body) == found


@pytest.mark.parametrize(
    ("body", "path", "found"),
    [
        (b'{"response":{"id":"r","model":"m"}}', RESPONSE_MODEL, [b'"m"']),
        (b'{"response":{"d":{"reason":"x"},"model":"m"}}', RESPONSE_MODEL, [b'"m"']),
        (b'{"model":"top","response":{"x":{"model":"n"}}}', RESPONSE_MODEL, []),
        (b'{"response":{"model":"a"},"response":{"model":"b"}}', RESPONSE_MODEL, [b'"a"', b'"b"']),
        (b'{"response":"model","model":"m"}', RESPONSE_MODEL, []),
        (b'{"type":"t","message":{"content":[],"model":"m"}}', MESSAGE_MODEL, [b'"m"']),
        (b'{"message":{"content":[{"model":"n"}],"model":"m"}}', MESSAGE_MODEL, [b'"m"']),
        (b'{"message":null,"x":{"message":{"model":"n"}}}', MESSAGE_MODEL, []),
        (b'{"x":1,"message":{"model":"m"}}', MESSAGE_MODEL, [b'"m"']),
    ],
)
def test_nested(body: bytes, path: tuple[str, ...], found: list[bytes]) -> None:
    assert values(body, path) == found


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'[{"model":"m"}]',
        b'"model"',
        b'"model":"m"',
        b'"model":"m"}',
        b'["model":"m"}',
        b"{",
        b'{"model"',
        b'{"model"}',
        b'{"model":',
        b'{"model":}',
        b'{"model":"m',
        b'{"x":[1,"model":"m"',
        b'{"x" "model"}',
        b'{"x":[}],"model"',
        b'{5:"model"}',
        b'{"\\u006del":1',
        b'{"\\q\\u006del":1}',
    ],
)
def test_what_is_no_json_object_has_none(body: bytes) -> None:
    assert model_spans(body) == []


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","x":"' + b"QUJD" * 1_250_000 + b'"}',
        b'{"x":"' + b"QUJD" * 1_250_000 + b'","model":"m"}',
        b'{"x":["' + b'\\"' * 2_500_000 + b'"],"model":"m"}',
        b'{"x":["' + b"\\\\" * 2_500_000 + b'"],"model":"m"}',
        b'{"x":["' + (b"a" * 70 + b'\\"') * 70_000 + b'"],"model":"m"}',
        b'{"x":[' + b"[" * 1_000_000 + b"]" * 1_000_000 + b'],"model":"m"}',
        b'{"x":{' + b",".join([b'"model":{"a":"b"}'] * 200_000) + b'},"model":"m"}',
        b'{"x":' + b" " * 5_000_000 + b'1,"model":"m"}',
        b'{"x":1' + b"1" * 5_000_000 + b',"model":"m"}',
    ],
    ids=[
        "first",
        "last",
        "quotes",
        "backslashes",
        "sparse",
        "brackets",
        "keys",
        "blanks",
        "digits",
    ],
)
def test_five_megabytes_take_linear_time(body: bytes) -> None:
    began = time.perf_counter()
    assert values(body) == [b'"m"']
    # Quadratic time would be hours.
    assert time.perf_counter() - began < 20
