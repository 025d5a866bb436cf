"""The ratios that count, and which targets are missed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from tests.bench.contenders import GATEWAY, Kind
from tests.bench.figures import Against, Figures, against_best
from tests.bench.trial import Trial

E2E_TARGET: Final = 0.55
"""Mean end-to-end time over that of the best vllm-router policy, at most."""
TTFT_TARGET: Final = 0.5
"""95th percentile of TTFT over that of the best vllm-router policy, at most."""
TARGET_LOADS: Final = (0.6, 0.75)
BUSY_LIMIT: Final = 0.7
"""Above this share of all cores the machine may have been measured instead."""
COMPARED: Final = ("e2e_mean_s", "e2e_p95_s", "ttft_p50_s", "ttft_p95_s", "tpot_mean_s")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The gateway against the best policy of one kind of peer, at one load.

    The best is the one with the least mean end-to-end time; `strictest` names for each figure the
    policy that leaves the gateway its worst ratio, whatever that policy costs elsewhere.
    """

    load: float
    kind: Kind
    ratios: Mapping[str, Against]
    """By figure, all against the same peer."""
    strictest: Mapping[str, Against]

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "load": self.load,
            "against": self.kind,
            "ratios": _rounded(self.ratios),
            "strictest": _rounded(self.strictest),
        }


def by_name(trials: Sequence[Trial], load: float) -> dict[str, dict[int, Figures]]:
    """Figures of one load by contender and seed."""
    found: dict[str, dict[int, Figures]] = {}
    for trial in trials:
        if trial.load == load:
            found.setdefault(trial.contender.name, {})[trial.seed] = trial.figures
    return found


def compare(trials: Sequence[Trial], load: float, kind: Kind) -> Comparison:
    """All ratios at one load; none where the gateway or every peer is missing."""
    runs = by_name(trials, load)
    ours = runs.get(GATEWAY.name, {})
    names = {trial.contender.name for trial in trials if trial.contender.kind is kind}
    peers = {name: runs[name] for name in sorted(names & runs.keys())}
    best = against_best(ours, peers, COMPARED[0])
    rivals = {} if best is None else {best.peer: peers[best.peer]}
    return Comparison(load, kind, _ratios(ours, rivals), _ratios(ours, peers))


def _ratios(
    ours: Mapping[int, Figures], peers: Mapping[str, Mapping[int, Figures]]
) -> dict[str, Against]:
    found = {name: against_best(ours, peers, name) for name in COMPARED}
    return {name: against for name, against in found.items() if against is not None}


def _rounded(ratios: Mapping[str, Against]) -> dict[str, object]:
    return {
        name: {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(a).items()}
        for name, a in ratios.items()
    }


def comparisons(trials: Sequence[Trial], loads: Sequence[float]) -> list[Comparison]:
    """Against both kinds of peers at every load."""
    kinds = (Kind.VLLM_ROUTER, Kind.NGINX)
    return [compare(trials, load, kind) for load in loads for kind in kinds]


def missed(
    trials: Sequence[Trial], found: Sequence[Comparison], loads: Sequence[float]
) -> list[str]:
    """Every target that is not met, in words."""
    told: list[str] = []
    for comparison in found:
        if comparison.kind is Kind.VLLM_ROUTER and comparison.load in TARGET_LOADS:
            told += _above(comparison, "e2e_mean_s", E2E_TARGET)
            told += _above(comparison, "ttft_p95_s", TTFT_TARGET)
    for load in loads:
        runs = by_name(trials, load).get(GATEWAY.name, {})
        errors = sum(run.errors for run in runs.values())
        if errors:
            told.append(f"load {load:g}: {errors} errors through the gateway")
    busiest = max((trial.busy.run for trial in trials), default=0.0)
    if busiest > BUSY_LIMIT:
        told.append(f"the run kept {busiest:.0%} of the machine busy; lower --scale")
    return told


def _above(comparison: Comparison, name: str, target: float) -> list[str]:
    against = comparison.ratios.get(name)
    if against is None:
        return [f"load {comparison.load:g}: {name} has nothing to be compared with"]
    if against.ratio <= target:
        return []
    return [
        f"load {comparison.load:g}: {name} is {against.ratio:.3f} x {against.peer}, not {target:g}"
    ]
