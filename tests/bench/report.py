"""Tables for people and one object for machines."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from tests.bench.contenders import CONTENDERS
from tests.bench.figures import mean
from tests.bench.options import Options
from tests.bench.trial import Trial
from tests.bench.verdict import Comparison


def line_of(trial: Trial) -> str:
    """One run in one line, as it ends."""
    found, busy = trial.figures, trial.busy
    line = (
        f"load {trial.load:<4g} seed {trial.seed} {trial.contender.name:25} "
        f"e2e {found.e2e_mean_s:6.1f} s  TTFT p95 {found.ttft_p95_s:6.2f} s  "
        f"good {found.goodput:4.0%}  errors {found.errors}  "
        f"CPU {busy.run:.0%} of {busy.machine:.0%}  took {trial.took_s:.0f} s"
    )
    return "\n".join((line, *(f"    {problem}" for problem in trial.problems[:3])))


def table(trials: Sequence[Trial], load: float) -> str:
    """Means over the seeds at one load, a line for each contender."""
    lines = [
        f"load {load:g}, engine seconds",
        (
            f"  {'':25}{'TTFT p50':>9}{'p95':>8}{'TPOT ms':>9}{'e2e mean':>10}{'p95':>8}"
            f"{'good %':>8}{'errors':>8}{'preempt':>9}{'hits %':>8}"
        ),
    ]
    for contender in CONTENDERS:
        mine = [t for t in trials if t.contender == contender and t.load == load]
        if not mine:
            continue
        runs = [trial.figures for trial in mine]
        lines.append(
            f"  {contender.name:25}{mean(runs, 'ttft_p50_s'):9.2f}{mean(runs, 'ttft_p95_s'):8.2f}"
            f"{1000 * mean(runs, 'tpot_mean_s'):9.1f}{mean(runs, 'e2e_mean_s'):10.2f}"
            f"{mean(runs, 'e2e_p95_s'):8.2f}{100 * mean(runs, 'goodput'):8.1f}"
            f"{sum(run.errors for run in runs):8}{sum(run.preemptions for run in runs):9}"
            f"{100 * fmean(trial.prefix_hit_ratio for trial in mine):8.1f}"
        )
    return "\n".join(lines)


def ratio_lines(comparison: Comparison) -> str:
    """The gateway over the best of a kind, a line for each figure."""
    lines = [f"gateway / best {comparison.kind}, load {comparison.load:g}"]
    lines += [
        f"  {name:12}{against.ratio:7.3f}  ({against.low:.3f}-{against.high:.3f})  {against.peer}"
        for name, against in comparison.ratios.items()
    ]
    return "\n".join(lines)


def as_json(
    options: Options,
    trials: Sequence[Trial],
    found: Sequence[Comparison],
    missing: Mapping[str, str],
    missed: Sequence[str],
) -> dict[str, Any]:
    """Everything that was found."""
    return {
        "bench": "routing",
        "scale": options.scale,
        "requests": options.requests,
        "seeds": list(options.seeds),
        "loads": list(options.loads),
        "runs": [
            {
                "contender": trial.contender.name,
                "load": trial.load,
                "seed": trial.seed,
                **trial.figures.as_dict(),
                "prefix_hit_ratio": round(trial.prefix_hit_ratio, 4),
                "worst_late_s": round(trial.worst_late_s, 3),
                "busy": trial.busy.as_dict(),
                "problems": list(trial.problems),
            }
            for trial in trials
        ],
        "comparisons": [comparison.as_dict() for comparison in found],
        "cpu_busy_share": round(max((t.busy.run for t in trials), default=0.0), 3),
        "missing": dict(missing),
        "missed": list(missed),
    }
