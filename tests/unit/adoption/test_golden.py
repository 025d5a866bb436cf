"""Sources as operators have them -> the routing file and the findings that are expected.

`python scripts/golden_adoption.py` writes what is expected again; look at the difference.
"""

from pathlib import Path

import pytest

from gateway.config.export import routing_yaml
from gateway.config.load import load_text
from tests.support.adopted import EXPECTED, adopted, folders


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_a_source_gives_what_is_expected(folder: Path) -> None:
    made = adopted(folder)
    expected = EXPECTED / f"{folder.name}.yaml"
    assert made.routing_file == expected.read_text(encoding="utf-8")
    assert made.findings == expected.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_the_routing_file_passes_the_check_and_round_trips(folder: Path) -> None:
    loaded = load_text(adopted(folder).routing_file, "routing.yaml")
    assert not loaded.errors, loaded.render()
    assert loaded.config is not None
    again = load_text(routing_yaml(loaded.config), "again.yaml")
    assert again.config == loaded.config


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_no_secret_is_copied(folder: Path) -> None:
    made = adopted(folder)
    for text in made:
        assert "sk-" not in text


def test_nothing_is_expected_of_cases_that_are_gone() -> None:
    names = {folder.name for folder in folders()}
    assert {path.stem for path in EXPECTED.iterdir()} == names
    assert len(names) > 40
