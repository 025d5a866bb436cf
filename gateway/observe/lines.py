"""Log lines written by a thread, so that a slow terminal or pipe never holds the event loop."""

import threading
from collections import deque
from typing import BinaryIO, Final

_LINES_KEPT: Final = 20_000
# Lines of so long a time are written together: waking the thread for each would cost the event
# loop more than the request that the line tells of.
_GATHER_S: Final = 0.1


class LineWriter:
    """A bounded buffer of lines with one writing thread.

    When the reader of the log is too slow and the buffer is full, new lines are dropped and
    counted in `dropped`.
    """

    def __init__(self, out: BinaryIO, lines_kept: int = _LINES_KEPT) -> None:
        self._out = out
        self._lines: deque[bytes] = deque()
        self._lines_kept = lines_kept
        self._closing = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="log-writer", daemon=True)
        self.dropped = 0
        self._thread.start()

    def __repr__(self) -> str:
        return f"<LineWriter {len(self._lines)} lines waiting, {self.dropped} dropped>"

    def write(self, line: bytes) -> None:
        """Queues one line without its line end; never blocks."""
        if len(self._lines) >= self._lines_kept:
            self.dropped += 1
            return
        self._lines.append(line)
        if not self._wake.is_set():
            self._wake.set()

    def close(self, limit_s: float = 2.0) -> None:
        """Writes what is left, within the limit."""
        self._closing.set()
        self._wake.set()
        self._thread.join(limit_s)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            is_last = self._closing.wait(_GATHER_S)
            self._wake.clear()
            if not self._write_all() or is_last:
                return

    def _write_all(self) -> bool:
        taken: list[bytes] = []
        while self._lines:
            taken.append(self._lines.popleft())
        if not taken:
            return True
        try:
            self._out.write(b"\n".join(taken) + b"\n")
            self._out.flush()
        except (OSError, ValueError):
            # The reader of the log is gone; requests go on without one.
            self.dropped += len(taken)
            return False
        return True
