"""Which bodies are taken, which are refused and why."""

import json

import pytest

from gateway.errors import Outcome, Refusal
from gateway.protocol.request import MAX_DEPTH, is_deeper_than, read_json_request

BOM = b"\xef\xbb\xbf"


def nested(levels: int) -> bytes:
    """An object that is `levels` deep, its own level included."""
    return b'{"x":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


@pytest.mark.parametrize(
    ("body", "model", "is_stream"),
    [
        (b'{"model":"m"}', "m", False),
        (b' \r\n\t{ "model" : "m" } \n', "m", False),
        (BOM + b'{"model":"m"}', "m", False),
        (BOM + b' {"model":"m"}', "m", False),
        (b"{}", None, False),
        (b'{"model":null}', None, False),
        (b'{"model":""}', None, False),
        (b'{"model":"a","model":"b"}', "b", False),
        (b'{"model":5,"model":"b"}', "b", False),
        (b'{"\\u006dodel":"m"}', "m", False),
        (b'{"model":"\\u901a\\u4e49"}', "\u901a\u4e49", False),
        ('{"model":"\u901a\u4e49"}'.encode(), "\u901a\u4e49", False),
        (b'{"model":" m "}', " m ", False),
        (b'{"model":"m","stream":true}', "m", True),
        (b'{"model":"m","stream":1}', "m", True),
        (b'{"model":"m","stream":"true"}', "m", True),
        (b'{"model":"m","stream":"False"}', "m", False),
        (b'{"model":"m","stream":"YES"}', "m", True),
        (b'{"model":"m","stream":null}', "m", False),
        (b'{"model":"m","stream":0}', "m", False),
        (b'{"model":"m","stream":2}', "m", False),
        (b'{"model":"m","stream":[]}', "m", False),
        (b'{"model":"m","temperature":NaN}', "m", False),
        (b'{"model":"m","temperature":-Infinity}', "m", False),
        (b'{"model":"m","temperature":1e999}', "m", False),
        (b'{"model":"m","x":"\\ud800"}', "m", False),
        (b'{"model":"m","seed":123456789012345678901234567890}', "m", False),
    ],
)
def test_what_the_engine_takes_is_taken(body: bytes, model: str | None, is_stream: bool) -> None:
    facts = read_json_request(body)
    assert (facts.model, facts.is_stream) == (model, is_stream)


def test_the_payload_is_what_python_reads() -> None:
    body = b'{"model":"m","a":[1,{"b":null}],"big":12345678901234567890123,"c":"\\ud83d\\ude42"}'
    assert read_json_request(body).payload == json.loads(body)


def test_a_lone_surrogate_in_the_name_is_kept() -> None:
    assert read_json_request(b'{"model":"a\\ud800"}').model == "a\ud800"


@pytest.mark.parametrize(
    ("body", "outcome", "words"),
    [
        (b"", Outcome.BODY_NOT_JSON, ["empty", "JSON object"]),
        (b" \n", Outcome.BODY_NOT_JSON, ["empty"]),
        (BOM, Outcome.BODY_NOT_JSON, ["empty"]),
        (b"[]", Outcome.BODY_NOT_JSON, ["an array", "JSON object"]),
        (b'"text"', Outcome.BODY_NOT_JSON, ["a string", "JSON object"]),
        (b"5", Outcome.BODY_NOT_JSON, ["a number"]),
        (b"true", Outcome.BODY_NOT_JSON, ["a boolean"]),
        (b"null", Outcome.BODY_NOT_JSON, ["null"]),
        (b'{\n "model": "m",\n}', Outcome.BODY_NOT_JSON, ["line 3", "column 1", "character 17"]),
        (b'{"model": "m", "messages": [', Outcome.BODY_NOT_JSON, ["line 1", "character 28"]),
        (b'{"model":"m"} x', Outcome.BODY_NOT_JSON, ["Extra data"]),
        (b"{'model':'m'}", Outcome.BODY_NOT_JSON, ["double quotes"]),
        (b'{"model":"a\x01"}', Outcome.BODY_NOT_JSON, ["control character"]),
        (BOM + BOM + b"{}", Outcome.BODY_NOT_JSON, ["not valid JSON"]),
        (b'{"x":' + b"1" * 5000 + b"}", Outcome.BODY_NOT_JSON, ["digits"]),
        (b"not json at all", Outcome.BODY_NOT_JSON, ["line 1"]),
        (b'{"model":"\xff"}', Outcome.BODY_NOT_UTF8, ["UTF-8", "byte 10"]),
        ('{"model":"\u4f60\u597d"}'.encode("gbk"), Outcome.BODY_NOT_UTF8, ["UTF-8"]),
        (b'{"model":"\xed\xa0\x80"}', Outcome.BODY_NOT_UTF8, ["UTF-8"]),
        (b'{"\xff":1}', Outcome.BODY_NOT_UTF8, ["UTF-8"]),
        ('{"model":"m"}'.encode("utf-16"), Outcome.BODY_NOT_UTF8, ["UTF-8"]),
        ('{"model":"m"}'.encode("utf-16-le"), Outcome.BODY_NOT_UTF8, ["UTF-8", "UTF-16"]),
        ('{"model":"m"}'.encode("utf-16-be"), Outcome.BODY_NOT_UTF8, ["UTF-8", "UTF-16"]),
        ('{"model":"m"}'.encode("utf-32-le"), Outcome.BODY_NOT_UTF8, ["UTF-8"]),
        (b"[" * 100_000, Outcome.BODY_TOO_DEEP, ["200"]),
        (b'{"a":' * 100_000, Outcome.BODY_TOO_DEEP, ["200"]),
        (nested(MAX_DEPTH + 1), Outcome.BODY_TOO_DEEP, ["200"]),
        (b'{"n":NaN,"x":' + nested(MAX_DEPTH) + b"}", Outcome.BODY_TOO_DEEP, ["200"]),
    ],
)
def test_what_is_refused_says_why(body: bytes, outcome: Outcome, words: list[str]) -> None:
    with pytest.raises(Refusal) as caught:
        read_json_request(body)
    assert caught.value.outcome is outcome
    assert [word for word in words if word not in caught.value.message] == []


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (b"5", "a number"),
        (b"0", "a number"),
        (b"1.5", "a number"),
        (b"true", "a boolean"),
        (b"false", "a boolean"),
        (b'["m"]', "an array"),
        (b"[]", "an array"),
        (b'{"a":1}', "an object"),
    ],
)
def test_a_model_of_another_type_is_refused(value: bytes, kind: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_json_request(b'{"model":' + value + b"}")
    refusal = caught.value
    assert (refusal.outcome, refusal.param) == (Outcome.MODEL_REQUIRED, "model")
    assert kind in refusal.message


def test_the_last_of_two_models_decides_also_when_it_is_wrong() -> None:
    with pytest.raises(Refusal):
        read_json_request(b'{"model":"m","model":5}')


def test_the_deepest_allowed_body_is_taken() -> None:
    assert read_json_request(nested(MAX_DEPTH)).model is None


@pytest.mark.parametrize("filler", [0, 1000])
def test_depth_is_found_behind_any_number_of_numbers(filler: int) -> None:
    payload = [*range(filler), [[]]]
    assert not is_deeper_than(payload, 3)
    assert is_deeper_than(payload, 2)
