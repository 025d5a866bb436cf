"""How much each key was served of late, so that one that floods does not starve the others."""

import math
from collections.abc import Iterable
from typing import Final

_WINDOW_S: Final = 60.0
_MOST_KEYS: Final = 4096
_FORGOTTEN_S: Final = 0.1


class Served:
    """Seconds of service by key, fading within a minute. Bounded: more keys share one entry."""

    __slots__ = ("_at_s", "_seconds")

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._at_s = -math.inf

    def __repr__(self) -> str:
        return f"<Served {len(self._seconds)} keys>"

    def least_s(self, keys: Iterable[str]) -> float:
        """What the one of these that had least has had; 0 for none."""
        return min((self._seconds.get(key, 0.0) for key in keys), default=0.0)

    def seconds(self, key: str) -> float:
        """What this key has had."""
        return self._seconds.get(key, 0.0)

    def note(self, key: str, service_s: float, now: float) -> None:
        """A request of this key was placed; it is thought to take so long."""
        passed_s = now - self._at_s
        if passed_s > 1.0:
            keep = math.exp(-passed_s / _WINDOW_S)
            kept = ((name, seconds * keep) for name, seconds in self._seconds.items())
            self._seconds = {name: seconds for name, seconds in kept if seconds > _FORGOTTEN_S}
            self._at_s = now
        if len(self._seconds) >= _MOST_KEYS and key not in self._seconds:
            key = ""
        self._seconds[key] = self._seconds.get(key, 0.0) + service_s
