"""Child processes of a bench, and the CPU time that they use; none outlives the bench."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.support.children import last_lines, spawn

_STOP_LIMIT_S: Final = 5.0
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")


class Child:
    """One running command; its output goes to a log file."""

    def __init__(self, name: str, command: Sequence[str], folder: Path) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self.log.unlink(missing_ok=True)
        self._process = spawn(command, self.log)

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
        return last_lines(self.log, lines)


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
