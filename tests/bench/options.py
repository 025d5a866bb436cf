"""The command line of a bench of routing."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bench.contenders import CONTENDERS, GATEWAY, Contender
from tests.bench.peers import PEERS_VENV_VARIABLE, default_venv

LOADS: Final = (0.6, 0.75)
SEEDS: Final = 3
REQUESTS: Final = 300
SCALE: Final = 20.0
QUICK_LOADS: Final = (0.75,)
QUICK_SEEDS: Final = 1
QUICK_REQUESTS: Final = 100


@dataclass(frozen=True, slots=True)
class Options:
    """What to run."""

    seeds: tuple[int, ...]
    loads: tuple[float, ...]
    requests: int
    """Of one run."""
    scale: float
    """How much faster than real cards the emulated ones are."""
    contenders: tuple[Contender, ...]
    peers_venv: Path
    is_missing_allowed: bool
    keep: Path | None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench_routing",
        description="Compare this gateway with other balancers on the same arrivals, live.",
    )
    parser.add_argument("--quick", action="store_true", help="a few minutes: one seed, one load")
    parser.add_argument("--seeds", type=int, metavar="N", help="runs of each pair, seeds 1 to N")
    parser.add_argument("--loads", metavar="RHO,...", help="offered work over ideal capacity")
    parser.add_argument("--requests", type=int, metavar="N", help="requests of one run")
    parser.add_argument("--scale", type=float, default=SCALE, help="speed of the emulated time")
    parser.add_argument(
        "--only", metavar="WORD,...", help="contenders whose name has such a word, and the gateway"
    )
    parser.add_argument(
        "--peers-venv",
        type=Path,
        metavar="DIR",
        default=default_venv(),
        help=f"virtual environment of vllm-router, made if missing (or {PEERS_VENV_VARIABLE}; "
        "default %(default)s)",
    )
    parser.add_argument("--allow-missing", action="store_true", help="go on without some peers")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave logs and files there")
    return parser


def _chosen(only: str | None) -> tuple[Contender, ...]:
    if only is None:
        return CONTENDERS
    parts = [part for part in only.split(",") if part]
    return tuple(c for c in CONTENDERS if c == GATEWAY or any(part in c.name for part in parts))


def parse(arguments: Sequence[str] | None = None) -> Options:
    """The options of the command line; SystemExit for nonsense."""
    parser = _parser()
    given = parser.parse_args(arguments)
    seeds = given.seeds or (QUICK_SEEDS if given.quick else SEEDS)
    requests = given.requests or (QUICK_REQUESTS if given.quick else REQUESTS)
    loads = QUICK_LOADS if given.quick else LOADS
    try:
        loads = loads if given.loads is None else tuple(map(float, given.loads.split(",")))
    except ValueError:
        parser.error("--loads takes numbers with commas between them")
    if seeds < 1 or requests < 2 or given.scale <= 0 or any(load <= 0 for load in loads):
        parser.error("--seeds, --requests, --scale and --loads must be above 0")
    return Options(
        seeds=tuple(range(1, seeds + 1)),
        loads=loads,
        requests=requests,
        scale=given.scale,
        contenders=_chosen(given.only),
        peers_venv=given.peers_venv,
        is_missing_allowed=given.allow_missing,
        keep=given.keep,
    )
