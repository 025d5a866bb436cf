"""The programs of others: found, or installed outside this tree, or told to be missing."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

VLLM_ROUTER: Final = "vllm-router==0.1.17"
PEERS_VENV_VARIABLE: Final = "BENCH_PEERS_VENV"
_INSTALL_LIMIT_S: Final = 300.0
_SHOWN_CHARACTERS: Final = 300


@dataclass(frozen=True, slots=True)
class Tools:
    """Paths of what is there, and why the rest is not, by name."""

    vllm_router: Path | None
    nginx: Path | None
    missing: Mapping[str, str] = field(default_factory=dict)


def default_venv() -> Path:
    """The virtual environment of the peers unless one is named."""
    named = os.environ.get(PEERS_VENV_VARIABLE)
    return Path(named) if named else Path.home() / ".cache" / "ascend-gateway" / "bench-peers"


def find_tools(venv: Path) -> Tools:
    """All peers; vllm-router is installed into `venv` when it is not there yet."""
    missing: dict[str, str] = {}
    router: Path | None = venv.resolve() / "bin" / "vllm-router"
    if router is not None and not router.exists():
        reason = _install(venv.resolve())
        if reason is not None:
            missing["vllm-router"], router = reason, None
    # Debian keeps it where only root looks.
    nginx = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if nginx is None:
        missing["nginx"] = "nginx is not installed (Debian: apt-get install nginx-light)"
    return Tools(router, None if nginx is None else Path(nginx), missing)


def _install(venv: Path) -> str | None:
    """Make the environment; why it did not work, or None."""
    pip = [str(venv / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    commands = (
        [sys.executable, "-m", "venv", str(venv)],
        [*pip, "install", "--quiet", VLLM_ROUTER],
    )
    for command in commands:
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_INSTALL_LIMIT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{' '.join(command)}: {error}"
        if done.returncode != 0:
            return f"{' '.join(command)}: {done.stderr.strip()[-_SHOWN_CHARACTERS:]}"
    return None
