"""A fleet out of the samples of operators' scripts, with the commands before the manifest."""

from pathlib import Path
from typing import Final

from gateway.adoption.candidate import Candidate, Fleet
from gateway.adoption.codes import Code
from gateway.adoption.merging import merge
from gateway.adoption.reading import read_source
from gateway.adoption.sources import Sighting
from gateway.config.vocabulary import Chip, Tier

SAMPLES: Final = Path(__file__).resolve().parents[2] / "golden" / "adoption" / "samples"
SCRIPTS: Final = (
    "docker_9b.sh",
    "serve_9b.sh",
    "docker_27b.sh",
    "serve_27b.sh",
    "serve_8b_sharded.sh",
    "serve_2b.sh",
    "serve_eager.sh",
)
LOGS: Final = ("eager_start.log", "graph_start.log")


def fleet(*names: str) -> Fleet:
    sighting = Sighting()
    for name in names:
        sighting += read_source((SAMPLES / name).read_text(encoding="utf-8"), name)
    return merge(sighting)


def named(merged: Fleet, name: str) -> Candidate:
    candidate = merged.named(name)
    assert candidate is not None
    return candidate


def test_where_each_is_and_what_it_collides_with() -> None:
    found = fleet(*SCRIPTS, "compose.yaml", *LOGS)
    assert [(one.name, one.port, one.disabled_by) for one in found.candidates] == [
        ("qwen3.5-9b", 12322, ""),
        ("qwen3.5-27b", 12320, ""),
        ("qwen3-8b", 12320, "qwen3.5-27b"),
        ("qwen3.5", 1025, ""),
        ("qwen3.5-9b-eager", 8000, "qwen3.5-27b"),
        ("qwen3.5-9b-2", 12320, "qwen3.5-27b"),
        ("qwen3.5-27b-2", 12320, "qwen3.5-9b"),
    ]
    assert (found.containers, found.logs) == ((), ())


def test_the_9b_is_in_the_container_of_its_devices_and_port() -> None:
    nine = named(fleet(*SCRIPTS), "qwen3.5-9b")
    assert nine.container is not None
    assert nine.container.name == "vllm-ascend-qwen3.5"
    assert (nine.npus, nine.engine_port, nine.chip) == ((2, 3), 12320, Chip.A310P)
    assert [(one.field, one.code) for one in nine.guesses] == [("container", Code.CONTAINER_PAIRED)]


def test_the_27b_is_in_the_container_that_it_names() -> None:
    big = named(fleet(*SCRIPTS), "qwen3.5-27b")
    assert big.container is not None
    assert (big.container.name, big.guesses) == ("vllm-ascend-qwen3", ())
    assert (big.version, big.capture_sizes) == ((0, 20, 2), (1, 4))


def test_each_log_goes_to_its_engine() -> None:
    found = fleet(*SCRIPTS, "compose.yaml", *LOGS)
    logs = {one.name: one.log.origin.file for one in found.candidates if one.log}
    assert logs == {"qwen3.5-9b": "graph_start.log", "qwen3.5-9b-eager": "eager_start.log"}


def test_the_eager_twin() -> None:
    eager = named(fleet(*SCRIPTS), "qwen3.5-9b-eager")
    assert (eager.tier, eager.visible_npus, eager.container) == (Tier.EAGER, (0, 1), None)


def test_two_tables_of_ports_contradict_each_other() -> None:
    found = fleet(*SCRIPTS, "compose.yaml")
    told = [f for f in found.findings if f.code is Code.MODEL_AT_TWO_PORTS]
    assert [(f.values["model"], f.values["port"], f.values["other_port"]) for f in told] == [
        ("qwen3.5-9b", "12322", "12320")
    ]


def test_files_given_twice_change_nothing() -> None:
    once, twice = fleet(*SCRIPTS), fleet(*SCRIPTS, *SCRIPTS)
    assert [one.name for one in twice.candidates] == [one.name for one in once.candidates]
    assert Code.SOURCES_DISAGREE not in {finding.code for finding in twice.findings}
