"""What scraped figures are worth: their age, restarts, whose requests they count, and lies."""

import math

import pytest

from gateway.fleet.health.evidence import Activity
from gateway.fleet.telemetry.freshness import Gauges, Scrapes, foreign_requests


def said(running: float = 0.0, waiting: float = 0.0, made: float = 0.0, **more: float) -> Activity:
    return Activity(running, waiting, 100.0 + made, 50.0 + made, **more)  # type: ignore[arg-type]


def after(*scrapes: tuple[Activity | None, int], interval_s: float = 1.0) -> Scrapes:
    """Scrapes at 10, 11, 12... that took 0.2 s; each with what we had there."""
    kept = Scrapes(interval_s)
    for second, (activity, own) in enumerate(scrapes, 10):
        kept = kept.take(activity, second - 0.1, second + 0.1, own)
    return kept


def test_nothing_is_known_before_the_first_good_scrape() -> None:
    assert Scrapes(1.0).gauges_at(0.0) is None
    assert Scrapes(1.0).foreign_at(0.0) == 0
    assert after((None, 3), (None, 0)) == Scrapes(1.0)


def test_the_last_good_scrape_is_kept_with_the_middle_of_its_time() -> None:
    activity = Activity(4.0, 2.0, 100.0, 50.0, 0.5, 3.0, 32768)
    kept = after((activity, 1), (None, 1))
    gauges = Gauges(4, 2, 0.5, 3, 32768, 100.0, 50.0, 1, 10.0)
    assert kept.last == gauges
    assert kept.gauges_at(12.0) == gauges
    assert not gauges.is_restarted


@pytest.mark.parametrize(
    ("interval_s", "age_s", "is_known"),
    [
        (1.0, 3.0, True),
        (1.0, 3.01, False),
        (0.2, 3.0, True),  # never less than 3 s
        (0.2, 3.01, False),
        (5.0, 15.0, True),
        (5.0, 15.01, False),
        (1.0, 3600.0, False),
        (1.0, -1.0, True),
    ],
)
def test_old_figures_count_for_nothing(interval_s: float, age_s: float, is_known: bool) -> None:
    kept = after((said(1.0), 0), interval_s=interval_s)
    assert (kept.gauges_at(10.0 + age_s) is not None) == is_known


def test_an_answer_that_comes_after_a_later_one_adds_nothing() -> None:
    kept = after((said(made=5.0), 0), (said(made=6.0), 0))
    assert kept.take(said(made=5.5), 9.0, 10.5, 0) is kept


@pytest.mark.parametrize(
    ("first", "second", "is_restarted"),
    [
        (said(made=5.0), said(made=5.0), False),
        (said(made=5.0), said(made=9.0), False),
        (said(made=5.0), said(made=0.0), True),
        (said(preemptions_total=4.0), said(preemptions_total=0.0), False),  # one alone
        (said(preemptions_total=4.0), said(preemptions_total=5.0), False),
        (Activity(0.0, 0.0, 9.0, 9.0), Activity(0.0, 0.0, 8.0, 99.0), False),
        (Activity(0.0, 0.0, 9.0, 9.0), Activity(0.0, 0.0, 99.0, 8.0), False),
        (Activity(0.0, 0.0, 9.0, 9.0), Activity(0.0, 0.0, 8.0, 8.0), True),
        (said(running=5.0), said(running=0.0), False),  # gauges may fall
    ],
)
@pytest.mark.parametrize("failures", [0, 40])
def test_counters_that_fall_are_a_restart(
    first: Activity, second: Activity, is_restarted: bool, failures: int
) -> None:
    kept = after((first, 0), *[(None, 0)] * failures, (second, 0))
    assert kept.last is not None
    assert kept.last.is_restarted == is_restarted
    again = kept.take(second, 90.0, 90.0, 0)
    assert again.last is not None
    assert not again.last.is_restarted


@pytest.mark.parametrize(
    ("first", "second", "foreign"),
    [
        ((said(4.0), 4), (said(4.0), 4), 0),
        ((said(4.0, 3.0), 4), (said(4.0, 3.0), 4), 3),
        ((said(4.0), 3), (said(4.0), 4), 0),  # one of ours had just ended
        ((said(4.0), 4), (said(4.0), 3), 0),
        ((said(6.0), 4), (said(9.0), 4), 2),
        ((said(9.0), 4), (said(6.0), 4), 2),
        ((said(2.0), 4), (said(2.0), 4), 0),  # ours are not at the engine yet
        ((said(4.0), 0), (None, 0), 0),
        ((None, 0), (said(4.0), 0), 0),
        ((said(4.0, made=9.0), 0), (said(4.0, made=0.0), 0), 0),  # it began anew
    ],
)
def test_requests_of_others_are_those_that_two_scrapes_saw(
    first: tuple[Activity | None, int], second: tuple[Activity | None, int], foreign: int
) -> None:
    assert after(first, second).foreign_at(11.5) == foreign


def test_two_scrapes_far_apart_prove_nothing_together() -> None:
    kept = after((said(4.0), 0), (None, 0), (None, 0), (None, 0), (said(4.0), 0))
    assert kept.foreign_at(14.0) == 0
    kept = kept.take(said(4.0), 15.0, 15.0, 0)
    assert kept.foreign_at(15.0) == 4
    assert kept.foreign_at(18.1) == 0


# What an engine says for ever, what we have there, and what is made of it:
# the requests of others, without and with a known --max-num-seqs of 256, and the KV pressure.
LIES = [
    pytest.param(said(0.0, kv_usage_ratio=0.99), 0, (0, 0, 0.0), id="full without work"),
    pytest.param(said(0.0, kv_usage_ratio=0.99), 4, (0, 0, 0.0), id="full, and ours unseen"),
    pytest.param(said(1.0, kv_usage_ratio=0.99), 1, (0, 0, 0.99), id="full of our work"),
    pytest.param(said(0.0), 4, (0, 0, 0.0), id="nothing runs while four of ours do"),
    pytest.param(said(10000.0), 0, (10000, 0, None), id="ten thousand run"),
    pytest.param(said(10000.0), 4, (9996, 0, None), id="ten thousand run with four of ours"),
    pytest.param(said(256.0, 9000.0), 0, (9256, 9256, None), id="a long line is possible"),
    pytest.param(said(-3.0, -2.0), 0, (0, 0, 0.0), id="less than nothing"),
    pytest.param(said(math.nan, math.inf), 0, (0, 0, 0.0), id="no numbers"),
    pytest.param(said(1e300), 0, (1_000_000_000, 0, None), id="beyond all bounds"),
    pytest.param(said(1.0, kv_usage_ratio=99.0), 1, (0, 0, 1.0), id="more than full"),
    pytest.param(said(1.0, kv_usage_ratio=-1.0), 1, (0, 0, 0.0), id="less than empty"),
]


@pytest.mark.parametrize(("lie", "own", "made_of_it"), LIES)
def test_lies(lie: Activity, own: int, made_of_it: tuple[int, int, float | None]) -> None:
    kept = after(*[(lie, own)] * 100)
    now = 109.5
    gauges = kept.gauges_at(now)
    assert gauges is not None
    assert (
        kept.foreign_at(now),
        kept.foreign_at(now, most_running=256),
        gauges.kv_pressure_ratio,
    ) == made_of_it


def test_figures_that_jump_back_and_forth_are_restarts_without_foreign_work() -> None:
    """As behind an address that two engines share."""
    two = [(said(3.0, made=900.0), 0), (said(3.0, made=5.0), 0)] * 5
    kept = after(*two)
    assert kept.last is not None
    assert kept.last.is_restarted
    assert kept.foreign_at(19.5) == 0


def test_silence_for_long_is_the_same_as_no_figures() -> None:
    kept = after((said(9.0, 9.0, kv_usage_ratio=1.0), 0), *[(None, 4)] * 1000)
    assert kept.gauges_at(1010.0) is None
    assert kept.foreign_at(1010.0) == 0


def test_the_rule_by_itself() -> None:
    last = Gauges(5, 0, 0.1, 0, None, 1.0, 1.0, 2, 11.0)
    before = last._replace(at_s=10.0, own=1)
    assert foreign_requests(last, before) == 3
    assert foreign_requests(last, before, most_running=4) == 0
    assert foreign_requests(last._replace(is_restarted=True), before) == 0
