"""The command line of a reload storm."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.storm.plan import FULL, SHORT

SEED: Final = 20250
BURST_PER_S: Final = 50.0


@dataclass(frozen=True, slots=True)
class Options:
    """What to run."""

    seed: int
    mode: str
    """`full` or `short`."""
    counts: Mapping[str, int]
    rounds: int
    """Stormy phases, each after a calm one."""
    first_calm_s: float
    pause_s: float
    """From one reload to the next."""
    burst_s: float
    time_scale: float
    keep: Path | None


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        prog="reload_storm",
        description="Reload the routing file again and again under load, and look at every answer.",
    )
    parser.add_argument("--seed", type=int, default=SEED, help=f"of all draws (default {SEED})")
    parser.add_argument("--short", action="store_true", help="about half a minute, 20 reloads")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave logs and files there")
    given = parser.parse_args(arguments)
    if given.short:
        return Options(given.seed, "short", SHORT, 3, 4.0, 0.15, 1.0, 5.0, given.keep)
    return Options(given.seed, "full", FULL, 10, 8.0, 0.3, 5.0, 4.0, given.keep)
