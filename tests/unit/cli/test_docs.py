from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.cli.docs import docs, pages, routing_page, settings_page
from gateway.config.backend import BackendConfig
from gateway.config.codes import Code, Severity
from gateway.config.kinds import KINDS
from gateway.config.schema import ModelConfig
from gateway.settings import ENV_PREFIX, Settings

ROOT = Path(__file__).resolve().parents[3]


def run(root: Path, *options: str):
    return CliRunner().invoke(docs, ["--root", str(root), *options])


def test_the_pages_on_disk_are_current():
    stale = [str(path) for path, text in pages().items() if (ROOT / path).read_text() != text]
    assert stale == [], "run `python -m gateway.cli.docs`"


def test_pages_are_the_same_every_time():
    assert pages() == pages()


def test_writes_what_is_missing_or_stale_and_nothing_else(tmp_path):
    assert run(tmp_path, "--check").exit_code == 1
    assert list(tmp_path.iterdir()) == []
    first = run(tmp_path)
    assert first.exit_code == 0
    assert first.output.splitlines() == [f"writing {path}" for path in pages()]
    assert {path: (tmp_path / path).read_text(encoding="utf-8") for path in pages()} == pages()
    (tmp_path / "docs/reference/settings.md").write_text("old")
    told = run(tmp_path, "--check")
    assert (told.exit_code, told.output) == (1, "docs/reference/settings.md is out of date\n")
    assert run(tmp_path).output == "writing docs/reference/settings.md\n"
    assert (run(tmp_path, "--check").exit_code, run(tmp_path).output) == (0, "")


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_explained(name):
    (row,) = (
        row for row in settings_page().splitlines() if f"| `{ENV_PREFIX}{name.upper()}`" in row
    )
    assert row.count("|") - row.count("\\|") == 5
    assert row.split("|")[-2].strip()


@pytest.mark.parametrize("code", Code)
def test_every_problem_stands_below_its_severity(code):
    errors, warnings = routing_page().partition("### Errors")[2].split("### Warnings")
    is_error = KINDS[code].severity is Severity.ERROR
    assert (f"| `{code}` |" in errors, f"| `{code}` |" in warnings) == (is_error, not is_error)


@pytest.mark.parametrize("name", [*BackendConfig.model_fields, *ModelConfig.model_fields])
def test_every_field_is_explained(name):
    assert f"| `{name}` |" in routing_page()
