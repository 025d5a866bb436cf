"""The catalogue of known errors is complete, without doubles, and speaks both languages."""

import re
from collections import Counter

import pytest

from gateway.diagnosis.signature import coded
from gateway.diagnosis.signatures import SIGNATURES, Rank, Scope, Signature
from gateway.words import Language, Words

EACH = pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.id)
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def doubles(items: list[str]) -> list[str]:
    return [item for item, count in Counter(items).items() if count > 1]


def test_ids_are_unique() -> None:
    assert doubles([signature.id for signature in SIGNATURES]) == []


def test_each_needle_stands_in_one_place() -> None:
    assert doubles([needle for signature in SIGNATURES for needle in signature.needles]) == []


def test_no_two_errors_are_explained_in_the_same_words() -> None:
    for part in ("cause", "remedy"):
        texts = [text for signature in SIGNATURES for text in getattr(signature, part)]
        assert doubles(texts) == []


def test_every_scope_is_there() -> None:
    assert {signature.scope for signature in SIGNATURES} == set(Scope)


@EACH
def test_id_is_stable_snake_case(signature: Signature) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", signature.id)


@EACH
def test_it_can_be_found(signature: Signature) -> None:
    assert signature.needles or signature.all_needles
    for text in (*signature.needles, *signature.all_needles):
        assert text == text.lower()
        assert len(text) >= 7
    assert signature.all_needles or not signature.pattern


@EACH
def test_no_needle_is_a_part_of_another_one_of_the_same(signature: Signature) -> None:
    for needle in signature.needles:
        assert [other for other in signature.needles if needle in other] == [needle]


@EACH
def test_it_is_explained_in_both_languages(signature: Signature) -> None:
    for words in (signature.cause, signature.remedy):
        assert words.en.strip() == words.en != ""
        assert words.zh.strip() == words.zh != ""
        assert not CHINESE.search(words.en)
        assert CHINESE.search(words.zh)
        assert words.en.endswith(".")
        assert words.zh.endswith("。")
    assert signature.layer


@EACH
def test_rank_and_scope_agree(signature: Signature) -> None:
    assert (signature.scope is Scope.BENIGN) == (signature.rank == Rank.BENIGN)
    assert signature.is_crash == (signature.scope is Scope.ENGINE)
    if signature.is_capture:
        assert signature.scope is Scope.STARTUP


@EACH
def test_what_it_yields_to_is_known_and_comes_before_it(signature: Signature) -> None:
    by_id = {other.id: other for other in SIGNATURES}
    for id_ in signature.yields_to:
        assert by_id[id_].rank < signature.rank


def test_what_means_that_graphs_do_not_work() -> None:
    named = {signature.id for signature in SIGNATURES if signature.id.startswith("capture_")}
    capture = {signature.id for signature in SIGNATURES if signature.is_capture}
    configured = {"capture_sizes_disagree", "capture_sizes_truncated", "capture_copy_logged"}
    assert capture == named - configured | {"driver_resources_exhausted", "hybrid_without_graph"}


def test_a_code_is_never_a_bare_number() -> None:
    assert all(needle.endswith("507014") and needle != "507014" for needle in coded(507014))
    assert not [n for s in SIGNATURES for n in s.needles if n.isdigit()]


def test_words_in_a_language() -> None:
    words = Words("a", "b")
    assert [words.spoken(language) for language in Language] == ["a", "b"]
