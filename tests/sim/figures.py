"""Figures of runs, and comparisons over paired seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, log, sqrt
from statistics import fmean, stdev
from typing import Final

from gateway.emulator.spec import EngineSpec
from tests.sim.load import decode_s
from tests.sim.requests import SimRequest
from tests.sim.world import Outcome, Record

SLOWEST_TTFT_S: Final = 5.0
TTFT_FACTOR: Final = 3.0
TPOT_FACTOR: Final = 3.5

T_975: Final = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Student's t for a 95 % interval with 1 to 10 degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One run. Latencies in seconds, from the arrival at the gateway."""

    mean_s: float
    """End to end."""
    p95_s: float
    ttft_p50_s: float
    ttft_p95_s: float
    ttft_p99_s: float
    tpot_s: float
    """Mean over requests of the time for a token after the first."""
    goodput: float
    """Share of the requests within both limits of TTFT and TPOT."""
    preemptions: int
    output_tokens_per_s: float
    held_s: float
    """Mean time at the gateway before an engine was named."""

    def as_dict(self) -> dict[str, float]:
        """For JSON, rounded to what can be meant."""
        return {name: round(value, 5) for name, value in asdict(self).items()}


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share lies, interpolated."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def unloaded_ttft_s(fleet: Sequence[EngineSpec], request: SimRequest) -> float:
    """Time to the first token alone on the best engine of the fleet, nothing cached."""
    return min(
        sum(
            max(spec.costs.eager_base_s, tokens / spec.costs.prefill_tokens_per_s)
            for tokens in _chunks(request.prompt_tokens, spec.max_num_batched_tokens)
        )
        for spec in fleet
    )


def _chunks(tokens: int, size: int) -> list[int]:
    full, rest = divmod(tokens, size)
    return [size] * full + ([rest] if rest else [])


def tpot_of(record: Record) -> float | None:
    """Time for a token after the first, None for answers of one token."""
    more = record.request.output_tokens - 1
    return (record.finished - record.first_token) / more if more > 0 else None


def figures(outcome: Outcome) -> Figures:
    """The figures of one run."""
    fleet = outcome.workload.fleet
    best_tpot_s = min(decode_s(spec, 1) for spec in fleet)
    records = outcome.records
    ttfts = [record.first_token - record.request.arrival_s for record in records]
    latencies = [record.finished - record.request.arrival_s for record in records]
    tpots = [tpot for record in records if (tpot := tpot_of(record)) is not None]
    good = 0
    for record, ttft in zip(records, ttfts, strict=True):
        limit = max(SLOWEST_TTFT_S, TTFT_FACTOR * unloaded_ttft_s(fleet, record.request))
        tpot = tpot_of(record) or 0.0
        good += ttft <= limit and tpot <= TPOT_FACTOR * best_tpot_s
    tokens = sum(record.request.output_tokens for record in records)
    return Figures(
        mean_s=fmean(latencies),
        p95_s=quantile(latencies, 0.95),
        ttft_p50_s=quantile(ttfts, 0.5),
        ttft_p95_s=quantile(ttfts, 0.95),
        ttft_p99_s=quantile(ttfts, 0.99),
        tpot_s=fmean(tpots),
        goodput=good / len(records),
        preemptions=sum(record.preemptions for record in records),
        output_tokens_per_s=tokens / max(record.finished for record in records),
        held_s=fmean(record.dispatched - record.request.arrival_s for record in records),
    )


@dataclass(frozen=True, slots=True)
class Ratio:
    """A geometric mean of paired ratios with its 95 % interval (equal bounds for one pair)."""

    mean: float
    low: float
    high: float


def geometric(ratios: Sequence[float]) -> Ratio:
    """Geometric mean and interval of ratios, by Student's t on their logarithms."""
    logs = [log(max(ratio, 1e-12)) for ratio in ratios]
    middle = fmean(logs)
    if len(logs) < 2:
        return Ratio(exp(middle), exp(middle), exp(middle))
    freedom = len(logs) - 1
    t = T_975[freedom - 1] if freedom <= len(T_975) else 1.96 + 2.5 / freedom
    spread = t * stdev(logs) / sqrt(len(logs))
    return Ratio(exp(middle), exp(middle - spread), exp(middle + spread))


def paired(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Ratio:
    """Ratio ours / theirs over the seeds that both have."""
    seeds = sorted(ours.keys() & theirs.keys())
    return geometric([ours[seed] / theirs[seed] for seed in seeds])
