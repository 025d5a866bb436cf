"""Structured output: which JSON the model must say for a schema, a JSON mode, or a tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from gateway.emulator import jsontext
from gateway.emulator.refusals import bad_request

_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model will make."""

    name: str
    arguments: str
    finish: str
    """`stop` for a tool forced by name, else `tool_calls`, as in vLLM."""
    optional: bool
    """The model was free to answer with text (tool_choice auto)."""


def response_json(response_format: Any) -> str | None:
    """The JSON text that a response_format asks for, None for plain text."""
    if not isinstance(response_format, dict):
        return None
    kind = response_format.get("type")
    if kind == "json_object":
        return jsontext.dumps({"name": "get_weather", "arguments": {"city": "Paris"}})
    if kind != "json_schema":
        return None
    wrapper = response_format.get("json_schema")
    if not isinstance(wrapper, dict):
        text = (
            "When response_format type is 'json_schema', the 'json_schema' field must be provided."
        )
        raise bad_request(text, "response_format")
    schema = wrapper.get("schema")
    return jsontext.dumps(example(schema if isinstance(schema, dict) else {}))


def tool_call(
    tools: Sequence[Any] | None, tool_choice: Any, messages: Sequence[Mapping[str, Any]]
) -> ToolCall | None:
    """The tool call that the model makes, None when it answers with text.

    With `auto` it calls a tool for a user's message and talks after a tool's result.
    """
    functions = [f for f in map(_function, tools or ()) if f is not None]
    if not functions or tool_choice == "none":
        return None
    named = _function(tool_choice)
    if named is not None:
        wanted = named.get("name")
        chosen = next((f for f in functions if f.get("name") == wanted), None)
        if chosen is None:
            raise bad_request(f"Tool {wanted} has not been passed in the request's `tools`.")
        return _call(chosen, "stop", optional=False)
    chosen = functions[crc32(repr(messages).encode(errors="replace")) % len(functions)]
    if tool_choice == "required":
        return _call(chosen, "tool_calls", optional=False)
    asked = bool(messages) and messages[-1].get("role") == "user"
    return _call(chosen, "tool_calls", optional=True) if asked else None


def example(schema: Mapping[str, Any]) -> Any:
    """A value that a JSON schema allows, always the same one."""
    return _example(schema, schema, _MAX_DEPTH)


def _call(function: Mapping[str, Any], finish: str, *, optional: bool) -> ToolCall:
    parameters = function.get("parameters")
    value = example(parameters) if isinstance(parameters, dict) else {}
    return ToolCall(str(function.get("name")), jsontext.dumps(value), finish, optional)


def _function(tool: Any) -> Mapping[str, Any] | None:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        return None
    inner = tool.get("function")
    if isinstance(inner, dict):
        return inner
    return tool if isinstance(tool.get("name"), str) else None


def _example(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    if not isinstance(schema, dict) or depth == 0:
        return None
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _example(_resolve(reference, root), root, depth - 1)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return _example(schema[key][0], root, depth - 1)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or "properties" in schema:
        properties = schema.get("properties") or {}
        return {name: _example(value, root, depth - 1) for name, value in properties.items()}
    if kind == "array":
        length = max(1, int(schema.get("minItems", 1)))
        return [_example(schema.get("items", {}), root, depth - 1)] * length
    return _scalar(kind, schema)


def _scalar(kind: Any, schema: Mapping[str, Any]) -> Any:
    if kind == "boolean":
        return True
    if kind == "integer":
        return int(schema.get("minimum", 1))
    if kind == "number":
        return float(schema.get("minimum", 1.5))
    if kind == "null":
        return None
    text = "Paris"
    return text.ljust(int(schema.get("minLength", 0)), "s")[: int(schema.get("maxLength", 10**6))]


def _resolve(reference: str, root: Mapping[str, Any]) -> Any:
    value: Any = root
    for part in reference.removeprefix("#").split("/"):
        if part:
            value = value.get(part) if isinstance(value, dict) else None
    return value
