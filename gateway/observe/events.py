"""What happened, as records: logged, and kept in a bounded ring for operators."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from gateway.fleet.change import Change
from gateway.observe.logs import Level, Log

_KEPT: Final = 2000


class Events:
    """The last events. Each has a number that rises by one, a time (seconds since 1970) and a kind.

    Kinds: `backend_state`, `backend_breaker`, `backend_drift`; `attempt_failed`, `retry`, `resume`,
    `given_up` of a request; `requests_moved` when a dead backend's requests are taken from it.
    """

    def __init__(self, log: Log, wall_s: Callable[[], float], kept: int = _KEPT) -> None:
        self._log = log
        self._wall_s = wall_s
        self._ring: deque[Mapping[str, Any]] = deque(maxlen=kept)
        self._count = 0

    def __repr__(self) -> str:
        return f"<Events {len(self._ring)} of {self._count}>"

    def add(self, level: Level, kind: str, **fields: Any) -> None:
        """Notes and logs one event; fields that are None are left out."""
        self._count += 1
        told = {name: value for name, value in fields.items() if value is not None}
        at_s = round(self._wall_s(), 3)
        self._ring.append({"number": self._count, "at_s": at_s, "kind": kind, **told})
        self._log.event(level, kind, **told)

    def changed(self, changes: Iterable[Change]) -> None:
        """Notes transitions of a backend."""
        for change in changes:
            is_bad = change.after not in ("up", "starting", "closed", "none", "draining")
            self.add(
                "warning" if is_bad else "info",
                f"backend_{change.what}",
                backend=change.backend,
                before=change.before or None,
                after=change.after,
                reason=change.reason,
            )

    def since(
        self, number: int = 0, *, backend: str | None = None, kind: str | None = None
    ) -> list[Mapping[str, Any]]:
        """The kept events after `number`, oldest first, of one backend or kind if it is given."""
        return [
            event
            for event in self._ring
            if event["number"] > number
            and (backend is None or event.get("backend") == backend)
            and (kind is None or event["kind"] == kind)
        ]

    @property
    def last_number(self) -> int:
        """The number of the newest event; 0 before the first."""
        return self._count
