"""One timer for one connection, which follows the phase of its exchange."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass

from gateway.errors import Phase

# uvloop counts in whole milliseconds, so a timer may fire this much early.
_EARLY_S = 0.002


@dataclass(frozen=True, slots=True)
class PhaseLimits:
    """How long the phases of one exchange may take, in seconds; math.inf means without limit.

    - `connect_s`: resolving, connecting and the TLS handshake together.
    - `first_byte_s`: from the moment the whole request was taken by the socket until the whole
      head of the final answer is there, or of an event stream the first piece of its body; interim
      answers (1xx) do not end it.
    - `between_s`: without a byte from the backend once the head is there, not counting the time
      in which we ourselves stopped reading because our reader lags; and, while a request is being
      sent, without the backend taking a byte (phase `send`), not counting waits for the body's
      source.
    - `total_s`: from the call of `send` until the end of the answer, whatever happens.
    """

    connect_s: float
    first_byte_s: float
    between_s: float
    total_s: float


class PhaseTimer:
    """Calls `on_limit(phase, limit_s)` when the current phase took too long.

    Progress only writes `mark_s`; the loop's timer is set anew when it fires too early, not when
    progress is made. It stays set across exchanges of one connection for the same reason.
    """

    __slots__ = (
        "_armed_at_s",
        "_handle",
        "_is_held",
        "_limits",
        "_loop",
        "_on_limit",
        "_total_at_s",
        "mark_s",
        "phase",
    )

    def __init__(
        self, loop: asyncio.AbstractEventLoop, on_limit: Callable[[Phase, float], None]
    ) -> None:
        self._loop = loop
        self._on_limit = on_limit
        self._handle: asyncio.TimerHandle | None = None
        self._armed_at_s = math.inf
        self._limits: PhaseLimits | None = None
        self._total_at_s = math.inf
        self._is_held = False
        self.phase = Phase.SEND
        self.mark_s = 0.0

    def start(self, limits: PhaseLimits, total_at_s: float, phase: Phase) -> None:
        """Begin an exchange; `total_at_s` is the loop time at which all must be over."""
        self._limits = limits
        self._total_at_s = total_at_s
        self.enter(phase)

    def enter(self, phase: Phase) -> None:
        """Begin a phase."""
        self.phase = phase
        self.go_on()

    def hold(self) -> None:
        """Stop the clock of the phase: it is not the backend that we wait for."""
        self._is_held = True

    def go_on(self) -> None:
        """Start the clock of the phase again from zero."""
        self._is_held = False
        self.mark_s = self._loop.time()
        self._arm()

    def stop(self) -> None:
        """The exchange is over."""
        self._limits = None

    def close(self) -> None:
        """Let go of the loop."""
        self._limits = None
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _phase_limit_s(self, limits: PhaseLimits) -> float:
        return limits.first_byte_s if self.phase is Phase.FIRST_BYTE else limits.between_s

    def _deadline_s(self) -> float:
        limits = self._limits
        if limits is None:
            return math.inf
        if self._is_held:
            return self._total_at_s
        return min(self.mark_s + self._phase_limit_s(limits), self._total_at_s)

    def _arm(self) -> None:
        deadline_s = self._deadline_s()
        if deadline_s == math.inf:
            return
        if self._handle is not None:
            if self._armed_at_s <= deadline_s:
                return
            self._handle.cancel()
        self._armed_at_s = deadline_s
        self._handle = self._loop.call_at(deadline_s, self._fire)

    def _fire(self) -> None:
        self._handle = None
        limits = self._limits
        if limits is None:
            return
        now_s = self._loop.time() + _EARLY_S
        if now_s < self._deadline_s():
            self._arm()
        elif now_s >= self._total_at_s:
            self._on_limit(Phase.TOTAL, limits.total_s)
        else:
            self._on_limit(self.phase, self._phase_limit_s(limits))
