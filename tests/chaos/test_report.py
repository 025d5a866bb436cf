"""Schedules, sightings and reports of the chaos harness, without processes."""

import json
from itertools import islice
from pathlib import Path

import pytest
import yaml

from gateway.config.load import load_text
from gateway.emulator.fleet_file import load_fleet
from tests.chaos.drill import Drill, Struck
from tests.chaos.fleet import LARGE, SMALL, fleet_file, fleet_members, routing_file
from tests.chaos.kinds import KINDS
from tests.chaos.options import NO_FAULTS, parse
from tests.chaos.report import BEGIN, END, Run, fault_rows, section, summary, table, with_section
from tests.chaos.schedule import NAMES, SHORT_NAMES, Part, Plan, capable, rounds
from tests.chaos.watch import Moves, Watch
from tests.support.children import Child

MEMBERS = fleet_members()


def test_every_round_has_every_plan_and_a_seed_draws_the_same() -> None:
    plans = list(islice(rounds(5, NAMES, MEMBERS), 3 * len(NAMES)))
    for start in range(0, len(plans), len(NAMES)):
        assert sorted(plan.name for plan in plans[start : start + len(NAMES)]) == sorted(NAMES)
    assert list(map(str, islice(rounds(5, NAMES, MEMBERS), 9))) == list(map(str, plans[:9]))
    assert set(SHORT_NAMES) < set(NAMES)
    assert list(rounds(5, (), MEMBERS)) == []


@pytest.mark.parametrize("seed", range(20))
def test_every_plan_leaves_each_model_a_capable_backend(seed: int) -> None:
    for plan in islice(rounds(seed, NAMES, MEMBERS), len(NAMES)):
        victims = [part.victim for part in plan.parts]
        assert len(set(victims)) == len(victims)
        assert capable(plan, MEMBERS, SMALL)
        assert capable(plan, MEMBERS, LARGE)


def test_the_routing_file_and_the_fleet_files_are_accepted(tmp_path: Path) -> None:
    loaded = load_text(yaml.safe_dump(routing_file(MEMBERS)), "routing.yaml")
    assert loaded.config is not None, loaded.problems
    for member in MEMBERS:
        file = tmp_path / "fleet.yaml"
        file.write_text(yaml.safe_dump(fleet_file(member)), encoding="utf-8")
        (spec, fault), *_ = load_fleet(file)
        assert (spec.port, fault) == (member.port, None)
        assert spec.engine is not None
        assert bool(spec.engine.capture_sizes) is member.is_graph


def test_a_watch_finds_the_loss_and_the_return(tmp_path: Path) -> None:
    watch = Watch("http://127.0.0.1:1", Child("gateway", tmp_path))
    for at, state, breaker in (
        (1.0, "up", "closed"),
        (2.0, "up", "open"),
        (3.0, "up", "half_open"),
        (4.0, "down", "closed"),
        (5.0, "starting", "closed"),
        (6.0, "up", "closed"),
    ):
        watch.note("a", state, breaker, at)
    assert watch.lost_at("a", 1.5) == 2.0
    assert watch.lost_at("a", 3.5) == 4.0
    assert watch.lost_at("a", 6.5) is None
    assert watch.up_at("a", 4.5) == 6.0
    assert watch.up_at("a", 6.5) == 6.5
    assert not watch.is_up("unknown")
    watch.note("a", "degraded", "closed", 7.0)
    assert watch.up_at("a", 4.5) is None


def drill(kind: str, lost_s: float | None, up_s: float | None, hits: int | None = None) -> Drill:
    struck = Struck(Part(KINDS[kind], "9b-a"), 10.0, lost_s, 20.0, up_s, hits)
    return Drill(Plan(kind, (struck.part,)), [struck], 12, Moves(2, 3), 25.0)


def run(**fields: object) -> Run:
    usual: dict[str, object] = {"requests": 100, "whole": 100, "in_flight_left": 0.0}
    made = Run(1, "full", 100)
    for name, value in (usual | fields).items():
        setattr(made, name, value)
    return made


def test_strikes_of_one_name_become_one_row() -> None:
    rows = fault_rows([drill("kill9", 10.5, 21.0), drill("kill9", 11.5, 22.0)])
    assert [(row.fault, row.times, row.requests, row.retried, row.resumed) for row in rows] == [
        ("kill9", 2, 24, 4, 6)
    ]
    assert str(rows[0].detection_s) == "1.00 s (at most 1.50 s)"
    assert str(rows[0].recovery_s) == "1.50 s (at most 2.00 s)"
    assert rows[0].hits is None


def test_what_must_be_noticed_and_was_not_is_told() -> None:
    rows = fault_rows([drill("hang", None, 20.0), drill("cut_rst", None, 20.0, 7)])
    cut, hang = rows
    assert (cut.unnoticed, hang.unnoticed) == (0, 1)
    assert (cut.detection_s, cut.recovery_s, cut.hits) == (None, None, 7)
    lines = table(rows).splitlines()
    assert lines[1].split() == ["cut_rst", "1", "-", "-", "12", "7", "2", "3"]
    assert "-, 1 never" in lines[2]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, []),
        ({"errors": 2}, ["2 requests were lost"]),
        ({"truncated": 1}, ["1 answers were truncated without an error"]),
        ({"wrong": 3}, ["3 answers were wrong"]),
        ({"requests": 99}, ["only 99 of 100 requests were made"]),
        ({"in_flight_left": 1.0}, ["in-flight gauge at the end: 1.0"]),
        ({"in_flight_left": None}, ["in-flight gauge at the end: None"]),
        ({"crash_lines": 1}, ["1 crashes in the gateway's log"]),
        ({"stopped_by": "no end"}, ["the run was stopped: no end"]),
    ],
)
def test_each_missed_target_is_told(fields: dict[str, object], told: list[str]) -> None:
    assert run(**fields).missed == told
    assert run(**fields).as_json()["ok"] is not bool(told)


def test_the_json_has_all_figures_on_one_line() -> None:
    made = run(faults=fault_rows([drill("kill9", 10.5, 21.0)]))
    text = json.dumps(made.as_json())
    assert "\n" not in text
    assert json.loads(text)["faults"][0]["detection_s"] == {"median": 0.5, "max": 0.5}
    assert "all targets met" in summary(made)


def test_only_the_part_between_the_markers_is_replaced() -> None:
    made = run(faults=fault_rows([drill("cut_rst", None, None, 7)]))
    document = f"# Failures\n\nbefore\n{BEGIN}\nold\n{END}\nafter\n"
    written = with_section(document, section(made))
    assert written.startswith("# Failures\n\nbefore\n")
    assert written.endswith("\nafter\n")
    assert "old" not in written
    assert "| cut\\_rst | 1 | - | - | 12 | 7 | 2 | 3 |" in written
    assert with_section(written, section(made)) == written
    with pytest.raises(ValueError, match="needs the lines"):
        with_section("# Failures\n", "text")


def test_a_request_met_the_faults_of_its_time() -> None:
    one = drill("kill9", 10.5, 21.0)
    assert one.overlaps(5.0, 10.0)
    assert one.overlaps(24.0, 30.0)
    assert not one.overlaps(5.0, 9.0)
    assert not one.overlaps(26.0, 30.0)


def test_modes_of_the_command_line() -> None:
    assert parse([]).is_document_written
    assert parse(["--short"]).names == SHORT_NAMES
    assert not parse(["--short"]).is_document_written
    assert not parse(["--requests", "50"]).is_document_written
    assert parse(["--only", NO_FAULTS]).names == ()
    assert parse(["--only", "hang", "--requests", "5"]).requests == 5
    with pytest.raises(SystemExit):
        parse(["--only", "bogus"])
