"""Request fields are read as laxly and as strictly as the engine reads them."""

from typing import Any

import pytest

from gateway.emulator import fields
from gateway.emulator.refusals import Refused

JSON = {"content-type": "application/json"}


def refusal(call: Any, *args: Any, **options: Any) -> dict[str, Any]:
    """The error object of a refused call."""
    with pytest.raises(Refused) as caught:
        call(*args, **options)
    assert caught.value.status == 400
    error: dict[str, Any] = caught.value.body.get("error", caught.value.body)
    return error


@pytest.mark.parametrize(
    ("headers", "raw", "body"),
    [
        (JSON, b"{}", {}),
        (JSON, b'\xef\xbb\xbf{"a": 1}', {"a": 1}),  # a BOM passes
        (JSON, b'{"a": 1, "a": 2}', {"a": 2}),  # the last duplicate wins
        (JSON, b'{"a": 1e999}', {"a": float("inf")}),
        (JSON, '{"a": "你好"}'.encode("utf-16"), {"a": "你好"}),
        ({"content-type": "Application/JSON; charset=utf-8"}, b"{}", {}),
    ],
)
def test_bodies(headers: dict[str, str], raw: bytes, body: dict[str, Any]) -> None:
    assert fields.json_body(headers, raw) == body


@pytest.mark.parametrize(
    ("headers", "raw", "told"),
    [
        ({}, b"{}", "Unsupported Media Type"),
        ({"content-type": "text/plain"}, b"{}", "Unsupported Media Type"),
        (JSON, b"", "Field required"),
        (JSON, b"{", "JSON decode error"),
        (JSON, b"[1]", "valid dictionary"),
        (JSON, b'"a"', "valid dictionary"),
    ],
)
def test_bodies_that_are_refused(headers: dict[str, str], raw: bytes, told: str) -> None:
    assert told in refusal(fields.json_body, headers, raw)["message"]


@pytest.mark.parametrize("raw", [b'{"a": "\xff"}', b"[" * 100_000])
def test_bodies_that_cannot_be_read(raw: bytes) -> None:
    assert refusal(fields.json_body, JSON, raw) == {"detail": "There was an error parsing the body"}


@pytest.mark.parametrize(
    ("read", "given", "value"),
    [
        (fields.string, None, None),
        (fields.string, "x", "x"),
        (fields.items, None, None),
        (fields.items, [], []),
        (fields.number, None, None),
        (fields.number, "0.5", 0.5),
        (fields.number, 1, 1.0),
        (fields.integer, None, None),
        (fields.integer, "5", 5),
        (fields.integer, 5.0, 5),
        (fields.integer, True, 1),
        (fields.flag, None, False),
        (fields.flag, True, True),
        (fields.flag, "TRUE", True),
        (fields.flag, 1, True),
        (fields.flag, "off", False),
        (fields.flag, 0, False),
        (fields.strings, None, ()),
        (fields.strings, "", ()),
        (fields.strings, "a", ("a",)),
        (fields.strings, ["a", "", "b"], ("a", "b")),
    ],
)
def test_values(read: Any, given: Any, value: Any) -> None:
    found = read({"x": given}, "x")
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("read", "given", "told"),
    [
        (fields.string, 1, "valid string"),
        (fields.items, "a", "valid list"),
        (fields.number, "warm", "valid number"),
        (fields.number, [], "valid number"),
        (fields.integer, 1.5, "valid integer"),
        (fields.integer, float("nan"), "valid integer"),
        (fields.integer, float("inf"), "valid integer"),
        (fields.integer, "9" * 5000, "valid integer"),
        (fields.flag, 2, "valid boolean"),
        (fields.flag, [], "valid boolean"),
        (fields.strings, 5, "valid list"),
    ],
)
def test_values_that_are_refused(read: Any, given: Any, told: str) -> None:
    error = refusal(read, {"x": given}, "x")
    assert told in error["message"]
    assert (error["type"], error["param"], error["code"]) == ("Bad Request", "body.x", 400)


def test_an_absent_flag_has_its_default() -> None:
    assert fields.flag({}, "x", default=True)
    assert fields.flag({"x": None}, "x", default=True)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"top_p": 1.1}, "top_p"),
        ({"n": 0}, "n"),
        ({"n": 16385}, "n"),
        ({"stream_options": {}}, "stream_options"),
        ({"stream_options": {}, "stream": False}, "stream_options"),
    ],
)
def test_sampling_values_that_are_refused(body: dict[str, Any], param: str) -> None:
    error = refusal(fields.check_sampling, body)
    assert (error["type"], error["param"]) == ("BadRequestError", param)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"temperature": 0, "top_p": 1, "n": 1},
        {"temperature": "0.7", "top_p": None, "n": None},
        {"stream": True, "stream_options": {"include_usage": True}},
        {"stream_options": None},
    ],
)
def test_sampling_values_that_pass(body: dict[str, Any]) -> None:
    fields.check_sampling(body)


@pytest.mark.parametrize(("value", "told"), [(0, "at least 1"), (-5, "at least 1"), (101, "101")])
def test_output_limits_that_are_refused(value: int, told: str) -> None:
    error = refusal(fields.check_max_tokens, value, 100, "max_completion_tokens")
    assert told in error["message"]
    assert error["param"] == "max_completion_tokens"


@pytest.mark.parametrize("value", [None, 1, 100])
def test_output_limits_that_pass(value: int | None) -> None:
    fields.check_max_tokens(value, 100)
