"""How much a request asks for."""

from typing import Any

import pytest

from gateway.protocol.demand import (
    PromptSize,
    choices_asked,
    max_output_tokens,
    previous_response_id,
    prompt_size,
    user_of,
)


@pytest.mark.parametrize(
    ("payload", "tokens"),
    [
        ({}, None),
        ({"max_tokens": 5}, 5),
        ({"max_tokens": None}, None),
        ({"max_tokens": 0}, 0),
        ({"max_tokens": -1}, None),
        ({"max_tokens": "5"}, None),
        ({"max_tokens": True}, None),
        ({"max_completion_tokens": 7, "max_tokens": 5}, 7),
        ({"max_completion_tokens": None, "max_tokens": 5}, 5),
        ({"max_output_tokens": 9}, 9),
    ],
)
def test_output_limit(payload: dict[str, Any], tokens: int | None) -> None:
    assert max_output_tokens(payload) == tokens


@pytest.mark.parametrize(
    ("payload", "choices"),
    [
        ({}, 1),
        ({"n": 3}, 3),
        ({"n": None}, 1),
        ({"n": 0}, 1),
        ({"n": "2"}, 1),
        ({"prompt": "a", "n": 2}, 2),
        ({"prompt": ["a", "b"]}, 2),
        ({"prompt": ["a", "b"], "n": 2}, 4),
        ({"prompt": [1, 2, 3]}, 1),
        ({"prompt": [[1], [2], [3]]}, 3),
        ({"prompt": []}, 1),
    ],
)
def test_choices(payload: dict[str, Any], choices: int) -> None:
    assert choices_asked(payload) == choices


@pytest.mark.parametrize(
    ("payload", "chars", "ids"),
    [
        ({}, 0, 0),
        ({"prompt": "four"}, 4, 0),
        ({"prompt": [1, 2, 3]}, 0, 3),
        ({"prompt": [[1, 2], [3]]}, 0, 3),
        ({"prompt": ["ab", "c"]}, 3, 0),
        ({"input": "abc", "instructions": "de"}, 5, 0),
        ({"input": [{"role": "user", "content": [{"type": "input_text", "text": "abc"}]}]}, 3, 0),
        ({"input": [{"type": "function_call_output", "output": "abcd"}]}, 4, 0),
        ({"messages": [{"role": "user", "content": "abc"}, {"content": "de"}]}, 5, 0),
        (
            {"messages": [{"content": [{"type": "text", "text": "abc"}, {"type": "image_url"}]}]},
            3,
            0,
        ),
        ({"messages": [{"content": [{"image_url": {"url": "data:AAAA"}}]}]}, 0, 0),
        ({"messages": [{"content": ["ab", 3]}]}, 2, 0),
        ({"messages": [{"content": None, "reasoning": "abc"}, 5, "xy"]}, 5, 0),
        ({"messages": [{"content": [{"type": "tool_result", "content": "abc"}]}]}, 3, 0),
        ({"messages": [{"content": [{"content": [{"text": "abc"}, {"text": 1}]}]}]}, 3, 0),
        ({"messages": [{"tool_calls": [{"function": {"arguments": "{}"}}]}]}, 8 + 9 + 2, 0),
        ({"system": [{"type": "text", "text": "abc"}]}, 3, 0),
        ({"tools": [{"name": "f", "n": 1}]}, 4 + 1 + 1, 0),
        ({"query": "ab", "documents": ["cde", {"text": "f"}]}, 6, 0),
        ({"text_1": "ab", "text_2": ["cd"]}, 4, 0),
        ({"messages": "abc", "tools": "x", "prompt": 5}, 0, 0),
    ],
)
def test_prompt_size(payload: dict[str, Any], chars: int, ids: int) -> None:
    assert prompt_size(payload) == PromptSize(chars=chars, token_ids=ids)


@pytest.mark.parametrize(
    ("value", "read"), [("u1", "u1"), ("", None), (None, None), (5, None), ({}, None)]
)
def test_text_fields(value: object, read: str | None) -> None:
    assert user_of({"user": value}) == read
    assert previous_response_id({"previous_response_id": value}) == read
