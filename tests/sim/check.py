"""The command of the simulation: compares policies freely, or checks the targets."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Final

from tests.sim import goals
from tests.sim.figures import Figures
from tests.sim.goals import BASE, CENTRAL, CLAIRVOYANT, LOW_LOAD, PRODUCT, Run, judged
from tests.sim.policies import POLICIES
from tests.sim.run import Row, Task, compare, parse, run_tasks, table
from tests.sim.workload import SCENARIOS

FIRST_SEED: Final = 1001
SEEDS: Final = 10
SHORT_SEEDS: Final = 2
SHORT_PEERS: Final = (
    "least_inflight",
    "cache_aware_tuned",
    "session_hash",
    "token_weight",
    "active_blocks",
    "round_robin",
)


def runs_of(is_short: bool) -> list[Run]:
    """Everything that the targets need."""
    peers = SHORT_PEERS if is_short else [name for name in POLICIES if name not in goals.NOT_PEERS]
    policies = [*peers, CENTRAL, PRODUCT, CLAIRVOYANT]
    runs = [Run(scenario, policy) for scenario in SCENARIOS for policy in policies]
    return [
        *runs,
        Run("chat", PRODUCT, sizes_known=False),
        Run("chat", PRODUCT, LOW_LOAD),
        Run("chat", BASE, LOW_LOAD),
    ]


def check(options: argparse.Namespace) -> int:
    """Run everything and say which targets are met; 1 if one is not."""
    count = options.seeds or (SHORT_SEEDS if options.short else SEEDS)
    first = FIRST_SEED if options.first_seed is None else options.first_seed
    runs, seeds = runs_of(options.short), range(first, first + count)
    # The slowest first, so that no core is left alone with one in the end.
    runs.sort(key=lambda run: (run.policy != CLAIRVOYANT, run.policy != PRODUCT))
    tasks = [
        Task(run.scenario, run.policy, seed, options.requests, run.load, "fast", run.sizes_known)
        for run in runs
        for seed in seeds
    ]
    rows = run_tasks(tasks, options.workers)
    results: dict[Run, dict[int, Figures]] = {}
    for row in rows:
        results.setdefault(_run(row.task), {})[row.task.seed] = row.figures
    _show([row for row in rows if _run(row.task) == Run(row.task.scenario, row.task.policy)])
    targets = judged(results, options.short)
    print("\n".join(goals.lines(targets)), file=sys.stderr)
    is_met = all(target.is_met for target in targets)
    data = {
        target.name: {
            "figure": round(target.figure, 4),
            "limit": round(target.limit, 4),
            "low": round(target.low, 4),
            "high": round(target.high, 4),
            "is_met": target.is_met,
        }
        for target in targets
    }
    best = {scenario: goals.best_peer(results, scenario) for scenario in SCENARIOS}
    print(json.dumps({"seeds": list(seeds), "best_peers": best, "targets": data, "is_met": is_met}))
    return 0 if is_met else 1


def _run(task: Task) -> Run:
    return Run(task.scenario, task.policy, task.load, task.sizes_known)


def _show(rows: Sequence[Row]) -> None:
    for scenario in SCENARIOS:
        print("\n".join(table(rows, scenario, BASE)[0]), file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """Tables on stderr, one JSON object as the last line of stdout."""
    options = parse(arguments)
    if options.goals or options.short:
        return check(options)
    return compare(options)
