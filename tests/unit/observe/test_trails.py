"""The ring of trails: what is kept of a request, and how much."""

import pytest

from gateway.observe.trails import FIRST, INTERRUPTED, LAST, Trail, Trails
from tests.unit.observe.placements import FULL, VIEW, nobody, placed, whole_story


def begun(trails: Trails, request_id: str = "req-1", now: float = 100.0) -> Trail:
    return trails.begin(request_id, "m", None, now, 1000.0 + now)


def test_a_whole_story_is_kept_in_order() -> None:
    trail = whole_story(Trails())
    assert [wait.position for wait in trail.waits] == [3]
    assert [decision.backend for decision in trail.decisions] == ["27b-a", "27b-e"]
    assert [(a.backend, a.outcome) for a in trail.attempts] == [
        ("27b-a", "cut"),
        ("27b-e", "answered"),
    ]
    assert (trail.status, trail.code, trail.finished_s) == (200, None, 150.1)
    assert repr(trail) == "<Trail req-1 qwen3.5-27b status=200>"


def test_a_decision_keeps_neither_the_request_nor_its_prompt() -> None:
    trail = begun(Trails())
    decided = placed()
    trail.decided(decided, 101.0)
    kept = trail.decisions[0]
    assert decided.want not in kept
    assert not any(value is decided.want.prefix for value in kept)
    assert (kept.view, kept.options, kept.choice) == (VIEW, decided.options, decided.choice)


def test_nobody_could_take_it() -> None:
    trail = begun(Trails())
    trail.decided(nobody(), 101.0)
    assert (trail.decisions[0].backend, trail.decisions[0].tried) == (None, ("27b-a",))


def test_the_newest_of_an_id_is_found_running_or_not() -> None:
    trails = Trails()
    first = begun(trails)
    first.finished(200, None, None, 101.0)
    second = begun(trails, now=102.0)
    assert trails.find("req-1") is second
    assert trails.find("req-2") is None


def test_the_oldest_goes_first() -> None:
    trails = Trails(kept=3)
    assert (len(trails), trails.since_wall_s) == (0, None)
    for number in range(5):
        begun(trails, f"req-{number}", float(number))
    assert [bool(trails.find(f"req-{number}")) for number in range(5)] == [False] * 2 + [True] * 3
    assert (len(trails), trails.since_wall_s) == (3, 1002.0)
    assert repr(trails) == "<Trails 3 of 3>"


def test_a_thousand_are_kept_and_no_more() -> None:
    trails = Trails()
    for number in range(1001):
        begun(trails, f"req-{number}")
    assert len(trails) == trails.kept == 1000
    assert trails.find("req-0") is None


def test_the_first_and_the_last_entries_of_a_long_one_are_kept() -> None:
    trail = begun(Trails())
    for number in range(100):
        trail.joined(number, None, float(number))
        trail.decided(placed(), number + 0.5)
        trail.attempted("a", "m", number + 0.5)
    kept = [*range(FIRST), *range(100 - LAST, 100)]
    assert [wait.position for wait in trail.waits] == kept
    assert [decision.at_s - 0.5 for decision in trail.decisions] == kept
    assert [attempt.began_s - 0.5 for attempt in trail.attempts] == kept
    assert (trail.decisions_total, trail.attempts_total) == (100, 100)
    assert trail.waited_s(200.0) == pytest.approx(50.0)


@pytest.mark.parametrize("how", ["decided", "attempted", "finished", "joined"])
def test_what_ends_a_wait(how: str) -> None:
    trail = begun(Trails())
    trail.joined(1, 5.0, 101.0, FULL)
    assert trail.waited_s(103.0) == 2.0
    match how:
        case "decided":
            trail.decided(placed(), 104.0)
        case "attempted":
            trail.attempted("a", "m", 104.0)
        case "finished":
            trail.finished(429, "overloaded", "it was full", 104.0)
        case _:
            trail.joined(1, None, 104.0)
    assert trail.waits[0].left_s == 104.0
    assert trail.waited_s(104.0) == 3.0


def test_an_attempt_that_still_ran_at_the_end_was_interrupted() -> None:
    trail = begun(Trails())
    trail.ended("cut", "there was none", 101.0)
    assert trail.attempts == []
    trail.attempted("a", "m", 101.0)
    trail.finished(499, None, "the client left", 105.0)
    assert (trail.attempts[0].outcome, trail.attempts[0].ended_s) == (INTERRUPTED, 105.0)


def test_texts_are_bounded() -> None:
    trail = Trails().begin("r", "m" * 10_000, None, 0.0, 0.0)
    trail.attempted("a", "m", 1.0)
    trail.ended("cut", "x" * 10_000, 2.0)
    trail.finished(502, "backend_error", "y" * 10_000, 3.0)
    assert trail.asked == "m" * 200
    assert trail.error == "y" * 1000
    assert trail.attempts[0].detail == "x" * 1000


def test_the_names_are_told_once_they_are_known() -> None:
    trail = Trails().begin("r", None, None, 0.0, 0.0)
    trail.named("x" * 10_000, "public")
    assert (trail.asked, trail.model) == ("x" * 200, "public")
    trail.named(None, None)
    assert (trail.asked, trail.model) == (None, None)
