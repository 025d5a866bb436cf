"""Structured output: JSON that the schema allows, and the call that a model makes."""

import json
from typing import Any

import pytest

from gateway.emulator.refusals import Refused
from gateway.emulator.structured import ToolCall, example, response_json, tool_call

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
TIME = {"type": "function", "function": {"name": "get_time"}}
USER = [{"role": "user", "content": "weather?"}]
ARGUMENTS = '{"city": "Paris"}'


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, "Paris"),
        ({"type": "string"}, "Paris"),
        ({"type": "string", "minLength": 7}, "Parisss"),
        ({"type": "string", "maxLength": 2}, "Pa"),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 18}, 18),
        ({"type": "number"}, 1.5),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": ["integer", "null"]}, 1),
        ({"const": 0}, 0),
        ({"enum": ["b", "a"]}, "b"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({"type": "array", "items": {"type": "integer"}}, [1]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 3}, [1, 1, 1]),
        (
            {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": [2]}}},
            {"a": 1, "b": 2},
        ),
        ({"properties": {"a": {}}}, {"a": "Paris"}),
        (
            {"$defs": {"N": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/N"}}},
            {"a": 1},
        ),
        ({"$ref": "#/$defs/missing"}, None),
    ],
)
def test_examples(schema: dict[str, Any], value: Any) -> None:
    assert example(schema) == value


def test_a_schema_that_contains_itself_comes_to_an_end() -> None:
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}, "name": {"type": "string"}}}
    assert example(schema)["next"]["name"] == "Paris"


@pytest.mark.parametrize("wanted", [None, "json_object", {}, {"type": "text"}])
def test_plain_text(wanted: Any) -> None:
    assert response_json(wanted) is None


def test_json_modes() -> None:
    assert isinstance(json.loads(response_json({"type": "json_object"}) or ""), dict)
    schema = {"type": "object", "properties": {"城市": {"type": "string"}}}
    text = response_json({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}})
    assert text == '{"城市": "Paris"}'


def test_a_json_schema_without_a_schema_is_refused() -> None:
    with pytest.raises(Refused, match="json_schema"):
        response_json({"type": "json_schema"})


@pytest.mark.parametrize(
    ("tools", "choice", "messages", "call"),
    [
        ([WEATHER], "auto", USER, ToolCall("get_weather", ARGUMENTS, "tool_calls", True)),
        ([WEATHER], "auto", [*USER, {"role": "tool", "content": "sunny"}], None),
        ([WEATHER], "auto", [], None),
        ([WEATHER], "none", USER, None),
        ([], "auto", USER, None),
        (None, "required", USER, None),
        ([WEATHER], "required", USER, ToolCall("get_weather", ARGUMENTS, "tool_calls", False)),
        (
            [WEATHER],
            "required",
            [{"role": "tool", "content": "sunny"}],
            ToolCall("get_weather", ARGUMENTS, "tool_calls", False),
        ),
        ([WEATHER, TIME], TIME, USER, ToolCall("get_time", "{}", "stop", False)),
        (  # the form of the responses protocol
            [{"type": "function", "name": "f"}],
            {"type": "function", "name": "f"},
            USER,
            ToolCall("f", "{}", "stop", False),
        ),
        ([{"type": "web_search"}, 7], "auto", USER, None),
    ],
)
def test_calls(tools: Any, choice: Any, messages: Any, call: ToolCall | None) -> None:
    assert tool_call(tools, choice, messages) == call


def test_the_same_conversation_calls_the_same_tool() -> None:
    calls = {tool_call([WEATHER, TIME], "auto", USER) for _ in range(5)}
    assert len(calls) == 1


def test_a_named_tool_must_be_among_the_tools() -> None:
    with pytest.raises(Refused, match="get_time"):
        tool_call([WEATHER], TIME, USER)
