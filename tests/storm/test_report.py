"""Latencies by phase, verdicts over streams, and goals."""

import json
from collections import Counter

import pytest

from tests.chaos.judge import Expected, Judgement, Verdict
from tests.storm.drill import Burst, Log
from tests.storm.figures import Latencies, Pair, Phase, latencies, percentile
from tests.storm.gateway import Usage
from tests.storm.load import Record, judged
from tests.storm.plan import Trigger
from tests.storm.report import Storm, as_json, goals, summary
from tests.storm.timing import Timed

WHOLE = Judgement(Verdict.WHOLE)
PHASES = (Phase(0.0, 10.0, False), Phase(10.0, 20.0, True), Phase(21.0, 30.0, False))


def record(*events_s: float, model: str = "m", judgement: Judgement = WHOLE) -> Record:
    return Record(model, True, events_s[0], events_s[-1], events_s[1:], judgement, "r")


def test_latencies_belong_to_the_phase_that_holds_them() -> None:
    records = [
        record(1.0, 1.5, 2.0),
        record(9.0, 9.5, 10.5, 11.0),
        record(12.0, 13.0, 15.0),
        record(20.5, 20.7, 22.0, 22.25),
        record(1.0, 9.0, model="other"),
        record(1.0, 9.0, judgement=Judgement(Verdict.ERROR, "no")),
    ]
    found = latencies(records, PHASES, frozenset({"m"}))
    assert found.first_event == Pair((0.5, 0.5), (1.0,))
    assert found.gap == Pair((0.25, 0.5), (0.5, 2.0))
    assert found.whole == Pair((1.0,), (3.0,))
    assert found.whole.ratio_p99 == 3.0
    assert found.whole.added_p99_s == 2.0


@pytest.mark.parametrize(
    ("values", "percent", "found"),
    [((), 99, None), ((1.0,), 99, 1.0), (tuple(range(1, 101)), 99, 99), ((1, 2, 3, 4), 50, 2)],
)
def test_percentiles(values: tuple[float, ...], percent: float, found: float | None) -> None:
    assert percentile(values, percent) == found


def test_a_stream_without_done_is_cut() -> None:
    seen = Timed(is_chat=True, is_stream=True)
    seen.note("id", "m", "assistant", "hello", None)
    seen.note("id", "m", None, None, "stop")
    assert len(seen.events_s) == 2
    expected = Expected("hello", "stop", 1)
    assert judged(seen, expected, "m", is_done=True).verdict is Verdict.WHOLE
    assert judged(seen, expected, "m", is_done=False).verdict is Verdict.TRUNCATED
    assert judged(seen, Expected("hello!", "stop", 1), "m", is_done=True).verdict is not (
        Verdict.WHOLE
    )


def good() -> Storm:
    pair = Pair((0.1,) * 100, (0.1,) * 100)
    return Storm(
        seed=1,
        mode="full",
        planned=2,
        log=Log(
            done=2,
            by=Counter({"file": 1, "SIGHUP": 1, "admin": 1}),
            force_s={Trigger.POST: [0.1, 0.2]},
        ),
        burst=Burst(50, 1.0, Counter({"200 applied": 20, "422 refused": 2}), 0.2),
        verdicts=Counter({Verdict.WHOLE: 300}),
        latencies=Latencies(pair, pair, pair),
        removed_probes=0,
        before=Usage(100, 10**8, 5),
        after=Usage(110, 10**8 + 10**6, 6),
        in_flight_left=0.0,
        crash_lines=0,
        exit_code=0,
    )


def test_a_good_run_misses_nothing_and_is_json() -> None:
    storm = good()
    assert storm.missed == []
    told = json.loads(json.dumps(as_json(storm)))
    assert told["missed"] == []
    assert told["requests"] == 300
    assert all(goal["met"] for goal in told["goals"])
    assert "all goals met" in summary(storm)


def test_a_short_run_states_latencies_and_judges_none() -> None:
    storm = good()
    storm.mode = "short"
    assert not any("p99" in goal.name for goal in goals(storm))
    assert as_json(storm)["latency_ms"]["gap"]["ratio_p99"] == 1.0


def test_a_run_that_did_nothing_misses_what_it_could_not_show() -> None:
    storm = Storm(1, "full", 100)
    shown = {goal.name for goal in goals(storm)} - {goal.name for goal in storm.missed}
    assert shown == {"run_to_its_end", "reloads_as_expected", "questions_at_removed"}


SLOW = Pair((0.1,) * 100, (0.2,) * 100)
SLIGHT = Pair((0.001,) * 100, (0.003,) * 100)
FAST = Pair((0.1,) * 100, (0.1,) * 100)


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({"verdicts": Counter({Verdict.WHOLE: 9, Verdict.ERROR: 1})}, ["failed_requests"]),
        ({"verdicts": Counter({Verdict.WHOLE: 9, Verdict.WRONG: 1})}, ["failed_requests"]),
        ({"planned": 3}, ["reloads"]),
        ({"removed_questions": ["c2: /v1/chat/completions x"]}, ["questions_at_removed"]),
        ({"removed_probes": 3}, ["probes_at_removed"]),
        ({"after": Usage(200, 10**8, 6)}, ["more_fds"]),
        ({"after": Usage(100, 2 * 10**8, 6)}, ["more_rss_bytes"]),
        ({"after": Usage(100, 10**8, 60)}, ["more_threads"]),
        ({"in_flight_left": 1.0}, ["in_flight_left"]),
        ({"crash_lines": 1}, ["crash_lines"]),
        ({"exit_code": -9}, ["exit_code"]),
        ({"stopped_by": "x"}, ["run_to_its_end"]),
        ({"latencies": Latencies(SLOW, FAST, FAST)}, ["first_event_p99_ratio"]),
        ({"latencies": Latencies(FAST, SLIGHT, SLOW)}, ["whole_p99_ratio"]),
        ({"burst": Burst(5, 1.0, Counter({"200 applied": 2}), 9.0)}, ["burst_settled_s"]),
        ({"burst": Burst(5, 1.0, Counter({"500 x": 2}), 1.0)}, ["burst_answers"]),
    ],
)
def test_each_goal_can_be_missed(change: dict[str, object], missed: list[str]) -> None:
    storm = good()
    for name, value in change.items():
        setattr(storm, name, value)
    assert [goal.name for goal in storm.missed] == missed
