"""What ends an answer, and which text is safe to show before its end."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.emulator import tokens
from gateway.emulator.generation import Generation, Limits, complete, run
from gateway.emulator.records import Token

ENDLESS = Limits(60, ignore_eos=True)


def said(prompt: str, limits: Limits, script: str | None = None) -> list[Token]:
    """All tokens of an answer."""
    ids = tokens.encode(prompt)
    source = Generation(ids, limits, script=None if script is None else tokens.encode(script))
    found = [source.next_token()]
    while found[-1].finish is None:
        found.append(source.next_token())
    return found


def text_of(found: list[Token]) -> str:
    return "".join(token.text for token in found)


def test_the_prompt_list_grows_with_the_answer() -> None:
    ids = tokens.encode("hello")
    before = list(ids)
    source = Generation(ids, ENDLESS)
    made = [source.next_token().id for _ in range(10)]
    assert ids == before + made


@pytest.mark.parametrize("count", [1, 2, 30])
def test_max_tokens_ends_with_length(count: int) -> None:
    found = said("hello", Limits(count, ignore_eos=True))
    assert len(found) == count
    assert [token.finish for token in found] == [None] * (count - 1) + ["length"]


def test_an_answer_ends_by_itself_with_an_end_token_without_text() -> None:
    found = said("hello", Limits(5000))
    assert found[-1] == Token(tokens.IM_END, "", "stop")
    assert text_of(found) == complete("hello", Limits(5000))
    assert tokens.IM_END not in [token.id for token in found[:-1]]


def test_the_end_on_the_last_allowed_token_is_a_stop() -> None:
    whole = said("hello", Limits(5000))
    assert said("hello", Limits(len(whole)))[-1].finish == "stop"
    assert said("hello", Limits(len(whole) - 1))[-1].finish == "length"


def test_min_tokens_goes_on_past_the_first_end() -> None:
    natural = said("hello", Limits(5000))
    longer = said("hello", Limits(5000, min_tokens=len(natural)))
    assert len(longer) > len(natural)
    assert text_of(longer).startswith(text_of(natural))
    assert said("hello", Limits(5000, min_tokens=len(natural) - 1)) == natural


def test_ignore_eos_goes_on_to_the_limit() -> None:
    found = said("hello", Limits(300, ignore_eos=True))
    assert len(found) == 300
    assert tokens.IM_END not in [token.id for token in found]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 80), st.integers(1, 12), st.booleans())
def test_a_stop_string_ends_before_or_after_itself(at: int, length: int, included: bool) -> None:
    whole = complete("hello", ENDLESS)
    stop = whole[at : at + length]
    found = said("hello", Limits(60, ignore_eos=True, stop=(stop,), include_stop=included))
    end = whole.index(stop) + (len(stop) if included else 0)
    assert text_of(found) == whole[:end]
    assert (found[-1].finish, found[-1].stop_reason) == ("stop", stop)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 60), st.integers(2, 12))
def test_text_shown_early_is_never_the_beginning_of_a_stop_string(at: int, length: int) -> None:
    whole = complete("hello", ENDLESS)
    stop = whole[at : at + length]
    shown = ""
    for token in said("hello", Limits(60, ignore_eos=True, stop=(stop,))):
        shown += token.text
        assert whole[: whole.index(stop)].startswith(shown)


def test_the_earliest_of_several_stop_strings_ends_it() -> None:
    whole = complete("hello", ENDLESS)
    early, late = whole[10:22], whole[60:72]
    assert whole.index(early) < whole.index(late)
    found = said("hello", Limits(60, ignore_eos=True, stop=(late, early)))
    assert found[-1].stop_reason == early
    assert text_of(found) == whole[: whole.index(early)]


def test_a_stop_string_that_never_comes_holds_nothing_back_in_the_end() -> None:
    limits = Limits(60, ignore_eos=True, stop=("never said",))
    found = said("hello", limits)
    assert text_of(found) == complete("hello", ENDLESS)
    assert found[-1].finish == "length"


def test_no_stop_string_before_min_tokens() -> None:
    whole = complete("hello", ENDLESS)
    stop = whole[0]
    assert len(said("hello", Limits(60, ignore_eos=True, stop=(stop,)))) == 1
    found = said("hello", Limits(60, min_tokens=20, ignore_eos=True, stop=(stop,)))
    assert len(found) > 20


@pytest.mark.parametrize("count", [1, 2])
def test_an_unfinished_character_never_shows(count: int) -> None:
    script = "x。"
    found = said("hello", Limits(1 + count), script=script)
    assert text_of(found) == "x"
    assert text_of(said("hello", Limits(4), script=script)) == script


@pytest.mark.parametrize("script", ["", '{"city": "巴黎 🙂"}', "The cache"])
def test_a_script_is_said_word_for_word(script: str) -> None:
    found = said("hello", Limits(500), script=script)
    assert text_of(found) == script
    assert [token.id for token in found] == [*tokens.encode(script), tokens.IM_END]
    assert found[-1].finish == "stop"


def test_a_script_ends_at_the_limit_too() -> None:
    found = said("hello", Limits(3), script="one two three four")
    assert text_of(found) == "one two three"
    assert found[-1].finish == "length"


def test_special_tokens_have_no_text() -> None:
    found = said("hello", Limits(9), script="a<|im_start|>b<|endoftext|></think>")
    assert text_of(found) == "ab</think>"


def test_the_oracle_takes_text_and_ids() -> None:
    assert complete("hello 世界", ENDLESS) == complete(tokens.encode("hello 世界"), ENDLESS)
    assert run(Generation(tokens.encode("hello 世界"), ENDLESS).next_token) == complete(
        "hello 世界", ENDLESS
    )
