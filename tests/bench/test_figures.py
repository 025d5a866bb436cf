"""Figures of a run, the best peer, and the verdict."""

from dataclasses import replace

import pytest

from tests.bench.arrivals import Arrival
from tests.bench.contenders import CONTENDERS, GATEWAY, Contender, Kind
from tests.bench.figures import TPOT_LIMIT_S, Figures, against_best, figures, is_good
from tests.bench.generator import Result
from tests.bench.trial import Busy, Trial
from tests.bench.verdict import comparisons, missed

ARRIVAL = Arrival("a", 0.0, 100, 11, 5.0, {})
RESULT = Result("a", 200, None, 1.0, 1.0, 2.0, 0.0)
FIGURES = Figures(1.0, 2.0, 0.1, 10.0, 20.0, 1.0, 0, 0)
LOADS = (0.6, 0.75)


def trials_of(contender: Contender, factor: float, errors: int = 0) -> list[Trial]:
    """Runs at both loads with times that are `factor` of the usual."""
    found = replace(FIGURES, ttft_p95_s=2 * factor, e2e_mean_s=10 * factor, errors=errors)
    busy = Busy(0.1, 0.1, 0.1, 0.2, 0.3)
    return [Trial(contender, load, 1, found, busy, 0.5, 0.0, (), 1.0) for load in LOADS]


def test_latencies_are_those_of_whole_answers_and_the_rest_are_errors() -> None:
    arrivals = [replace(ARRIVAL, id=name) for name in "abc"]
    results = [
        replace(RESULT, id="a"),
        replace(RESULT, id="b", ttft_s=3.0, decode_s=2.0, e2e_s=6.0),
        replace(RESULT, id="c", error="cut", e2e_s=100.0),
    ]
    found = figures(arrivals, results, 4)
    assert (found.errors, found.preemptions) == (1, 4)
    assert found.e2e_mean_s == pytest.approx(4.0)
    assert found.ttft_p50_s == pytest.approx(2.0)
    assert found.tpot_mean_s == pytest.approx(0.15)
    assert found.goodput == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("change", "good"),
    [
        ({}, True),
        ({"ttft_s": 5.1}, False),
        ({"decode_s": 10 * TPOT_LIMIT_S * 1.01}, False),
        ({"error": "cut"}, False),
    ],
)
def test_a_good_answer_is_whole_and_within_both_limits(
    change: dict[str, float], good: bool
) -> None:
    assert is_good(ARRIVAL, replace(RESULT, **change)) is good  # type: ignore[arg-type]


def test_a_run_without_a_whole_answer_has_no_figures() -> None:
    with pytest.raises(ValueError, match="no answer was whole; the first: cut"):
        figures([ARRIVAL], [replace(RESULT, error="cut")], 0)


def test_results_of_other_arrivals_are_refused() -> None:
    with pytest.raises(ValueError, match="not those"):
        figures([ARRIVAL], [replace(RESULT, id="b")], 0)


def test_the_best_peer_is_the_one_that_leaves_us_the_worst_ratio() -> None:
    ours = {1: FIGURES, 2: replace(FIGURES, e2e_mean_s=40.0)}
    slow = {seed: replace(FIGURES, e2e_mean_s=80.0) for seed in ours}
    fast = {1: replace(FIGURES, e2e_mean_s=20.0), 2: replace(FIGURES, e2e_mean_s=20.0)}
    found = against_best(ours, {"slow": slow, "fast": fast}, "e2e_mean_s")
    assert found is not None
    assert found.peer == "fast"
    assert found.ratio == pytest.approx(1.0)  # the geometric mean of 1/2 and 2
    assert against_best(ours, {}, "e2e_mean_s") is None


def test_targets_are_met_by_a_gateway_that_is_fast_enough() -> None:
    trials = trials_of(GATEWAY, 0.45)
    for contender in CONTENDERS[1:]:
        trials += trials_of(contender, 1.0)
    assert missed(trials, comparisons(trials, LOADS), LOADS) == []


def test_every_missed_target_is_told() -> None:
    trials = trials_of(GATEWAY, 0.9, errors=1) + trials_of(CONTENDERS[1], 1.0)
    told = missed(trials, comparisons(trials, LOADS), LOADS)
    assert len(told) == 6
    assert "load 0.6: e2e_mean_s is 0.900 x vllm-router round_robin, not 0.55" in told
    assert "load 0.75: 1 errors through the gateway" in told


def test_a_gateway_with_nobody_to_compare_with_misses() -> None:
    trials = trials_of(GATEWAY, 0.1) + trials_of(Contender(Kind.NGINX, "least_conn"), 1.0)
    assert len(missed(trials, comparisons(trials, LOADS), LOADS)) == 4


def test_a_machine_that_was_too_busy_is_told() -> None:
    trials = [
        replace(trial, busy=replace(trial.busy, run=0.8))
        for trial in trials_of(GATEWAY, 0.1) + trials_of(CONTENDERS[1], 1.0)
    ]
    assert missed(trials, comparisons(trials, LOADS), LOADS) == [
        "the run kept 80% of the machine busy; lower --scale"
    ]
