"""The targets, on figures that were made up."""

from dataclasses import replace
from typing import Any

import pytest

from tests.sim.check import FIRST_SEED, runs_of
from tests.sim.figures import Figures
from tests.sim.goals import BASE, LOW_LOAD, PRODUCT, WIDER, Run, best_peer, judged, lines

GOOD = Figures(4.0, 8.0, 0.1, 1.0, 1.0, 0.05, 1.0, 0, 50.0, 0.0)
PEER = replace(GOOD, mean_s=10.0, ttft_p95_s=5.0, preemptions=3)
Made = dict[Run, dict[int, Figures]]


def made(is_short: bool = False) -> Made:
    seeds = (FIRST_SEED, FIRST_SEED + 1)
    return {
        run: dict.fromkeys(seeds, GOOD if run.policy == PRODUCT else PEER)
        for run in runs_of(is_short)
    }


def missed(results: Made, is_short: bool = False) -> list[str]:
    return [target.name for target in judged(results, is_short) if not target.is_met]


@pytest.mark.parametrize("is_short", [False, True])
def test_a_good_product_meets_them(is_short: bool) -> None:
    results = made(is_short)
    assert missed(results, is_short) == []
    assert len(judged(results)) == 23


@pytest.mark.parametrize(
    ("run", "change", "names"),
    [
        (Run("chat", PRODUCT, LOW_LOAD), {"ttft_p95_s": 3.1}, ["TTFT p95 in seconds"]),
        (Run("chat", PRODUCT, LOW_LOAD), {"mean_s": 8.1}, ["least_inflight"]),
        (Run("chat", PRODUCT, sizes_known=False), {"mean_s": 4.5}, ["undeclared"]),
        (Run("kv_tight_a2", PRODUCT), {"preemptions": 4}, ["preemptions"]),
        (Run("kv_tight_a2", PRODUCT), {"mean_s": 10.1}, ["best peer"]),
        (Run("a2_chat", PRODUCT), {"mean_s": 10.4}, ["a2_chat: mean"]),
        (Run("burst", PRODUCT), {"mean_s": 11.6}, ["burst: mean / clairvoyant"]),
        (Run("agents", PRODUCT), {"mean_s": 13.4}, []),
        (Run("agents", PRODUCT), {"mean_s": 13.6}, ["agents: mean / clairvoyant"]),
    ],
)
def test_each_is_missed_alone(run: Run, change: dict[str, Any], names: list[str]) -> None:
    results = made()
    results[run] = {seed: replace(GOOD, **change) for seed in results[run]}
    found = missed(results)
    assert len(found) == len(names)
    assert all(part in name for part, name in zip(names, found, strict=True))


def test_the_best_peer_is_no_yardstick_and_is_chosen_by_figure() -> None:
    results = made()
    seeds = results[Run("chat", BASE)]
    results[Run("chat", "session_hash")] = dict.fromkeys(seeds, replace(PEER, mean_s=9.0))
    results[Run("chat", "least_kv")] = dict.fromkeys(seeds, replace(PEER, ttft_p95_s=4.0))
    results[Run("chat", "clairvoyant")] = dict.fromkeys(seeds, replace(PEER, mean_s=1.0))
    assert best_peer(results, "chat") == "session_hash"
    assert best_peer(results, "chat", "ttft_p95_s") == "least_kv"


def test_the_short_form_is_wider_but_for_preemptions() -> None:
    results = made()
    for full, short in zip(judged(results), judged(results, is_short=True), strict=True):
        factor = 1.0 if "preemptions" in full.name else WIDER
        assert short.limit == pytest.approx(full.limit * factor)


def test_what_is_missed_is_said() -> None:
    results = made()
    run = Run("chat", PRODUCT, LOW_LOAD)
    results[run] = {seed: replace(GOOD, ttft_p95_s=9.0) for seed in results[run]}
    assert [line for line in lines(judged(results)) if line.endswith("MISSED")] == [
        line for line in lines(judged(results)) if "TTFT p95 in seconds" in line
    ]
