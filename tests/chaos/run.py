"""A chaos run: faults by a seed under steady load, every answer compared with the expected one.

    python scripts/chaos.py [--short] [--only FAULT] [--seed N] [--requests N] [--keep DIR]

The table goes to stderr, one JSON object to the last line of stdout. The exit status is 0 when all
targets are met, 1 when one is missed, 2 when the run could not be set up.
"""

import asyncio
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import httpx
import openai

from tests.chaos.drill import ChaosError, Drill, Driller
from tests.chaos.failures import FailureFile
from tests.chaos.judge import Verdict
from tests.chaos.load import REQUEST_LIMIT_S, Load
from tests.chaos.options import Options, parse
from tests.chaos.report import NEW_DOCUMENT, Run, fault_rows, section, summary, table, with_section
from tests.chaos.scene import Scene, set_up
from tests.chaos.schedule import rounds
from tests.chaos.watch import Watch
from tests.support import names
from tests.support.children import ROOT, children_end
from tests.support.waiting import eventually

DOCUMENT: Final = ROOT / "docs" / "failures.md"
DRAIN_LIMIT_S: Final = 240.0
IDLE_LIMIT_S: Final = 20.0


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def chaos(options: Options, folder: Path) -> tuple[Run, FailureFile]:
    """Set up, disturb, judge and tear down."""
    run = Run(options.seed, options.mode, options.requests)
    began, offset_s = time.monotonic(), time.time() - time.monotonic()
    drills: list[Drill] = []
    failures = FailureFile(folder / "failures.jsonl", drills, lambda at_s: at_s + offset_s)
    with children_end() as children:
        say(f"starting the fleet and the gateway; logs are in {folder}")
        scene = await set_up(folder, children, options.seed)
        watch = Watch(scene.base_url, scene.gateway)
        try:
            await _disturb(options, scene, watch, run, drills, failures)
        except* (ChaosError, RuntimeError, httpx.HTTPError) as group:
            run.stopped_by = "; ".join(str(error) for error in group.exceptions)
        finally:
            await watch.close()
        await scene.gateway.stop()
        run.gateway_exit_code = await scene.gateway.until_ended()
        run.crash_lines = scene.crash_lines()
    run.cpu_ratio = round(_cpu_s() / (time.monotonic() - began) / (os.cpu_count() or 1), 3)
    return run, failures


async def _disturb(
    options: Options,
    scene: Scene,
    watch: Watch,
    run: Run,
    drills: list[Drill],
    failures: FailureFile,
) -> None:
    """Load and faults, from the first request until the last has ended."""
    oracle = scene.oracle.spoiled() if options.is_spoiled else scene.oracle
    async with openai.AsyncOpenAI(
        base_url=f"{scene.base_url}/v1", api_key="none", max_retries=0, timeout=REQUEST_LIMIT_S
    ) as client:
        load = Load(client, oracle, options.seed, failures.note)
        rng = random.Random(f"strikes {options.seed}")
        driller = Driller(scene.backends, watch, load, rng, options.per_strike, drills)
        began = time.monotonic()
        try:
            async with asyncio.TaskGroup() as group:
                polling = group.create_task(watch.run())
                clients = load.start(group)
                await _drive(options, scene, driller, load)
                load.stop()
                await _until_drained(clients)
                run.duration_s = round(time.monotonic() - began, 1)
                run.in_flight_left = await _in_flight_left(watch)
                polling.cancel()
        finally:
            _count(run, load, drills, time.monotonic() - began)


async def _drive(options: Options, scene: Scene, driller: Driller, load: Load) -> None:
    """Every plan at least once, and so many plans that enough requests are made."""
    members = [backend.member for backend in scene.backends.values()]
    await driller.be_calm(options.per_calm)
    for number, plan in enumerate(rounds(options.seed, options.names, members)):
        if number >= len(options.names) and load.started >= options.requests:
            return
        bad = load.ended - load.verdicts[Verdict.WHOLE]
        say(f"{load.started:5} requests, {bad} not whole; now {plan}")
        await driller.carry_out(plan)
        await driller.be_calm(options.per_calm)
    await load.until_started(options.requests)


async def _until_drained(clients: list[asyncio.Task[None]]) -> None:
    _, open_ones = await asyncio.wait(clients, timeout=DRAIN_LIMIT_S)
    if open_ones:
        raise ChaosError(f"{len(open_ones)} requests have no end after {DRAIN_LIMIT_S:g} s")


async def _in_flight_left(watch: Watch) -> float:
    """The gauge, once it is 0 or after a while."""

    async def gauge() -> float:
        return (await watch.metrics()).total(names.IN_FLIGHT)

    async def is_idle() -> bool:
        return await gauge() == 0

    with contextlib.suppress(AssertionError):
        await eventually(is_idle, IDLE_LIMIT_S)
    return await gauge()


def _count(run: Run, load: Load, drills: list[Drill], spent_s: float) -> None:
    run.requests = load.ended
    run.whole = load.verdicts[Verdict.WHOLE]
    run.errors = load.verdicts[Verdict.ERROR]
    run.truncated = load.verdicts[Verdict.TRUNCATED]
    run.wrong = load.verdicts[Verdict.WRONG]
    run.usage_off = load.usage_off
    run.duration_s = run.duration_s or round(spent_s, 1)
    run.requests_per_s = round(load.ended / max(spent_s, 0.001), 2)
    run.faults = fault_rows(drills)


def _cpu_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    found = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in found)


def _write_document(run: Run) -> None:
    text = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else NEW_DOCUMENT
    DOCUMENT.write_text(with_section(text, section(run)), encoding="utf-8")


async def _until_signalled(options: Options, folder: Path) -> tuple[Run, FailureFile]:
    """The run; Ctrl-C, SIGTERM and SIGHUP end it in order."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await chaos(options, folder)


def main() -> int:
    options = parse()
    # The run talks to this machine only, whatever proxy the environment names.
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
    if options.keep is None:
        folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    else:
        folder = options.keep.resolve()
        folder.mkdir(parents=True, exist_ok=True)
    try:
        run, failures = asyncio.run(_until_signalled(options, folder))
    except asyncio.CancelledError:
        say(f"\nbroken off; logs are in {folder}")
        return 130
    except (RuntimeError, OSError) as error:
        say(f"the run could not be set up: {error}\nlogs are in {folder}")
        return 2
    _show(run, failures)
    if options.is_document_written and run.stopped_by is None:
        _write_document(run)
    if options.keep is None and not run.missed and not run.usage_off:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(run.as_json(), ensure_ascii=False), flush=True)
    return 1 if run.missed else 0


def _show(run: Run, failures: FailureFile) -> None:
    say("\n" + table(run.faults))
    say(summary(run))
    if failures.path.exists():
        run.failures_file = str(failures.path)
        say("\n".join(("", *failures.first, f"all that were not whole: {run.failures_file}")))
