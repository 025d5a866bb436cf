"""The harness itself: judging, knowing beforehand, drawing, watching, reporting."""

from dataclasses import replace

import pytest

from tests.chaos.cases import Case, Oracle, questions
from tests.chaos.judge import Expected, Observed, Verdict, judge, usage_is_off

MODEL = "qwen3.5-9b"
ANSWER = Expected("The answer is 42.", "stop", 7)


def stream(
    *texts: str, finish: str | None = "stop", role: str | None = "assistant", is_chat: bool = True
) -> Observed:
    seen = Observed(is_chat, is_stream=True)
    if is_chat and role is not None:
        seen.note("id-1", MODEL, role, "", None)
    for text in texts:
        seen.note("id-1", MODEL, None, text, None)
    if finish is not None:
        seen.note("id-1", MODEL, None, "", finish)
    return seen


def verdict(seen: Observed) -> Verdict:
    return judge(seen, ANSWER, MODEL).verdict


@pytest.mark.parametrize("is_chat", [True, False])
def test_the_expected_answer_is_whole(is_chat: bool) -> None:
    seen = stream("The answer", " is 42.", is_chat=is_chat)
    assert judge(seen, ANSWER, MODEL).verdict is Verdict.WHOLE
    assert judge(seen, ANSWER, MODEL).reason == ""


def test_a_plain_answer_is_one_event() -> None:
    seen = Observed(is_chat=True, is_stream=False)
    seen.note("id-1", MODEL, "assistant", ANSWER.text, "stop")
    assert verdict(seen) is Verdict.WHOLE


@pytest.mark.parametrize("finish", [None, "stop", "length", "abort"])
def test_a_proper_beginning_is_truncated_whatever_it_says(finish: str | None) -> None:
    assert verdict(stream("The answer", finish=finish)) is Verdict.TRUNCATED


def test_nothing_at_all_is_truncated() -> None:
    assert verdict(Observed(is_chat=True, is_stream=True)) is Verdict.TRUNCATED


def test_an_error_after_a_proper_beginning_is_an_error() -> None:
    seen = stream("The answer", finish=None)
    seen.error = "APIError: gone"
    assert judge(seen, ANSWER, MODEL).verdict is Verdict.ERROR
    assert judge(seen, ANSWER, MODEL).reason == "APIError: gone"


def test_an_error_does_not_excuse_a_wrong_text() -> None:
    seen = stream("The answer", " answer", finish=None)
    seen.error = "APIError: gone"
    assert verdict(seen) is Verdict.WRONG


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (("The answer", " answer is 42."), "differs from character 11 on"),
        (("The answer is 42.", " is 42."), "7 characters too many: ' is 42.'"),
        (("The answer is 43.",), "differs from character 15 on: '3.' not '2.'"),
        (("the answer is 42.",), "differs from character 0 on"),
    ],
)
def test_another_text_is_wrong(texts: tuple[str, ...], reason: str) -> None:
    found = judge(stream(*texts), ANSWER, MODEL)
    assert found.verdict is Verdict.WRONG
    assert reason in found.reason


def test_a_chat_without_a_role_is_wrong() -> None:
    assert judge(stream(ANSWER.text, role=None), ANSWER, MODEL).reason == "text before the role"
    assert verdict(stream(ANSWER.text, role="user")) is Verdict.WRONG


def test_a_second_role_is_wrong() -> None:
    seen = stream("The answer", finish=None)
    seen.note("id-1", MODEL, "assistant", " is 42.", "stop")
    assert judge(seen, ANSWER, MODEL).reason == "roles ['assistant', 'assistant']"


def test_a_second_finish_is_wrong() -> None:
    seen = stream(ANSWER.text)
    seen.note("id-1", MODEL, None, "", "stop")
    assert judge(seen, ANSWER, MODEL).reason == "2 finishes: ['stop', 'stop']"


def test_text_after_the_finish_is_wrong() -> None:
    seen = stream("The answer")
    seen.note("id-1", MODEL, None, " is 42.", None)
    assert judge(seen, ANSWER, MODEL).reason == "text after the finish"


def test_another_id_within_a_stream_is_wrong() -> None:
    seen = stream("The answer", finish=None)
    seen.note("id-2", MODEL, None, " is 42.", "stop")
    assert judge(seen, ANSWER, MODEL).reason == "2 ids: ['id-1', 'id-2']"


def test_another_model_is_wrong_also_in_the_event_of_the_usage() -> None:
    seen = stream(ANSWER.text)
    seen.note_head("id-1", "/models/Qwen3.5-9B")
    assert verdict(seen) is Verdict.WRONG


def test_another_finish_is_wrong() -> None:
    found = judge(stream(ANSWER.text, finish="length"), ANSWER, MODEL)
    assert found.reason == "finish is 'length' instead of 'stop'"
    assert judge(stream(ANSWER.text, finish=None), ANSWER, MODEL).verdict is Verdict.WRONG


@pytest.mark.parametrize(
    ("counts", "is_asked_for", "is_off"),
    [
        ([7], True, False),
        ([], False, False),
        ([], True, True),
        ([3], True, True),
        ([7, 7], True, True),
        ([7], False, True),
    ],
)
def test_the_token_count_is_looked_at(counts: list[int], is_asked_for: bool, is_off: bool) -> None:
    seen = stream(ANSWER.text)
    seen.completion_tokens = counts
    assert usage_is_off(seen, ANSWER, is_asked_for=is_asked_for) is is_off


def test_the_oracle_knows_what_it_was_told_and_nothing_else() -> None:
    case = Case(True, ("hi",), 50)
    oracle = Oracle({case: ANSWER})
    assert oracle.expected(case) is ANSWER
    assert oracle.of_kind(is_chat=True) == [case]
    assert oracle.of_kind(is_chat=False) == []
    with pytest.raises(KeyError, match="max_tokens=51"):
        oracle.expected(replace(case, max_tokens=51))


def test_a_spoiled_oracle_makes_a_right_answer_wrong() -> None:
    case = Case(True, ("hi",), 50)
    spoiled = Oracle({case: ANSWER}).spoiled().expected(case)
    assert judge(stream(ANSWER.text), spoiled, MODEL).verdict is Verdict.WRONG


def test_questions_are_the_same_for_a_seed_and_never_twice() -> None:
    first, again, other = ([next(q) for _ in range(200)] for q in map(questions, (1, 1, 2)))
    assert first == again != other
    assert len(set(first)) == 200
    assert {case.path for case in first} == {"/chat/completions", "/completions"}


def test_the_roles_of_a_longer_chat_take_turns() -> None:
    fields = Case(True, ("a", "b", "c"), 50, system="s").fields()
    roles = [message["role"] for message in fields["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert Case(False, ("a",), 50).fields() == {"prompt": "a", "max_tokens": 50}
