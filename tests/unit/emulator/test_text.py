"""The text of an answer is a function of its whole prefix, so that any cut can be continued."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.emulator import template, tokens
from gateway.emulator.generation import Generation, Limits, complete

MESSAGES = [{"role": "user", "content": "写一段话, please 🙂"}]


def limits(max_tokens: int, *, ignore_eos: bool = True) -> Limits:
    return Limits(max_tokens, 0, ignore_eos, (), False, 8)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_the_tokenizer_gives_back_every_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert tokens.decode(tokens.encode(text)) == text


@settings(max_examples=100, deadline=None)
@given(st.text("ab 你好世界,。\n🙂<|", max_size=20), st.integers(1, 40))
def test_generated_tokens_are_what_their_text_is_read_as(prompt: str, count: int) -> None:
    ids = tokens.encode(prompt)
    before = len(ids)
    said = complete(ids, limits(count))
    assert tokens.encode(prompt + said)[:before] == tokens.encode(prompt)
    assert tokens.decode(tokens.encode(said)) == said


@pytest.mark.parametrize("cut", range(1, 30, 4))
def test_a_chat_continued_anywhere_says_the_rest(cut: int) -> None:
    def answer(messages: list[dict[str, str]], count: int, *, is_open: bool) -> str:
        text = template.render(
            messages,
            model="m",
            add_generation_prompt=not is_open,
            continue_final_message=is_open,
        )
        return complete(tokens.encode(text), limits(count))

    whole = answer(MESSAGES, 30, is_open=False)
    while (begun := answer(MESSAGES, cut, is_open=False)).endswith("\ufffd"):
        # A cut inside a character has no text to go on from.
        cut += 1
    assert whole.startswith(begun)
    open_end = [*MESSAGES, {"role": "assistant", "content": begun}]
    assert begun + answer(open_end, 30 - cut, is_open=True) == whole


@pytest.mark.parametrize("cut", range(1, 30, 4))
def test_a_completion_continued_by_text_or_by_ids_says_the_rest(cut: int) -> None:
    prompt = "The gateway 网关"
    whole = complete(prompt, limits(30))
    begun = complete(prompt, limits(cut))
    assert begun + complete(prompt + begun, limits(30 - cut)) == whole
    ids = tokens.encode(prompt + begun)
    assert begun + complete(ids, limits(30 - cut)) == whole


def test_a_lost_or_doubled_token_changes_what_follows() -> None:
    prompt = tokens.encode("The gateway")
    following = {complete(prompt + tail, limits(10)) for tail in ([], [300], [300, 300], [301])}
    assert len(following) == 4


def test_an_answer_ends_by_itself_by_limit_or_by_a_stop_string() -> None:
    ids = tokens.encode("hello")
    source = Generation(list(ids), limits(2000, ignore_eos=False), seed=0, script=None)
    last = source.next_token()
    while last.finish is None:
        last = source.next_token()
    assert last.finish == "stop"
    said = complete("hello", limits(30))
    stop = said[10:14]
    stopped = complete("hello", Limits(30, 0, True, (stop,), False, 8))
    assert stopped == said[: said.index(stop)]
