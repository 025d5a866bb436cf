"""Child processes of a bench, and the CPU time that they use; none outlives the bench."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PYTHON: Final = sys.executable
_PR_SET_PDEATHSIG: Final = 1
_STOP_LIMIT_S: Final = 5.0
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


def _dying_with_parent() -> Callable[[], None] | None:
    """What a child does before it begins: have the kernel kill it if the bench is killed."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    return ask


def _environment() -> dict[str, str]:
    """This process's environment, without settings of another gateway and without proxies."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ASCEND_GATEWAY_") and not name.lower().endswith("_proxy")
    }
    return {**own, "PYTHONUNBUFFERED": "1", "NO_PROXY": "*", "no_proxy": "*"}


class Child:
    """One running command; its output goes to a log file."""

    def __init__(self, name: str, command: Sequence[str], folder: Path) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C reaches the bench only, which then ends its children in order.
                start_new_session=True,
                preexec_fn=_dying_with_parent(),
            )

    def __repr__(self) -> str:
        return f"<Child {self.name} pid={self._process.pid} running={self.is_running}>"

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def cpu_s(self) -> float:
        """CPU seconds of the process, all its threads, and its children."""
        return sum(_cpu_ticks(pid) for pid in _tree(self._process.pid)) / _TICKS_PER_S

    def wait(self, limit_s: float) -> int:
        """The exit status; TimeoutError when it runs longer."""
        try:
            return self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{self.name} still runs after {limit_s:g} s") from None

    def stop(self) -> None:
        """Ask the process group to end, and insist after a while."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(TimeoutError):
                self.wait(_STOP_LIMIT_S)
                return

    def tail(self, lines: int = 15) -> str:
        """The last lines that it wrote."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(f"  {line}" for line in text.splitlines()[-lines:])


@contextlib.contextmanager
def children() -> Iterator[list[Child]]:
    """A list for children; all are stopped at the end, the last one started first."""
    started: list[Child] = []
    try:
        yield started
    finally:
        for child in reversed(started):
            child.stop()


def machine_cpu_s() -> float:
    """CPU seconds that this machine has spent on anything at all, cores added up."""
    user, nice, system, _, _, irq, softirq = Path("/proc/stat").read_text().split()[1:8]
    ticks = sum(map(int, (user, nice, system, irq, softirq)))
    return ticks / _TICKS_PER_S


def _tree(pid: int) -> list[int]:
    found, todo = [], [pid]
    while todo:
        current = todo.pop()
        found.append(current)
        for task in Path(f"/proc/{current}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                todo += [int(child) for child in task.read_text().split()]
    return found


def _cpu_ticks(pid: int) -> int:
    """User and system time, that of children which have ended included."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(field) for field in fields[11:15])
