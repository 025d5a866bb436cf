"""Runs many simulations on several cores and says how the policies compare."""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import Pool
from typing import Final

from tests.sim.clairvoyant import SETTINGS, Clairvoyant
from tests.sim.dispatch import known_fleet
from tests.sim.fast_engine import FastStation
from tests.sim.figures import Figures, figures, paired
from tests.sim.policies import CLAIRVOYANT, POLICIES, maker_of
from tests.sim.stations import StepStation
from tests.sim.workload import SCENARIOS, Workload, build
from tests.sim.world import Outcome, StationMaker, World, simulate

STATIONS: Final[Mapping[str, StationMaker]] = {"fast": FastStation, "emulator": StepStation}


@dataclass(frozen=True, slots=True)
class Task:
    """One run."""

    scenario: str
    policy: str
    seed: int
    requests: int
    load: float | None
    engine: str
    sizes_known: bool


@dataclass(frozen=True, slots=True)
class Row:
    """What one run gave."""

    task: Task
    figures: Figures
    took_s: float


def clairvoyant_outcome(workload: Workload, station: StationMaker) -> Outcome:
    """The best of the clairvoyant's settings by mean latency."""
    outcomes: list[Outcome] = []
    for setting in SETTINGS:
        stations = [station(spec) for spec in workload.fleet]
        dispatcher = Clairvoyant(workload, stations, setting)
        outcomes.append(World(workload, stations, dispatcher).run())
    return min(outcomes, key=lambda outcome: figures(outcome).mean_s)


def outcome_of(task: Task) -> Outcome:
    """Run one task."""
    workload = build(task.scenario, task.seed, task.requests, task.load)
    station = STATIONS[task.engine]
    if task.policy == CLAIRVOYANT:
        return clairvoyant_outcome(workload, station)
    fleet = known_fleet(workload.fleet, task.seed, task.sizes_known)
    return simulate(workload, maker_of(task.policy)(fleet), station)


def run_task(task: Task) -> Row:
    """Run one task and measure it."""
    began = time.perf_counter()
    found = figures(outcome_of(task))
    return Row(task, found, time.perf_counter() - began)


def run_tasks(tasks: Sequence[Task], workers: int) -> list[Row]:
    """All tasks, in their order."""
    if workers < 2 or len(tasks) < 2:
        return [run_task(task) for task in tasks]
    with Pool(workers) as pool:
        return pool.map(run_task, tasks, chunksize=1)


def mean_of(rows: Iterable[Row], name: str) -> float:
    """Mean of one figure over seeds."""
    values = [float(getattr(row.figures, name)) for row in rows]
    return sum(values) / len(values)


def table(rows: Sequence[Row], scenario: str, against: str) -> tuple[list[str], list[object]]:
    """Lines for people and the same as data, one for each policy."""
    by_policy: dict[str, list[Row]] = {}
    for row in rows:
        if row.task.scenario == scenario:
            by_policy.setdefault(row.task.policy, []).append(row)
    base = {row.task.seed: row.figures.mean_s for row in by_policy.get(against, ())}
    head = (
        f"{scenario:18} {'mean s':>8} {'TTFT p50':>9} {'p95':>8} {'TPOT ms':>8} {'good %':>7} "
        f"{'preempt':>8} {'ratio':>6} {'95 %':>13} {'run s':>6}"
    )
    lines = [head]
    data: list[object] = []
    for policy, mine in by_policy.items():
        ours = {row.task.seed: row.figures.mean_s for row in mine}
        ratio = paired(ours, base) if base else None
        interval = f"{ratio.low:.3f}-{ratio.high:.3f}" if ratio else ""
        lines.append(
            f"  {policy:16} {mean_of(mine, 'mean_s'):8.2f} {mean_of(mine, 'ttft_p50_s'):9.2f} "
            f"{mean_of(mine, 'ttft_p95_s'):8.2f} {1000 * mean_of(mine, 'tpot_s'):8.1f} "
            f"{100 * mean_of(mine, 'goodput'):7.1f} {mean_of(mine, 'preemptions'):8.1f} "
            f"{f'{ratio.mean:.3f}' if ratio else '':>6} {interval:>13} "
            f"{sum(row.took_s for row in mine) / len(mine):6.2f}"
        )
        data.append(
            {
                "scenario": scenario,
                "policy": policy,
                "seeds": {row.task.seed: row.figures.as_dict() for row in mine},
                "ratio": asdict(ratio) if ratio else None,
            }
        )
    return lines, data


def _names(text: str, known: Sequence[str], what: str) -> list[str]:
    names = list(known) if text == "all" else [name.strip() for name in text.split(",")]
    for name in names:
        if name.partition("@")[0] not in known:
            raise SystemExit(f"there is no {what} {name!r}; use all or of {', '.join(known)}")
    return names


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Simulate placement policies in virtual time.")
    parser.add_argument("--goals", action="store_true", help="check the targets on all scenarios")
    parser.add_argument("--short", action="store_true", help="the same, fewer seeds and peers")
    parser.add_argument("--seeds", type=int, help="runs of each pair: 3; 10 with --goals")
    parser.add_argument("--first-seed", type=int, help="1; 1001 with --goals")
    parser.add_argument("--requests", type=int, default=500, help="x3-4 on fast fleets")
    parser.add_argument("--scenario", default="chat", help="names with commas, or all")
    parser.add_argument(
        "--policy", default="all", help="names with commas, or all; name@2 means two gateways"
    )
    parser.add_argument("--against", default="least_inflight", help="policy of the ratio")
    parser.add_argument("--load", type=float, help="instead of the scenario's own")
    parser.add_argument("--engine", choices=sorted(STATIONS), default="fast")
    parser.add_argument("--sizes-unknown", action="store_true", help="nobody tells capture sizes")
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args(arguments)


def compare(options: argparse.Namespace) -> int:
    """Tables on stderr, one JSON object as the last line of stdout."""
    first, count = options.first_seed or 1, options.seeds or 3
    scenarios = _names(options.scenario, list(SCENARIOS), "scenario")
    policies = _names(options.policy, [*POLICIES, CLAIRVOYANT], "policy")
    _names(options.against, [*POLICIES, CLAIRVOYANT], "policy")
    if options.against not in policies:
        policies.insert(0, options.against)
    tasks = [
        Task(
            scenario,
            policy,
            seed,
            options.requests,
            options.load,
            options.engine,
            not options.sizes_unknown,
        )
        for scenario in scenarios
        for policy in policies
        for seed in range(first, first + count)
    ]
    rows = run_tasks(tasks, options.workers)
    everything: list[object] = []
    for scenario in scenarios:
        lines, data = table(rows, scenario, options.against)
        print("\n".join(lines), file=sys.stderr)
        everything += data
    print(
        json.dumps({"against": options.against, "requests": options.requests, "rows": everything})
    )
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The free comparison as a command."""
    return compare(parse(arguments))
