"""Reasoning and content are told apart however the text is cut into deltas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.emulator.thinking import ThinkSplitter


@given(st.text("ab</think>", max_size=20), st.text("cd<", max_size=8), st.data())
def test_any_cut_gives_the_same_split(reasoning: str, content: str, data: st.DataObject) -> None:
    reasoning = reasoning.replace("</think>", "")
    whole = f"{reasoning}</think>{content}"
    if not whole.startswith(f"{reasoning}</think>") or whole.index("</think>") != len(reasoning):
        return
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    parts = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    splitter = ThinkSplitter(thinking=True)
    found = [splitter.feed(part) for part in parts]
    found.append(splitter.feed("", final=True))
    assert "".join(one for one, _ in found) == reasoning
    assert "".join(other for _, other in found) == content


@pytest.mark.parametrize("tail", ["<", "</thi", "</think"])
def test_a_beginning_of_the_mark_is_shown_only_at_the_end(tail: str) -> None:
    splitter = ThinkSplitter(thinking=True)
    assert splitter.feed("a" + tail) == ("a", "")
    assert splitter.feed("", final=True) == (tail, "")


def test_without_thinking_all_is_content() -> None:
    splitter = ThinkSplitter(thinking=False)
    assert splitter.feed("a</think>b") == ("", "a</think>b")
