"""The command line of a chaos run."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.chaos.schedule import NAMES, SHORT_NAMES

SEED: Final = 20250
FULL_REQUESTS: Final = 2000
SHORT_REQUESTS: Final = 300
ONLY_REQUESTS: Final = 200
NO_FAULTS: Final = "none"


@dataclass(frozen=True, slots=True)
class Options:
    """What to run."""

    seed: int
    requests: int
    mode: str
    """`full`, `short` or `only`; the document is written by a full run alone."""
    names: tuple[str, ...]
    """Names of the plans that take turns."""
    keep: Path | None
    is_spoiled: bool

    @property
    def per_strike(self) -> int:
        """Requests that must begin while a fault lasts."""
        return 10 if self.mode == "short" else 25

    @property
    def per_calm(self) -> int:
        """Requests that begin between two faults."""
        return 4 if self.mode == "short" else 12

    @property
    def is_document_written(self) -> bool:
        return self.mode == "full" and self.requests >= FULL_REQUESTS and not self.is_spoiled


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        prog="chaos",
        description="Disturb a fleet of emulated backends under load, and look at every answer.",
    )
    parser.add_argument("--seed", type=int, default=SEED, help=f"of all draws (default {SEED})")
    parser.add_argument("--requests", type=int, help="least number of requests")
    parser.add_argument("--short", action="store_true", help="about a minute, some faults only")
    parser.add_argument(
        "--only",
        metavar="FAULT",
        choices=(NO_FAULTS, *NAMES),
        help="this fault alone: " + ", ".join((NO_FAULTS, *NAMES)),
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave logs and files there")
    parser.add_argument(
        "--spoil", action="store_true", help="expect wrong answers, to see that they are noticed"
    )
    given = parser.parse_args(arguments)
    if given.requests is not None and given.requests < 1:
        parser.error("--requests must be at least 1")
    if given.only is not None:
        mode, least = "only", ONLY_REQUESTS
        names: tuple[str, ...] = () if given.only == NO_FAULTS else (given.only,)
    elif given.short:
        mode, least, names = "short", SHORT_REQUESTS, SHORT_NAMES
    else:
        mode, least, names = "full", FULL_REQUESTS, NAMES
    return Options(given.seed, given.requests or least, mode, names, given.keep, given.spoil)
