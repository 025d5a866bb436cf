"""The text of an answer is a function of its whole prefix, so that any cut can be continued."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.emulator import template, tokens
from gateway.emulator.generation import Limits, complete
from gateway.emulator.text import Prefix

LENGTH = 60
PROMPTS = st.text("ab The你好世界,。、.\n🙂é<|>", min_size=1, max_size=20)
MESSAGES = [{"role": "user", "content": "写一段话, please 🙂"}]


def limits(max_tokens: int) -> Limits:
    return Limits(max_tokens, ignore_eos=True)


def say(ids: list[int], count: int, seed: int = 0) -> list[int]:
    """The tokens that follow `ids`."""
    prefix, said = Prefix(ids, seed), []
    for _ in range(count):
        token = prefix.next_token()
        prefix.append(token)
        said.append(token)
    return said


def answer(messages: list[dict[str, str]], count: int, *, is_open: bool = False) -> str:
    """What a chat says in `count` tokens, after an open last message if `is_open`."""
    prompt = template.render(
        messages, model="m", add_generation_prompt=not is_open, continue_final_message=is_open
    )
    return complete(prompt, limits(count)) if count > 0 else ""


def count_of(text: str) -> int:
    return len(tokens.encode(text))


@settings(max_examples=100, deadline=None)
@given(PROMPTS, st.integers(0, 3))
def test_text_reads_as_the_very_tokens_it_was_said_in(prompt: str, seed: int) -> None:
    ids = tokens.encode(prompt)
    said = say(ids, LENGTH, seed)
    if tokens.IM_END in said:
        said = said[: said.index(tokens.IM_END)]
    whole = tokens.decode([*ids, *said])
    while whole.endswith("\ufffd"):  # the limit cut a character
        said.pop()
        whole = tokens.decode([*ids, *said])
    assert tokens.encode(whole) == [*ids, *said]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, tokens.VOCAB_SIZE - 1), max_size=12), st.integers(0, LENGTH))
def test_a_prefix_read_whole_or_token_by_token_is_the_same(ids: list[int], cut: int) -> None:
    said = say(ids, LENGTH)
    assert say([*ids, *said[:cut]], LENGTH - cut) == said[cut:]


@settings(max_examples=100, deadline=None)
@given(PROMPTS, st.integers(0, LENGTH))
def test_a_completion_continued_by_text_says_the_rest(prompt: str, cut: int) -> None:
    whole = complete(prompt, limits(LENGTH))
    begun = complete(prompt, limits(cut)) if cut else ""
    assert whole.startswith(begun)
    left = limits(LENGTH - count_of(begun))
    assert begun + (complete(prompt + begun, left) if left.max_tokens else "") == whole


@settings(max_examples=100, deadline=None)
@given(PROMPTS, st.integers(0, LENGTH))
def test_a_completion_continued_by_ids_says_the_rest(prompt: str, cut: int) -> None:
    whole = complete(prompt, limits(LENGTH))
    begun = complete(prompt, limits(cut)) if cut else ""
    ids = [*tokens.encode(prompt), *tokens.encode(begun)]
    left = limits(LENGTH - count_of(begun))
    assert begun + (complete(ids, left) if left.max_tokens else "") == whole


@settings(max_examples=100, deadline=None)
@given(PROMPTS, st.integers(0, LENGTH))
def test_a_chat_continued_anywhere_says_the_rest(content: str, cut: int) -> None:
    messages = [{"role": "user", "content": content}]
    whole = answer(messages, LENGTH)
    begun = answer(messages, cut)
    assert whole.startswith(begun)
    open_end = [*messages, {"role": "assistant", "content": begun}]
    assert begun + answer(open_end, LENGTH - count_of(begun), is_open=True) == whole


@pytest.mark.parametrize("cuts", [(1, 2, 3), (5, 20, 40), (30, 30, 59)])
def test_a_chat_continued_again_and_again_says_the_same(cuts: tuple[int, ...]) -> None:
    whole = answer(MESSAGES, LENGTH)
    begun = answer(MESSAGES, cuts[0])
    for after in [*cuts[1:], LENGTH]:
        open_end = [*MESSAGES, {"role": "assistant", "content": begun}]
        begun += answer(open_end, after - count_of(begun), is_open=True)
    assert begun == whole


def test_an_answer_that_ends_by_itself_ends_the_same_after_a_cut() -> None:
    rules = Limits(max_tokens=2000)
    prompt = template.render(MESSAGES, model="m")
    whole = complete(prompt, rules)
    assert 20 < count_of(whole) < 2000
    for cut in range(1, count_of(whole)):
        begun = complete(prompt, Limits(max_tokens=cut))
        assert begun + complete(prompt + begun, rules) == whole


def test_a_cut_in_the_thinking_says_the_rest() -> None:
    rules = Limits(max_tokens=400, ignore_eos=True)
    prompt = template.render(MESSAGES, model="m", thinking=True)
    whole = complete(prompt, rules)
    reasoning, found, _ = whole.partition("</think>")
    assert found
    for cut in range(1, count_of(reasoning)):
        begun = complete(prompt, limits(cut))
        message = {"role": "assistant", "content": "", "reasoning": begun}
        again = template.render(
            [*MESSAGES, message],
            model="m",
            add_generation_prompt=False,
            continue_final_message=True,
            thinking=True,
        )
        left = Limits(max_tokens=400 - count_of(begun), ignore_eos=True)
        assert begun + complete(again, left) == whole


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_lost_doubled_or_changed_token_changes_what_follows(data: st.DataObject) -> None:
    ids = tokens.encode("The gateway keeps 网关模型 in its queue.")
    at = data.draw(st.integers(0, len(ids) - 1))
    other = data.draw(st.integers(0, tokens.VOCAB_SIZE - 1).filter(lambda token: token != ids[at]))
    texts = {
        complete(changed, limits(LENGTH))
        for changed in (
            ids,
            [*ids[:at], *ids[at + 1 :]],
            [*ids[: at + 1], *ids[at:]],
            [*ids[:at], other, *ids[at + 1 :]],
        )
    }
    assert len(texts) == 4


def test_seeds_make_different_answers_and_equal_seeds_equal_ones() -> None:
    texts = [complete("hello", limits(LENGTH), seed=seed) for seed in (0, 7919, 1, 0)]
    assert texts[0] == texts[3]
    assert len(set(texts)) == 3


def test_one_finished_sentence_in_some_is_the_last() -> None:
    def length(eos_one_in: int) -> int:
        rules = Limits(5000, eos_one_in=eos_one_in)
        return sum(count_of(complete(f"question {number}", rules)) for number in range(30))

    assert length(1) < length(8) < length(40)
    sentences = complete("question", Limits(5000, eos_one_in=1))
    assert sentences.rstrip().endswith((".", "。"))
    assert sentences.count(".") + sentences.count("。") == 1


def test_answers_mix_english_and_chinese_in_sentences() -> None:
    said = complete("hello", limits(400))
    assert any(tokens.is_cjk(token) for token in tokens.encode(said))
    assert any(tokens.is_word(token) for token in tokens.encode(said))
    assert "。" in said
    assert "." in said
