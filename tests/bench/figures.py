"""Figures of one run and ratios between contenders; all times in engine seconds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Final

from tests.bench.arrivals import Arrival
from tests.bench.generator import Result
from tests.sim.figures import TPOT_FACTOR, geometric, quantile
from tests.sim.load import decode_s
from tests.sim.workload import GRAPH

TPOT_LIMIT_S: Final = TPOT_FACTOR * decode_s(GRAPH, 1)
"""Slowest pace of a good answer: a factor over one sequence alone on a graph engine."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One run. Latencies are of whole answers; others count as errors and are never good."""

    ttft_p50_s: float
    ttft_p95_s: float
    tpot_mean_s: float
    e2e_mean_s: float
    e2e_p95_s: float
    goodput: float
    """Share of all requests within both limits of TTFT and TPOT."""
    errors: int
    preemptions: int

    def as_dict(self) -> dict[str, float]:
        """For JSON, rounded to what can be meant."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def tpot_s(arrival: Arrival, result: Result) -> float | None:
    """Seconds for a token after the first, None for answers of one token."""
    more = arrival.output_tokens - 1
    return result.decode_s / more if more > 0 else None


def is_good(arrival: Arrival, result: Result) -> bool:
    """Whether an answer is whole and within both limits."""
    pace_s = tpot_s(arrival, result) or 0.0
    return result.error is None and result.ttft_s <= arrival.ttft_limit_s and pace_s <= TPOT_LIMIT_S


def figures(arrivals: Sequence[Arrival], results: Sequence[Result], preemptions: int) -> Figures:
    """The figures of a run; ValueError when no answer was whole or one is missing."""
    pairs = list(zip(arrivals, results, strict=True))
    if any(arrival.id != result.id for arrival, result in pairs):
        raise ValueError("results are not those of the arrivals")
    whole = [(arrival, result) for arrival, result in pairs if result.error is None]
    if not whole:
        raise ValueError(f"no answer was whole; the first: {results[0].error}")
    paces_s = [pace for pair in whole if (pace := tpot_s(*pair)) is not None]
    latencies_s = [result.e2e_s for _, result in whole]
    ttfts_s = [result.ttft_s for _, result in whole]
    return Figures(
        ttft_p50_s=quantile(ttfts_s, 0.5),
        ttft_p95_s=quantile(ttfts_s, 0.95),
        tpot_mean_s=fmean(paces_s) if paces_s else 0.0,
        e2e_mean_s=fmean(latencies_s),
        e2e_p95_s=quantile(latencies_s, 0.95),
        goodput=sum(is_good(*pair) for pair in pairs) / len(pairs),
        errors=len(pairs) - len(whole),
        preemptions=preemptions,
    )


@dataclass(frozen=True, slots=True)
class Against:
    """A ratio to the best of several peers: geometric mean over seeds of paired ratios."""

    peer: str
    """The peer that leaves us the worst ratio."""
    ratio: float
    low: float
    high: float
    """95 % interval; equal bounds for one seed."""


def against_best(
    ours: Mapping[int, Figures],
    peers: Mapping[str, Mapping[int, Figures]],
    name: str,
) -> Against | None:
    """Our ratio to the best peer in one figure, by seeds that both have; None without any."""
    found: list[Against] = []
    for peer, theirs in peers.items():
        seeds = sorted(ours.keys() & theirs.keys())
        pairs = [(getattr(ours[seed], name), getattr(theirs[seed], name)) for seed in seeds]
        if pairs:
            ratio = geometric([mine / other for mine, other in pairs])
            found.append(Against(peer, ratio.mean, ratio.low, ratio.high))
    return max(found, key=lambda against: against.ratio, default=None)


def mean(runs: Iterable[Figures], name: str) -> float:
    """Mean of one figure over seeds."""
    return fmean(float(getattr(run, name)) for run in runs)
