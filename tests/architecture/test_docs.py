"""The documents say what the code does: commands, files, error codes and links are checked."""

import re
import subprocess
from pathlib import Path

import pytest

from gateway.cli.main import COMMANDS
from gateway.errors import Outcome

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = tuple(
    sorted(
        path
        for pattern in ("*.md", "docs/**/*.md", "config/**/*.md", "deploy/**/*.md")
        for path in ROOT.glob(pattern)
    )
)
READMES = (ROOT / "README.md", ROOT / "README.zh-CN.md")
TARGETS = frozenset(
    re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
)


def by_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("document", DOCUMENTS, ids=by_name)
def test_every_make_command_in_a_document_exists(document: Path) -> None:
    named = set(re.findall(r"`(?:\$ )?make ([a-z][a-z-]*)", document.read_text(encoding="utf-8")))
    named |= set(
        re.findall(r"^\s*make ([a-z][a-z-]*)", document.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert named <= TARGETS


@pytest.mark.parametrize("document", DOCUMENTS, ids=by_name)
def test_every_subcommand_in_a_document_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^\s*|`|\$ )ascend-gateway ([a-z]+)", text, re.MULTILINE))
    assert named <= set(COMMANDS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=by_name)
def test_every_relative_link_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8"))
    missing = [
        link for link in links if "://" not in link and not (document.parent / link).exists()
    ]
    assert not missing


@pytest.mark.parametrize("readme", READMES, ids=by_name)
def test_readme_names_the_commands_that_ci_runs(readme: Path) -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    text = readme.read_text(encoding="utf-8")
    for command in ("make demo", "make test"):
        assert command in ci
        assert command in text


@pytest.mark.parametrize("readme", READMES, ids=by_name)
def test_readme_shows_the_first_routing_file_as_it_is(readme: Path) -> None:
    example = (ROOT / "config" / "two-containers.yaml").read_text(encoding="utf-8")
    assert f"```yaml\n{example}```" in readme.read_text(encoding="utf-8")


def test_every_outcome_is_in_the_error_reference() -> None:
    text = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    assert [outcome for outcome in Outcome if f"`{outcome}`" not in text] == []


def test_make_help_lists_every_target() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {line.split()[1] for line in done.stdout.splitlines()} == TARGETS


def test_the_locks_name_exact_versions_and_no_address() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        pins = [line for line in lines if line and not line.startswith("#")]
        assert pins
        assert [p for p in pins if not re.fullmatch(r"[a-z0-9-]+==[\w.+]+(; [^/]+)?", p)] == []


def test_the_runtime_lock_is_part_of_the_full_one() -> None:
    runtime, full = (
        set((ROOT / name).read_text(encoding="utf-8").splitlines())
        for name in ("requirements.lock", "requirements-dev.lock")
    )
    assert runtime <= full
