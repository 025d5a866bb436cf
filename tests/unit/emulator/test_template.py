"""Messages become one prompt; an open last message is what an answer in the making looks like."""

from typing import Any

import pytest

from gateway.emulator import template
from gateway.emulator.refusals import Refused

USER = {"role": "user", "content": "hi"}
HEAD = "<|im_start|>user\nhi<|im_end|>\n"
OPEN = "<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("messages", "options", "prompt"),
    [
        ([USER], {}, HEAD + OPEN),
        ([USER], {"add_generation_prompt": False}, HEAD),
        ([USER], {"thinking": True}, HEAD + OPEN + "<think>"),
        (
            [{"role": "developer", "content": "be kind"}, USER],
            {},
            "<|im_start|>developer\nbe kind<|im_end|>\n" + HEAD + OPEN,
        ),
        (
            [USER, {"role": "assistant", "content": "Hel"}],
            {"add_generation_prompt": False, "continue_final_message": True},
            HEAD + OPEN + "Hel",
        ),
        (
            [USER, {"role": "assistant", "content": "Hello"}],
            {},
            HEAD + OPEN + "Hello<|im_end|>\n" + OPEN,
        ),
        (
            [USER, {"role": "assistant", "content": "b", "reasoning": "a"}],
            {"continue_final_message": True, "thinking": True},
            HEAD + OPEN + "<think>a</think>b",
        ),
        (
            [USER, {"role": "assistant", "content": "", "reasoning_content": "a"}],
            {"continue_final_message": True, "thinking": True},
            HEAD + OPEN + "<think>a",
        ),
        (
            [USER, {"role": "assistant", "content": "b", "reasoning": "a"}, USER],
            {"thinking": True},
            HEAD + OPEN + "b<|im_end|>\n" + HEAD + OPEN + "<think>",
        ),
        (
            [USER],
            {"tools": [{"name": "f"}]},
            '<|im_start|>system\n# Tools\n[{"name": "f"}]<|im_end|>\n' + HEAD + OPEN,
        ),
        (
            [{"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}],
            {"add_generation_prompt": False},
            OPEN + '<tool_call>[{"id": "1"}]</tool_call><|im_end|>\n',
        ),
    ],
)
def test_prompts(messages: list[dict[str, Any]], options: dict[str, Any], prompt: str) -> None:
    assert template.render(messages, model="m", **options) == prompt


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("hi", "hi"),
        ([], ""),
        (["a", "b"], "a\nb"),
        ([{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb"),
        ([{"type": "output_text", "text": "a"}], "a"),
        ([{"text": "a"}], "a"),
        ({"type": "text", "text": "a"}, "a"),
        ([{"type": "refusal", "refusal": "no"}, {"type": "thinking", "thinking": "hm"}], "no\nhm"),
    ],
)
def test_contents(content: Any, text: str) -> None:
    assert template.content_text(content, "m") == text
    assert template.open_text([USER, {"role": "assistant", "content": content}], "m") == text


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}],
        [{"type": "text", "text": "a"}, {"type": "input_audio"}],
        [7],
        7,
    ],
)
def test_what_is_no_text_is_refused_as_a_text_model_does(content: Any) -> None:
    with pytest.raises(Refused) as caught:
        template.content_text(content, "qwen3.5-9b")
    assert caught.value.status == 400
    assert caught.value.body["error"]["message"] == "qwen3.5-9b is not a multimodal model"


@pytest.mark.parametrize("messages", [None, [], ()])
def test_an_empty_conversation_is_refused(messages: Any) -> None:
    with pytest.raises(Refused, match="empty conversation"):
        template.check_messages(messages)


def test_an_empty_conversation_has_no_open_text() -> None:
    assert template.open_text([], "m") == ""
