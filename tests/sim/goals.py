"""What the product has to reach in the simulation, and whether it does.

Pure: figures of runs in, judged targets out. Ratios are geometric means over paired seeds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final, NamedTuple

from tests.sim.figures import Figures, Ratio, geometric, paired

CLIFF: Final = ("chat", "burst", "azure", "mooncake", "heavy_tail", "one_slow", "agents")
NO_CLIFF: Final = ("full_capture", "seqs4_chat", "seqs4_mooncake", "weak_cliff", "a2_chat")
KV_TIGHT: Final = ("kv_tight_a2", "kv_tight_310p")

PRODUCT: Final = "product"
CENTRAL: Final = "central_capture"
CLAIRVOYANT: Final = "clairvoyant"
BASE: Final = "least_inflight"
NOT_PEERS: Final = frozenset({PRODUCT, CENTRAL, CLAIRVOYANT})
LOW_LOAD: Final = 0.45
WIDER: Final = 1.08
"""What limits are multiplied by where few seeds say less."""

MEAN: Final = "mean_s"
TTFT: Final = "ttft_p95_s"
PREEMPTIONS: Final = "preemptions"


class Run(NamedTuple):
    """What was run; `load` None is the scenario's own."""

    scenario: str
    policy: str
    load: float | None = None
    sizes_known: bool = True


BySeed = Mapping[int, Figures]
Results = Mapping[Run, BySeed]


@dataclass(frozen=True, slots=True)
class Target:
    """One figure with the most that it may be; `low` and `high` bound it with 95 %."""

    name: str
    figure: float
    limit: float
    low: float
    high: float

    @property
    def is_met(self) -> bool:
        """Whether the figure is within its limit."""
        return self.figure <= self.limit


def judged(results: Results, is_short: bool = False) -> list[Target]:
    """Every target; limits are a little wider for the short form."""
    targets = [*_cliff(results), *_no_cliff(results), *_kv_tight(results), *_other(results)]
    if not is_short:
        return targets
    return [
        target if PREEMPTIONS in target.name else replace(target, limit=target.limit * WIDER)
        for target in targets
    ]


def best_peer(results: Results, scenario: str, figure: str = MEAN) -> str:
    """The re-implemented peer with the lowest mean of a figure, chosen afterwards."""
    peers = [
        run.policy
        for run in results
        if run == Run(scenario, run.policy) and run.policy not in NOT_PEERS
    ]
    return min(
        peers, key=lambda peer: fmean(_values(results[Run(scenario, peer)], figure).values())
    )


def _cliff(results: Results) -> Iterable[Target]:
    best = {name: best_peer(results, name) for name in CLIFF}
    quickest = {name: best_peer(results, name, TTFT) for name in CLIFF}
    central = dict.fromkeys(CLIFF, CENTRAL)
    yield _pooled("cliff: mean / best peer", results, best, MEAN, 0.50)
    yield _pooled("cliff: mean / central_capture", results, central, MEAN, 0.90)
    yield _pooled("cliff: TTFT p95 / best peer", results, quickest, TTFT, 0.45)
    for name in CLIFF:
        limit = 1.35 if name == "agents" else 1.15
        yield _single(f"{name}: mean / clairvoyant", results, name, CLAIRVOYANT, limit)


def _no_cliff(results: Results) -> Iterable[Target]:
    best = {name: best_peer(results, name) for name in NO_CLIFF}
    for name, peer in best.items():
        yield _single(f"{name}: mean / best peer", results, name, peer, 1.03)
    yield _pooled("no cliff: mean / best peer", results, best, MEAN, 0.98)


def _kv_tight(results: Results) -> Iterable[Target]:
    for name in KV_TIGHT:
        yield _single(f"{name}: mean / best peer", results, name, best_peer(results, name), 1.0)
        peer = best_peer(results, name, PREEMPTIONS)
        ours = fmean(_values(results[Run(name, PRODUCT)], PREEMPTIONS).values())
        theirs = fmean(_values(results[Run(name, peer)], PREEMPTIONS).values())
        yield Target(f"{name}: {PREEMPTIONS}, fewest of a peer", ours, theirs, ours, ours)


def _other(results: Results) -> Iterable[Target]:
    declared = results[Run("chat", PRODUCT)]
    undeclared = results[Run("chat", PRODUCT, sizes_known=False)]
    yield _target("chat: undeclared sizes / declared", _ratio(undeclared, declared), 1.10)
    ours = results[Run("chat", PRODUCT, LOW_LOAD)]
    theirs = results[Run("chat", BASE, LOW_LOAD)]
    yield _target(f"chat at {LOW_LOAD}: mean / {BASE}", _ratio(ours, theirs), 0.80)
    ttft_s = fmean(_values(ours, TTFT).values())
    yield Target(f"chat at {LOW_LOAD}: TTFT p95 in seconds", ttft_s, 3.0, ttft_s, ttft_s)


def _single(name: str, results: Results, scenario: str, against: str, limit: float) -> Target:
    ours, theirs = results[Run(scenario, PRODUCT)], results[Run(scenario, against)]
    return _target(name, _ratio(ours, theirs), limit)


def _pooled(
    name: str, results: Results, against: Mapping[str, str], figure: str, limit: float
) -> Target:
    """The geometric mean over scenarios, one value for each seed."""
    ratios: dict[int, list[float]] = {}
    for scenario, policy in against.items():
        ours = _values(results[Run(scenario, PRODUCT)], figure)
        theirs = _values(results[Run(scenario, policy)], figure)
        for seed in ours.keys() & theirs.keys():
            ratios.setdefault(seed, []).append(ours[seed] / theirs[seed])
    return _target(name, geometric([geometric(found).mean for found in ratios.values()]), limit)


def _ratio(ours: BySeed, theirs: BySeed) -> Ratio:
    return paired(_values(ours, MEAN), _values(theirs, MEAN))


def _values(runs: BySeed, figure: str) -> dict[int, float]:
    return {seed: float(getattr(figures, figure)) for seed, figures in runs.items()}


def _target(name: str, ratio: Ratio, limit: float) -> Target:
    return Target(name, ratio.mean, limit, ratio.low, ratio.high)


def lines(targets: Sequence[Target]) -> list[str]:
    """A table for people."""
    head = f"{'target':42} {'figure':>8} {'95 %':>14} {'limit':>8}"
    return [head] + [
        f"{target.name:42} {target.figure:8.3f} {f'{target.low:.3f}-{target.high:.3f}':>14} "
        f"{target.limit:8.3f} {'' if target.is_met else 'MISSED'}".rstrip()
        for target in targets
    ]
