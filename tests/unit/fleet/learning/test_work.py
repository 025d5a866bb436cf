"""What one backend does for us: progress, and the windows that teach its speed."""

import pytest

from gateway.fleet.health.evidence import Activity
from gateway.fleet.learning.decode import DecodeSpeed
from gateway.fleet.learning.lengths import OutputLengths
from gateway.fleet.work import Work
from gateway.fleet.working import Working

STEP_S = 0.1


def made(kv_tokens: int | None = None) -> Work:
    return Work(DecodeSpeed((1, 2, 4), 8, 0.06), kv_tokens)


def one(prompt: int = 100, is_visible: bool = True) -> Working:
    return Working(prompt, prompt, 64, OutputLengths(), is_visible)


def begun(work: Work, now: float, count: int = 1) -> list[Working]:
    """Requests that have their first token at `now`."""
    ours = [one() for _ in range(count)]
    for working in ours:
        work.begin(working, now)
    for working in ours:
        working.saw(1, now)
        work.first_token(working, now)
    return ours


def stream(ours: list[Working], start: float, tokens: int) -> float:
    for number in range(1, tokens + 1):
        for working in ours:
            working.saw(1, start + number * STEP_S)
    return start + tokens * STEP_S


def scrape(work: Work, now: float, running: int, preempted: int = 0, ratio: float = 0.1) -> None:
    activity = Activity(
        running=running,
        waiting=0,
        prompt_tokens=0,
        generation_tokens=0,
        kv_usage_ratio=ratio,
        preemptions_total=preempted,
        kv_capacity_tokens=None,
    )
    work.scraped(activity, now, now)


def seen_tokens(work: Work) -> float:
    return sum(work.decode.samples_tokens)


def test_a_clean_window_teaches() -> None:
    work = made()
    ours = begun(work, 0.0, 2)
    now = stream(ours, 0.0, 40)
    work.end(ours[0], now, 41)
    assert work.decode.step_s(2) == pytest.approx(STEP_S, rel=0.05)
    assert len(work) == 1


def test_a_prompt_in_the_batch_makes_a_window_unclean() -> None:
    work = made()
    ours = begun(work, 0.0)
    work.begin(one(), 0.0)
    now = stream(ours, 0.0, 20)
    work.end(ours[0], now, 21)
    assert seen_tokens(work) == 0


def test_a_client_that_reads_slowly_teaches_nothing() -> None:
    work = made()
    ours = begun(work, 0.0)
    now = stream(ours, 0.0, 20)
    ours[0].is_held_up = True
    work.end(ours[0], now, 21)
    assert seen_tokens(work) == 0


def test_the_load_of_others_is_counted_and_not_learnt_from() -> None:
    work = made()
    scrape(work, 0.0, 3)
    scrape(work, 1.0, 3)
    ours = begun(work, 1.5)
    scrape(work, 2.0, 4)
    assert work.load(2.0).running == 4
    now = stream(ours, 2.0, 20)
    work.end(ours[0], now, 21)
    assert seen_tokens(work) == 0


def test_figures_that_are_old_count_no_more() -> None:
    work = made()
    scrape(work, 0.0, 3)
    scrape(work, 1.0, 3)
    assert work.load(1.0).running == 3
    assert work.load(100.0).running == 0


def test_a_preemption_raises_what_the_memory_is_thought_to_hold_and_it_fades() -> None:
    work = made()
    begun(work, 0.0)
    scrape(work, 1.0, 1)
    before = work.load(1.0).context_tokens
    scrape(work, 2.0, 1, preempted=1)
    raised = work.load(2.0).context_tokens
    assert raised == pytest.approx(1.2 * before)
    for second in range(3, 300):
        scrape(work, float(second), 1, preempted=1)
    assert before < work.load(299.0).context_tokens < 1.1 * before


def test_one_that_cannot_be_seen_is_reckoned() -> None:
    work = made()
    hidden = one(is_visible=False)
    work.begin(hidden, 0.0)
    assert work.load(0.0).streaming == 0
    early, late = work.load(1.0), work.load(3.0)
    assert (early.running, early.streaming, late.streaming) == (1, 1, 1)
    assert late.left_tokens < early.left_tokens
    assert late.context_tokens > early.context_tokens


def test_what_began_since_is_counted_for_one_who_looks_with_an_older_time() -> None:
    work = made()
    begun(work, 0.0)
    assert work.load(1.0).running == 1
    # The load that was reckoned at 1.0 is too old for this one, but not for a plan still at work.
    began_s = 1.5
    work.begin(one(), began_s)
    assert work.load(1.05).running == 2


def test_what_ended_since_is_counted_for_one_who_looks_with_an_older_time() -> None:
    work = made()
    ours = begun(work, 0.0, 2)
    assert work.load(1.0).running == 2
    work.end(ours[0], 1.5)
    assert work.load(1.05).running == 1


def test_prompts_that_wait_are_pending_for_as_long_as_they_take() -> None:
    work = made()
    work.begin(one(3000), 0.0)
    first_s = work.load(0.0).pending_s
    assert first_s == pytest.approx(3000 / 1500 + 0.05)
    assert work.load(1.0).pending_s == pytest.approx(first_s - 1.0)
    assert work.load(60.0).pending_s == 0.0


def test_what_is_not_there_is_ignored() -> None:
    work = made()
    stranger = one()
    work.first_token(stranger, 0.0)
    work.end(stranger, 1.0, 5)
    assert len(work) == 0
    assert stranger.lengths.overall.samples == 0


def test_only_whole_answers_teach_lengths() -> None:
    work = made()
    ours = begun(work, 0.0, 2)
    work.end(ours[0], 1.0)
    work.end(ours[1], 1.0, 30)
    assert (ours[0].lengths.overall.samples, ours[1].lengths.overall.samples) == (0, 1)
