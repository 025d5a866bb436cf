"""Measures several gateways that share a store; see scripts/replicas.py."""

import argparse
import asyncio
import json
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from tests.replicas import cap, modes, outage, rolling, simulated
from tests.replicas.report import Goal, as_tree
from tests.replicas.stage import Stage

Part = Callable[[Stage, bool], Awaitable[tuple[list[Goal], dict[str, Any]]]]

_ENGINES: Final = 16


def say(text: str) -> None:
    """Progress, for whoever waits."""
    print(text, flush=True)


async def _cap(stage: Stage, is_short: bool) -> tuple[list[Goal], dict[str, Any]]:
    clients, rounds, seconds = (200, 1, 10.0) if is_short else (200, 3, 20.0)
    return await cap.measure(stage, clients, rounds, seconds, is_cpu_a_goal=not is_short)


async def _outage(stage: Stage, is_short: bool) -> tuple[list[Goal], dict[str, Any]]:
    return await outage.measure(stage, 30 if is_short else 60, 1 if is_short else 3)


async def _rolling(stage: Stage, is_short: bool) -> tuple[list[Goal], dict[str, Any]]:
    return await rolling.measure(stage, 20 if is_short else 40, 1 if is_short else 2)


async def _modes(stage: Stage, is_short: bool) -> tuple[list[Goal], dict[str, Any]]:
    return ([], {}) if is_short else await modes.measure(stage)


async def _simulated(stage: Stage, is_short: bool) -> tuple[list[Goal], dict[str, Any]]:
    return await asyncio.to_thread(simulated.measure, 2 if is_short else 8)


PARTS: Final[tuple[tuple[str, Part], ...]] = (
    ("cap", _cap),
    ("outage", _outage),
    ("rolling", _rolling),
    ("modes", _modes),
    ("simulated", _simulated),
)


async def _run(is_short: bool, names: list[str], folder: Path) -> tuple[list[Goal], dict[str, Any]]:
    goals: list[Goal] = []
    figures: dict[str, Any] = {}
    for name, part in PARTS:
        if names and name not in names:
            continue
        began_s = time.monotonic()
        place = folder / name
        place.mkdir()
        stage = Stage(place, _ENGINES)
        try:
            if name != "simulated":
                await stage.start_engines()
            found, figures[name] = await part(stage, is_short)
        finally:
            await stage.close()
        figures[name]["took_s"] = round(time.monotonic() - began_s, 1)
        for goal in found:
            say(
                f"{'met   ' if goal.is_met else 'MISSED'} {goal.name}: {goal.value} ({goal.target})"
            )
        goals += found
    return goals, figures


def main() -> int:
    """Runs the parts; 0 if all goals were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a minute instead of five")
    parser.add_argument("--only", action="append", default=[], choices=[n for n, _ in PARTS])
    parser.add_argument("--keep", type=Path, help="folder for the logs of all processes")
    options = parser.parse_args()
    # Ending by a signal must end the children as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="replicas-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        goals, figures = asyncio.run(_run(options.short, options.only, folder))
    missed = [goal.name for goal in goals if not goal.is_met]
    say(f"goals missed: {', '.join(missed)}" if missed else "all goals met")
    mode = "short" if options.short else "full"
    print(json.dumps({"measured": "replicas", "mode": mode, **as_tree(goals, figures)}))
    return 1 if missed else 0
