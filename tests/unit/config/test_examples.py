"""The example files load, with the warnings they are meant to show."""

from pathlib import Path

import pytest

from gateway.config.codes import Code
from gateway.config.load import load_file
from gateway.emulator.fleet_file import load_fleet

ROOT = Path(__file__).resolve().parents[3]
FLEET = "emulated-fleet.yaml"
WARNINGS = {
    "minimal.yaml": [],
    "demo.yaml": [Code.SEQS_ABOVE_CAPTURE] * 3,
    "two-containers.yaml": [Code.SEQS_ABOVE_CAPTURE] * 2,
    "reference-fleet.yaml": [
        Code.SEQS_ABOVE_CAPTURE,  # 9b: [1, 4] with 8
        Code.CONTAINER_MISLEADS,  # 9b: in the container vllm-ascend-qwen3.5
        Code.SEQS_ABOVE_CAPTURE,  # 27b: [1, 4] with 8
        Code.CONTAINER_MISLEADS,  # 27b: in the container vllm-ascend-qwen3
        Code.SEQS_ABOVE_CAPTURE,  # 8b: 8 with 40
        Code.CAPTURE_TOO_MANY,  # 8b: four sizes on 310P with TP 2
    ],
}


def test_every_example_is_known_here() -> None:
    shipped = {path.name for path in (ROOT / "config").glob("*.yaml")}
    assert shipped == {*WARNINGS, FLEET}


@pytest.mark.parametrize("name", WARNINGS)
def test_an_example_loads(name: str) -> None:
    loaded = load_file(ROOT / "config" / name)
    assert loaded.config is not None, loaded.render()
    assert [p.code for p in loaded.problems] == WARNINGS[name], loaded.render()
    first = (ROOT / "config" / name).read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=./routing.schema.json"


def test_the_reference_fleet_has_its_facts_and_its_warnings() -> None:
    loaded = load_file(ROOT / "config" / "reference-fleet.yaml")
    assert loaded.config is not None
    backends = {b.name: b for b in loaded.config.backends}
    graphs = [b for b in backends.values() if b.enabled and b.tier == "graph"]
    by_port = {b.address.port: b for b in graphs}
    assert by_port[12322].npus == (2, 3)
    assert by_port[12322].served_name == "qwen3.5-9b"
    assert by_port[12320].npus == (0, 1)
    assert by_port[12320].served_name == "qwen3.5-27b"
    assert any(b.tier == "eager" and b.served_name == "qwen3.5-9b" for b in backends.values())
    assert any(not b.enabled and b.served_name == "qwen3-8b" for b in backends.values())
    codes = [p.code for p in loaded.problems]
    assert Code.CONTAINER_MISLEADS in codes
    assert Code.SEQS_ABOVE_CAPTURE in codes


def test_the_demos_two_files_agree() -> None:
    loaded = load_file(ROOT / "config" / "demo.yaml")
    assert loaded.config is not None
    routed = {(b.name, b.address.port, b.served_name) for b in loaded.config.backends}
    emulated = {
        (spec.name, spec.port, spec.served_names[0])
        for spec, _ in load_fleet(ROOT / "config" / FLEET)
    }
    assert routed == emulated
