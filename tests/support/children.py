"""Child processes of a harness: none outlives it, whatever ends it."""

import asyncio
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PYTHON: Final = sys.executable
COMMAND: Final = (PYTHON, "-m", "gateway.cli.main")
_PR_SET_PDEATHSIG: Final = 1
_STOP_LIMIT_S: Final = 10.0
_POLL_S: Final = 0.02


def spawn(
    command: Sequence[str], log: Path, env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a command whose output is added to `log`; the kernel kills it if we are killed.

    `env` are variables beside this process's own.
    """
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env={**_environment(log.parent / "state"), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Ctrl-C reaches the harness only, which then ends its children in order.
            start_new_session=True,
            preexec_fn=_dying_with_parent(),
        )


def last_lines(log: Path, lines: int) -> str:
    """The end of a log, indented; "" without one."""
    if not log.exists():
        return ""
    text = log.read_text(encoding="utf-8", errors="replace")
    return "\n".join(f"  {line}" for line in text.splitlines()[-lines:])


class Child:
    """The gateway's command, started again and again; its output is added to one log file."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self.log.unlink(missing_ok=True)
        self._process: subprocess.Popen[bytes] | None = None

    def __repr__(self) -> str:
        return f"<Child {self.name} pid={self.pid} running={self.is_running}>"

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, *arguments: str, env: Mapping[str, str] | None = None) -> None:
        """Run the gateway's command with these arguments."""
        assert not self.is_running, f"{self.name} runs already"
        self._process = spawn([*COMMAND, *arguments], self.log, env)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; a process that has ended takes none."""
        if self._process is not None and self.is_running:
            self._process.send_signal(number)

    def kill(self) -> None:
        """End it at once, stopped or not, and wait for its end."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            self._process.wait()

    async def until_ended(self, limit_s: float = _STOP_LIMIT_S) -> int | None:
        """The exit status; None if it still runs after the limit."""
        if self._process is None:
            return None
        for _ in range(int(limit_s / _POLL_S)):
            if self._process.poll() is not None:
                break
            await asyncio.sleep(_POLL_S)
        return self._process.poll()

    async def stop(self) -> None:
        """Ask it to end, and insist after a while."""
        self.signal(signal.SIGTERM)
        if await self.until_ended() is None:
            self.kill()

    def tail(self, lines: int = 20) -> str:
        """The last lines that it wrote."""
        return last_lines(self.log, lines)


@contextlib.contextmanager
def children_end() -> Iterator[list[Child]]:
    """A list for children; all of them are dead at the end, however the end comes."""
    children: list[Child] = []
    try:
        yield children
    finally:
        for child in children:
            child.kill()


def _dying_with_parent() -> Callable[[], None] | None:
    """What a child does before it begins: have the kernel kill it if the harness is killed."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    return ask


def _environment(state: Path) -> dict[str, str]:
    """This process's environment, without settings of another gateway and without proxies."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ASCEND_GATEWAY_") and not name.lower().endswith("_proxy")
    }
    fixed = {"PYTHONUNBUFFERED": "1", "NO_PROXY": "*", "no_proxy": "*"}
    return {**own, **fixed, "XDG_STATE_HOME": str(state)}
