"""The text for people, in both languages."""

import pytest

from gateway.fleet.view import ModelView
from gateway.observe import story_words
from gateway.observe.explain import KEPT_FOR_OTHER, LAST_RESORT, explain
from gateway.observe.story import as_text
from gateway.observe.story_words import Voice, figure
from gateway.observe.trails import Trail, Trails
from gateway.placement.eligible import Why
from gateway.placement.want import Placed
from gateway.recovery.classify import Kind
from gateway.words import Language
from tests.unit.observe.placements import FULL, A, B, nobody, option, placed, price, whole_story

EN, ZH = Language.EN, Language.ZH
TERMS = ("prompt", "answer", "others", "wait", "scarcity", "risk", "penalty")


def begun(asked: str | None = "m") -> Trail:
    return Trails().begin("r", asked, None, 100.0, 0.0)


def decided(one: Placed, language: Language = EN) -> str:
    trail = begun()
    trail.decided(one, 101.0)
    return as_text(explain(trail), language).splitlines()[1]


def test_a_whole_story_in_english() -> None:
    story, first, second = as_text(explain(whole_story(Trails())), EN).split("\n\n")
    assert story.splitlines() == [
        (
            "Request req-1 asked for 'qwen-27b' (model qwen3.5-27b), from app, at "
            "2025-12-03 05:50:44 UTC."
        ),
        (
            "It waited 2.1 s in the line, which it joined at position 3 (2.0 s were expected), "
            "since there was no room at 27b-a (4/4) and 27b-b (4/4); 27b-e had some, but others "
            "came first or a better place was worth the wait."
        ),
        (
            "27b-a was chosen because it cost least: 31.0 s against 48.0 s at 27b-e (eager). The "
            "difference is the speed of its answer: 27.0 s there against 47.0 s. Not considered: "
            "27b-c (down: it refuses connections)."
        ),
        "27b-a failed after 1.5 s: the answer was cut off (the connection ended after 3 events).",
        (
            "27b-e (eager) was chosen, the only backend that could serve it. Not considered: 27b-a "
            "(asked before), 27b-b (asked before) and 27b-c (down: it refuses connections)."
        ),
        "27b-e answered; that took 46.3 s.",
        "It ended with 200 after 50.1 s.",
    ]
    title, heads, a, b, down, eager = first.splitlines()
    assert title == "Decision 1 of 2, after 2.1 s, 5 waiting"
    assert heads.split()[:6] == ["backend", "tier", "load", "standing", "cost", "s"]
    assert " ".join(a.split()) == "27b-a graph 2/4 ready 31.0 1.0 27.0 3.0 0.0 0.0 0.0 0.0 chosen"
    assert b.endswith("full")
    assert down.split() == ["27b-c", "graph", "0/4", "out", *"--------", "down"]
    assert eager.split()[4] == "48.0"
    assert second.startswith("Decision 2 of 2, after 3.6 s\n")


def test_a_whole_story_in_chinese() -> None:
    story, first, _ = as_text(explain(whole_story(Trails())), ZH).split("\n\n")
    lines = story.splitlines()
    assert lines[1].startswith(
        "它在队列中等待了 2.1 秒，进入时排第 3 位（预计 2.0 秒），原因是这些后端已满："
        "27b-a（4/4）、27b-b（4/4）；"
    )
    assert lines[2].startswith(
        "选中 27b-a，因为代价最低：31.0 秒，其次是 27b-e（eager），48.0 秒。"
        "差别主要在生成回答的速度：27.0 秒，后者 47.0 秒。"
    )
    assert lines[-1] == "它在 50.1 秒后结束，状态 200。"
    assert first.splitlines()[0] == "第 1/2 次决定，2.1 秒后，当时 5 个请求在等待"


def test_columns_stand_below_their_heads_in_chinese_too() -> None:
    _, first, _ = as_text(explain(whole_story(Trails())), ZH).split("\n\n")
    heads, *rows = first.splitlines()[1:]
    columns = sum(2 if ord(sign) > 0x2E80 else 1 for sign in heads[: heads.index("代价 s") + 4])
    for row in rows:
        wide = 0
        for index, sign in enumerate(row):
            wide += 2 if ord(sign) > 0x2E80 else 1
            if wide == columns:
                assert row[index] in "0123456789-"
                break


@pytest.mark.parametrize(
    ("one", "english", "chinese"),
    [
        (placed(0, ()), "27b-a was chosen by the rule in force.", "选中 27b-a，依据当前规则。"),
        (
            placed(0, (), reason="load of its cap: 0.25"),
            "by the rule: load of its cap: 0.25.",
            "，依据规则：load of its cap: 0.25。",
        ),
        (
            placed(0, (price(9.0), price(9.0)), (option(A), option(B))),
            "by a draw: it cost 9.0 s, as 27b-b did.",
            "，由抽签决定：代价同为 9.0 秒的还有 27b-b。",
        ),
        (
            placed(0, (price(9.0), price(12.0)), (option(A, 500.0), option(B, 4000.0))),
            (
                "The difference is its prompt: 1.0 s there against 4.5 s (500 of its tokens not "
                "cached, against 4000)."
            ),
            "（未命中缓存的 token：500，后者 4000）。",
        ),
        (
            nobody(),
            (
                "No backend of qwen3.5-27b could take it: 27b-a (asked before) and 27b-c (down: it "
                "refuses connections)."
            ),
            "qwen3.5-27b 没有可以承接的后端：27b-a（已经请求过）、27b-c（不可用：",
        ),
    ],
)
def test_why_it_went_there(one: Placed, english: str, chinese: str) -> None:
    assert english in decided(one, EN)
    assert chinese in decided(one, ZH)


@pytest.mark.parametrize(
    ("view", "told"),
    [
        (None, "at position 2."),
        (ModelView("m", (B,)), "at position 2, since there was no room at 27b-b (4/4)."),
        (ModelView("m", (A,)), "at position 2, although there was room at 27b-a: others"),
        (FULL, "at position 2, since there was no room at 27b-a (4/4) and 27b-b (4/4); 27b-e"),
    ],
)
def test_why_it_waits(view: ModelView | None, told: str) -> None:
    trail = begun()
    trail.joined(2, None, 101.0, view)
    line = as_text(explain(trail, 104.0), EN).splitlines()[1]
    assert line.startswith("It has been waiting for 3.0 s in the line, which it joined ")
    assert told in line


def test_a_request_under_way() -> None:
    trail = begun(None)
    trail.attempted("a", "m", 101.0)
    lines = as_text(explain(trail, 104.0), EN).splitlines()
    assert lines == [
        "Request r asked for no model, at 1970-01-01 00:00:00 UTC.",
        "a has been working on it for 3.0 s.",
        "It has been running for 4.0 s.",
    ]


def test_how_it_ended_badly() -> None:
    trail = begun()
    trail.attempted("a", "m", 101.0)
    trail.finished(429, "overloaded", "All are full.", 102.0)
    lines = as_text(explain(trail), EN).splitlines()
    assert lines[1] == "a was still working on it when the request ended, after 1.0 s."
    assert lines[2] == "It ended with 429 overloaded after 2.0 s: All are full."


def test_nothing_that_a_client_wrote_steers_the_terminal() -> None:
    trail = begun("m\x1b[2J\n{took}")
    trail.finished(404, "model_not_found", "no \x1b]0;x\x07", 101.0)
    text = as_text(explain(trail), EN)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "'m [2J {took}'" in text


def test_numbers_of_decisions_around_those_left_out() -> None:
    trail = begun()
    for number in range(20):
        trail.decided(placed(), 101.0 + number)
    titles = [line for line in as_text(explain(trail), EN).splitlines() if "Decision" in line]
    numbers = [int(title.split()[1]) for title in titles]
    assert numbers == [1, 2, 3, 4, *range(9, 21)]


@pytest.mark.parametrize("kind", [*Kind, "answered", "interrupted"])
def test_every_outcome_has_words(kind: str) -> None:
    assert all(story_words.OUTCOMES[kind])


@pytest.mark.parametrize("why", [*Why, KEPT_FOR_OTHER, LAST_RESORT])
def test_every_refusal_has_words(why: str) -> None:
    assert all(story_words.WHY[why])


@pytest.mark.parametrize("term", TERMS)
def test_every_term_has_a_sentence(term: str) -> None:
    assert all(story_words.DIFFERENCES[term])


def test_an_outcome_that_is_new_stands_for_itself() -> None:
    trail = begun()
    trail.attempted("a", "m", 101.0)
    trail.ended("brand_new", "", 102.0)
    assert "a failed after 1.0 s: brand_new." in as_text(explain(trail), EN)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (float("nan"), "-"),
        (0.04, "0.0"),
        (99.94, "99.9"),
        (99.96, "100"),
        (1234.5, "1234"),
    ],
)
def test_figures(value: float | None, text: str) -> None:
    assert figure(value) == text


@pytest.mark.parametrize(
    ("value", "english", "chinese"),
    [
        (None, "- s", "- 秒"),
        (0.0, "0.0 s", "0.0 秒"),
        (0.004, "4 ms", "4 毫秒"),
        (0.099, "99 ms", "99 毫秒"),
        (0.1, "0.1 s", "0.1 秒"),
        (120.4, "120 s", "120 秒"),
    ],
)
def test_times(value: float | None, english: str, chinese: str) -> None:
    assert (Voice(EN).seconds(value), Voice(ZH).seconds(value)) == (english, chinese)


def test_a_request_that_named_no_model_in_chinese() -> None:
    opening = as_text(explain(begun(None)), ZH).splitlines()[0]
    assert opening == "请求 r 于 1970-01-01 00:00:00 UTC 到达，请求的模型是（未写）。"
