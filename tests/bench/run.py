"""A live comparison of routing: the same arrivals through this gateway and through others.

    python scripts/bench_routing.py [--quick] [--seeds N] [--requests N] [--only WORD] [--keep DIR]

Tables go to stderr, one JSON object to the last line of stdout. The exit status is 0 when all
targets are met, 1 when one is missed, 2 when a contender is missing or could not be run.
"""

import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from tests.bench.arrivals import make
from tests.bench.contenders import Contender, Kind
from tests.bench.options import Options, parse
from tests.bench.peers import Tools, find_tools
from tests.bench.report import as_json, line_of, ratio_lines, table
from tests.bench.trial import Trial, TrialError, run_trial
from tests.bench.verdict import comparisons, missed


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def order(
    options: Options, contenders: Sequence[Contender]
) -> Iterator[tuple[int, float, Contender]]:
    """Seed, load and contender of every run; who is first rotates, so that drift hits all alike."""
    turn = 0
    for seed in options.seeds:
        for load in options.loads:
            for place in range(len(contenders)):
                yield seed, load, contenders[(turn + place) % len(contenders)]
            turn += 1


def present(options: Options, tools: Tools) -> list[Contender]:
    """The contenders whose program is there."""
    is_there = {Kind.VLLM_ROUTER: tools.vllm_router, Kind.NGINX: tools.nginx}
    return [c for c in options.contenders if is_there.get(c.kind, True) is not None]


def run_all(options: Options, tools: Tools, folder: Path, failed: dict[str, str]) -> list[Trial]:
    """Every run in turn. A contender that can't be run is told in `failed` and left out."""
    trials: list[Trial] = []
    for number, (seed, load, contender) in enumerate(order(options, present(options, tools))):
        if contender.name in failed:
            continue
        try:
            trial = run_trial(
                contender,
                load,
                seed,
                make(seed, load, options.requests),
                scale=options.scale,
                tools=tools,
                folder=folder / f"run-{number:02}",
            )
        except (TrialError, OSError) as error:
            failed[contender.name] = str(error)
            say(f"{contender.name} is left out: {error}")
            continue
        say(line_of(trial))
        trials.append(trial)
    return trials


def bench(options: Options, folder: Path) -> int:
    """Run, compare, tell; the exit status."""
    began = time.monotonic()
    tools = find_tools(options.peers_venv)
    wanted = {contender.kind.value for contender in options.contenders}
    missing = {name: reason for name, reason in tools.missing.items() if name in wanted}
    for name, reason in missing.items():
        say(f"{name} is missing: {reason}")
    failed: dict[str, str] = {}
    is_run = not missing or options.is_missing_allowed
    trials = run_all(options, tools, folder, failed) if is_run else []
    found = comparisons(trials, options.loads)
    below = missed(trials, found, options.loads)
    for load in options.loads:
        say("\n" + table(trials, load))
    say("\n" + "\n".join(ratio_lines(comparison) for comparison in found if comparison.ratios))
    say("\n".join(f"MISSED {text}" for text in below) or "all targets are met")
    say(f"took {(time.monotonic() - began) / 60:.1f} minutes")
    told = as_json(options, trials, found, missing | failed, below)
    print(json.dumps(told, ensure_ascii=False), flush=True)
    if failed or (missing and not options.is_missing_allowed):
        return 2
    return 1 if below else 0


def _end(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """The command."""
    options = parse()
    # Both end the children in order, as Ctrl-C does.
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGHUP, _end)
    folder = Path(tempfile.mkdtemp(prefix="bench-routing-")) if options.keep is None else None
    work = folder or options.keep
    assert work is not None
    status = 2
    try:
        status = bench(options, work.resolve())
    except KeyboardInterrupt:
        say("\nbroken off")
        status = 130
    finally:
        if folder is not None and status in (0, 1):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            say(f"logs are in {work}")
    return status
