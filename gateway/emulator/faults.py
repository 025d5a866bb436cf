"""Faults that a backend can be told to have, while it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any


class FaultKind(StrEnum):
    """What goes wrong. `after_events` counts SSE events of a stream already sent."""

    CRASH_AT_FIRST_INFERENCE = "crash_at_first_inference"
    """Healthy until the first generation, which kills the engine."""
    ENGINE_DEAD = "engine_dead"
    """In-flight: 500, or an error event and [DONE]; /health 503 for a moment; then refused."""
    HANG = "hang"
    """/health stays 200, the engine stands still and its gauges with it."""
    SIGTERM_HANG = "sigterm_hang"
    """The port refuses; open requests get no byte and no end."""
    SIGTERM_ERROR = "sigterm_error"
    """The port refuses; open requests end as with a dead engine."""
    SIGTERM_ABORT = "sigterm_abort"
    """The port refuses; open requests end with finish_reason `abort`, status 200."""
    CUT_RST = "cut_rst"
    """The connection is reset in the middle of the answer."""
    CUT_FIN = "cut_fin"
    """The connection ends without the last chunk (or before content-length is reached)."""
    CUT_CLEAN = "cut_clean"
    """The stream ends properly for HTTP, but with no finish_reason and no [DONE]."""
    STALL = "stall"
    """No more bytes on an open connection, while the engine goes on."""
    MALFORMED_EVENT = "malformed_event"
    """One event that is no JSON, then the stream goes on."""
    SLOW_START = "slow_start"
    """The port refuses for `delay_s`, then serves."""
    WRONG_NAME = "wrong_name"
    """Another model is served here: `name` instead of the configured ids."""
    RESET = "reset"
    """The connection is reset before any byte of the answer."""
    SILENCE = "silence"
    """The request is taken and never answered."""
    STATUS_429 = "status_429"
    STATUS_500 = "status_500"
    STATUS_503 = "status_503"
    CAPTURE_FAILURE = "capture_failure"
    """The server dies while it captures graphs: the port never serves."""
    REFUSE_PREFILL = "refuse_prefill"
    """400 for a chat whose last message is the assistant's."""


STREAM_FAULTS = frozenset(
    {
        FaultKind.CUT_RST,
        FaultKind.CUT_FIN,
        FaultKind.CUT_CLEAN,
        FaultKind.STALL,
        FaultKind.MALFORMED_EVENT,
    }
)
"""Faults in the middle of an answer."""

BEFORE_FAULTS = frozenset(
    {
        FaultKind.RESET,
        FaultKind.SILENCE,
        FaultKind.STATUS_429,
        FaultKind.STATUS_500,
        FaultKind.STATUS_503,
    }
)
"""Faults in place of an answer."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault and when it strikes."""

    kind: FaultKind
    after_events: int = 0
    """Events of a stream that still pass. A non-stream answer is cut in half if this is 0 or 1."""
    count: int | None = None
    """How many requests it strikes; None means all until it is cleared."""
    paths: tuple[str, ...] = ()
    """Paths it applies to; empty means every inference path."""
    retry_after_s: float | None = None
    """Retry-After of a status fault, in seconds."""
    delay_s: float = 0.1
    """How long /health says 503 after an engine's death, or how long a slow start refuses."""
    restart_after_s: float | None = None
    """A dead backend comes back on its port after this; None means it stays dead."""
    name: str = "another-model"
    """The id that WRONG_NAME serves."""

    def __post_init__(self) -> None:
        """Raise ValueError for a field that could only fail later, in the middle of an answer."""
        _check_whole("after_events", self.after_events, least=0)
        if self.count is not None:
            _check_whole("count", self.count, least=1)
        if not isinstance(self.paths, tuple) or not all(isinstance(p, str) for p in self.paths):
            raise ValueError(f"paths must be a list of strings, got {self.paths!r}")
        for name in ("retry_after_s", "delay_s", "restart_after_s"):
            value = getattr(self, name)
            if value is None and name != "delay_s":
                continue
            if not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0:
                raise ValueError(f"{name} must be a number of seconds, got {value!r}")
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"name must be a model id, got {self.name!r}")


def _check_whole(name: str, value: Any, *, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number from {least} up, got {value!r}")


def parse_fault(value: Mapping[str, Any]) -> Fault:
    """A fault from JSON, e.g. {"kind": "cut_rst", "after_events": 3}. ValueError explains."""
    if not isinstance(value, Mapping):
        raise ValueError(f"a fault is an object with at least `kind`, got {value!r}")
    known = {entry.name for entry in fields(Fault)}
    unknown = sorted(set(value) - known)
    if unknown:
        raise ValueError(f"unknown fault fields {unknown}; use {sorted(known)}")
    try:
        kind = FaultKind(value.get("kind", ""))
    except ValueError:
        kinds = ", ".join(FaultKind)
        raise ValueError(f"unknown fault kind {value.get('kind')!r}; use one of {kinds}") from None
    rest = {key: entry for key, entry in value.items() if key != "kind"}
    if isinstance(rest.get("paths"), list):
        rest["paths"] = tuple(rest["paths"])
    return replace(Fault(kind), **rest)


def fault_json(fault: Fault) -> dict[str, Any]:
    """The JSON form of a fault."""
    return {entry.name: getattr(fault, entry.name) for entry in fields(Fault)}


class FaultBoard:
    """The faults of one backend; finds the one that strikes a request and counts it."""

    __slots__ = ("_faults",)

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def set(self, fault: Fault) -> None:
        """Add a fault; one of the same kind on the same paths is replaced."""
        self._faults = [
            old for old in self._faults if (old.kind, old.paths) != (fault.kind, fault.paths)
        ]
        self._faults.append(fault)

    def clear(self) -> None:
        """Remove all faults."""
        self._faults.clear()

    def all(self) -> tuple[Fault, ...]:
        """The faults that are set, with the counts that are left."""
        return tuple(self._faults)

    def find(self, kinds: frozenset[FaultKind], path: str, *, inference: bool) -> Fault | None:
        """The fault of one of `kinds` that applies to a request for `path`."""
        for fault in self._faults:
            if fault.kind in kinds and (path in fault.paths if fault.paths else inference):
                return fault
        return None

    def strike(self, kinds: frozenset[FaultKind], path: str, *, inference: bool) -> Fault | None:
        """Like `find`, and one less is left of its count."""
        fault = self.find(kinds, path, inference=inference)
        if fault is not None and fault.count is not None:
            index = self._faults.index(fault)
            if fault.count <= 1:
                del self._faults[index]
            else:
                self._faults[index] = replace(fault, count=fault.count - 1)
        return fault
