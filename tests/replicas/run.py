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
_ENGINES_SHORT: Final = 4


def say(text: str) -> None:
    """Progress, for whoever waits."""
    print(text, flush=True)


async def _cap(stage: Stage, is_short: bool) -> tuple[list[Goal], dict[str, Any]]:
    # Short turns say nothing of CPU; in both forms there are more clients than places.
    short, full = (
        cap.Plan(200, 1, 10.0, is_compared=False),
        cap.Plan(200, 2, 20.0, is_compared=True),
    )
    return await cap.measure(stage, short if is_short else full)


async def _outage(stage: Stage, is_short: bool) -> tuple[list[Goal], dict[str, Any]]:
    short, full = outage.Plan(24, 1, 1.0, 2.0, 1.0, 20), outage.Plan(60, 3, 3.0, 5.0, 4.0, 40)
    return await outage.measure(stage, short if is_short else full)


async def _rolling(stage: Stage, is_short: bool) -> tuple[list[Goal], dict[str, Any]]:
    short, full = rolling.Plan(20, 1, 1.0, 20), rolling.Plan(40, 2, 2.0, 40)
    return await rolling.measure(stage, short if is_short else full)


async def _modes(stage: Stage, is_short: bool) -> tuple[list[Goal], dict[str, Any]]:
    return await modes.measure(stage)


async def _simulated(stage: Stage, is_short: bool) -> tuple[list[Goal], dict[str, Any]]:
    return await asyncio.to_thread(simulated.measure, 8)


SHORT: Final = ("cap", "outage", "rolling")
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
        if name not in (names or (SHORT if is_short else dict(PARTS))):
            continue
        began_s = time.monotonic()
        place = folder / name
        place.mkdir()
        stage = Stage(place, _ENGINES_SHORT if is_short and name != "cap" else _ENGINES)
        try:
            if name != "simulated":
                await stage.start_engines()
            found, figures[name] = await part(stage, is_short)
        except (RuntimeError, OSError) as error:
            # What does not come within its time is a goal that was missed, and is told as one.
            found, figures[name] = [Goal(f"{name}: {error}", None, "ends", is_met=False)], {}
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
