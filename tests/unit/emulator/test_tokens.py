"""The toy tokenizer: exact round trips for every text, and tokens that later text cannot change."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.emulator import tokens
from gateway.emulator.vocabulary import WORDS

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
_ROUGH = ["a", " a", "The", "xyzzy", " ", "\n", "你", "好。", "、", "🙂", "é"]
ROUGH_TEXT = st.lists(st.sampled_from([*_ROUGH, "<|im_end|>", "<|", "|>", "<"]), max_size=20).map(
    "".join
)


@settings(max_examples=300, deadline=None)
@given(ANY_TEXT | ROUGH_TEXT)
@example("你好,世界。🙂 The cache 缓存\r\n\x00\u2028")
@example("👩‍👩‍👧‍👦 é e\u0301 𠀀")
@example("<|im_start|>user\n<|im_end<|im_end|>")
def test_every_text_comes_back(text: str) -> None:
    ids = tokens.encode(text)
    assert tokens.decode(ids) == text
    assert tokens.first_unknown(ids) is None


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, tokens.VOCAB_SIZE - 1), max_size=30))
def test_text_of_tokens_is_the_text_of_their_bytes(ids: list[int]) -> None:
    raw = b"".join(tokens.token_bytes(token) for token in ids)
    assert tokens.decode(ids) == raw.decode(errors="replace")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("The cache", ["The", " cache"]),
        ("the  cache", ["the", " ", " cache"]),
        ("你好", ["你", "好"]),
        ("unknownword", ["unk", "now", "nwo", "rd"]),
        (" unknown", [" unk", "now", "n"]),
        ("a1", ["a", "1"]),
        ("<|im_start|>user\n", ["<|im_start|>", "user", "\n"]),
        ("</think>ok", ["</think>", "ok"]),
    ],
)
def test_how_texts_are_cut(text: str, pieces: list[str]) -> None:
    assert [tokens.decode([token]) for token in tokens.encode(text)] == pieces


@pytest.mark.parametrize(("text", "count"), [("。", 3), ("🙂", 4), ("é", 2), ("1", 1)])
def test_other_characters_are_bytes(text: str, count: int) -> None:
    assert tokens.encode(text) == [tokens.byte_id(value) for value in text.encode()]
    assert len(tokens.encode(text)) == count


@pytest.mark.parametrize("word", WORDS)
def test_every_word_is_one_token_with_and_without_a_blank(word: str) -> None:
    assert tokens.encode(word) == [tokens.word_id(word, blank=False)]
    assert tokens.encode(" " + word) == [tokens.word_id(word, blank=True)]
    assert all(tokens.is_word(token) for token in tokens.encode(word + " " + word))


@pytest.mark.parametrize("character", ["一", "鿿", "网"])
def test_ideographs_are_one_token(character: str) -> None:
    assert tokens.encode(character) == [tokens.cjk_id(character)]
    assert tokens.is_cjk(tokens.cjk_id(character))
    assert not tokens.is_word(tokens.cjk_id(character))


@pytest.mark.parametrize("token", [-1, tokens.VOCAB_SIZE, 10**9])
def test_ids_outside_the_vocabulary_are_refused(token: int) -> None:
    with pytest.raises(ValueError, match=str(token)):
        tokens.token_bytes(token)
    assert tokens.first_unknown([0, token, 1]) == token


def test_a_lone_surrogate_is_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        tokens.encode("a\ud800")


def test_bytes_that_are_no_text_show_as_replacement() -> None:
    assert tokens.decode([tokens.byte_id(0xE4), *tokens.encode("a")]) == "\ufffda"
