"""Time as a value, so that tests can move it."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """Two readings of time.

    `monotonic_s` orders events and measures waits; `wall_s` is seconds since 1970 for people.
    """

    monotonic_s: Callable[[], float] = time.monotonic
    wall_s: Callable[[], float] = time.time
