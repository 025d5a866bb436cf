"""The figures of a storm, the goals that they must meet, and how both are told. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final, NamedTuple

from tests.chaos.judge import Verdict
from tests.storm.drill import Burst, Log
from tests.storm.figures import Latencies, Pair, percentile
from tests.storm.gateway import Usage

MOST_SETTLE_S: Final = 3.0
MOST_FORCE_S: Final = 3.0
MOST_FDS: Final = 32
"""Connections that are kept may differ; a leak of one for each reload is far more."""
MOST_RSS_BYTES: Final = 32 * 1024 * 1024
MOST_THREADS: Final = 8
MOST_RATIO: Final = 1.5
SLIGHT_S: Final = 0.005
"""A latency that grew by less than this is not worse, whatever the ratio."""
_SOURCES: Final = 3
"""The watch, the signal, and administrators (by request and by command)."""


class Goal(NamedTuple):
    """One target and whether it was met."""

    name: str
    value: Any
    target: str
    is_met: bool


@dataclass(slots=True)
class Storm:
    """Everything that one run found out."""

    seed: int
    mode: str
    planned: int
    log: Log = field(default_factory=Log)
    burst: Burst = field(default_factory=Burst)
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    latencies: Latencies | None = None
    removed_questions: list[str] = field(default_factory=list)
    removed_probes: int | None = None
    """Requests at removed servers when all was quiet; None: not looked at."""
    before: Usage | None = None
    after: Usage | None = None
    in_flight_left: float | None = None
    crash_lines: int | None = None
    exit_code: int | None = None
    duration_s: float = 0.0
    cpu_ratio: float = 0.0
    stopped_by: str | None = None

    @property
    def requests(self) -> int:
        return sum(self.verdicts.values())

    @property
    def missed(self) -> list[Goal]:
        return [goal for goal in goals(self) if not goal.is_met]


def goals(storm: Storm) -> list[Goal]:
    """All targets of a run."""
    bad = storm.requests - storm.verdicts[Verdict.WHOLE]
    log, burst = storm.log, storm.burst
    strange = {a: n for a, n in burst.answers.items() if a.split()[0] not in ("200", "422")}
    slowest_s = max((max(found) for found in log.force_s.values()), default=None)
    return [
        Goal("run_to_its_end", storm.stopped_by, "nothing stopped it", storm.stopped_by is None),
        Goal("failed_requests", bad, "0", bad == 0 and storm.requests > 0),
        Goal("reloads", log.done, f"{storm.planned}", log.done == storm.planned),
        Goal("reloads_as_expected", len(log.complaints), "0 complaints", not log.complaints),
        Goal("sources", sorted(log.by), f"{_SOURCES} have loaded", len(log.by) == _SOURCES),
        _at_most("slowest_reload_s", slowest_s, MOST_FORCE_S),
        _at_most("burst_settled_s", burst.settled_s, MOST_SETTLE_S),
        Goal("burst_answers", strange, "200 or 422", not strange and bool(burst.answers)),
        _at_most("questions_at_removed", len(storm.removed_questions), 0),
        _at_most("probes_at_removed", storm.removed_probes, 0),
        *_growth(storm),
        _at_most("in_flight_left", storm.in_flight_left, 0),
        _at_most("crash_lines", storm.crash_lines, 0),
        Goal("exit_code", storm.exit_code, "0", storm.exit_code == 0),
        # Of half a minute the p99 is the worst of a few dozen: stated, and no goal.
        *(_slowness(storm.latencies) if storm.mode == "full" else ()),
    ]


def as_json(storm: Storm) -> dict[str, Any]:
    """The last line of the run."""
    log, burst, found = storm.log, storm.burst, goals(storm)
    return {
        "storm": "reload",
        "seed": storm.seed,
        "mode": storm.mode,
        "duration_s": storm.duration_s,
        "cpu_ratio": storm.cpu_ratio,
        "requests": storm.requests,
        "verdicts": {verdict.value: storm.verdicts[verdict] for verdict in Verdict},
        "reloads": {
            "done": log.done,
            "kinds": dict(sorted(log.kinds.items())),
            "by": dict(sorted(log.by.items())),
            "refused": log.refused,
            "mended": log.mended,
            "force_s": {
                trigger.value: {"median": round(median(s), 3), "max": round(max(s), 3)}
                for trigger, s in sorted(log.force_s.items())
            },
            "slowest": log.slowest,
            "complaints": log.complaints[:10],
        },
        "burst": {
            "changes": burst.changes,
            "per_s": round(burst.changes / burst.seconds, 1) if burst.seconds else None,
            "answers": dict(sorted(burst.answers.items())),
            "settled_s": _rounded(burst.settled_s),
        },
        "latency_ms": _latency_figures(storm.latencies),
        "usage": {"before": _usage(storm.before), "after": _usage(storm.after)},
        "questions_at_removed": storm.removed_questions[:10],
        "goals": [
            {"goal": g.name, "value": g.value, "target": g.target, "met": g.is_met} for g in found
        ],
        "missed": [goal.name for goal in found if not goal.is_met],
    }


def summary(storm: Storm) -> str:
    """The figures for a terminal."""
    first = (
        f"{storm.requests} requests, {storm.log.done} reloads and {storm.burst.changes} changes "
        f"in a burst, in {storm.duration_s:.0f} s ({storm.cpu_ratio:.0%} of the CPU)"
    )
    lines = [
        first,
        f"  slowest reload: {storm.log.slowest_s:.2f} s, {storm.log.slowest}",
        *_latency_lines(storm.latencies),
        *(f"complaint: {one}" for one in storm.log.complaints[:10]),
        *(f"at a removed server: {one}" for one in storm.removed_questions[:10]),
    ]
    missed = [f"MISSED {g.name}: {g.value}, wanted {g.target}" for g in storm.missed]
    return "\n".join([*lines, *(missed or ["all goals met"])])


def _at_most(name: str, value: float | None, most: float) -> Goal:
    return Goal(name, _rounded(value), f"<= {most:g}", value is not None and value <= most)


def _growth(storm: Storm) -> Iterator[Goal]:
    before, after = storm.before, storm.after
    for name, most in (
        ("fds", MOST_FDS),
        ("rss_bytes", MOST_RSS_BYTES),
        ("threads", MOST_THREADS),
    ):
        grown = None
        if before is not None and after is not None:
            grown = getattr(after, name) - getattr(before, name)
        yield _at_most(f"more_{name}", grown, most)


def _slowness(found: Latencies | None) -> Iterator[Goal]:
    for name, pair in _pairs(found).items():
        ratio, added_s = pair.ratio_p99, pair.added_p99_s
        is_met = ratio is not None and added_s is not None
        is_met = is_met and (ratio <= MOST_RATIO or added_s <= SLIGHT_S)  # type: ignore[operator]
        target = f"<= {MOST_RATIO:g}, or less than {SLIGHT_S * 1000:g} ms more"
        yield Goal(f"{name}_p99_ratio", _rounded(ratio), target, is_met)


def _pairs(found: Latencies | None) -> Mapping[str, Pair]:
    if found is None:
        none = Pair((), ())
        return {"first_event": none, "gap": none, "whole": none}
    return {"first_event": found.first_event, "gap": found.gap, "whole": found.whole}


def _latency_figures(found: Latencies | None) -> dict[str, Any]:
    return {
        name: {
            "calm": _spread(pair.calm),
            "storm": _spread(pair.storm),
            "ratio_p99": _rounded(pair.ratio_p99),
            "added_p99": _ms(pair.added_p99_s),
        }
        for name, pair in _pairs(found).items()
    }


def _latency_lines(found: Latencies | None) -> Iterator[str]:
    for name, pair in _pairs(found).items():
        told = [
            f"{_ms(percentile(pair.calm, p))} -> {_ms(percentile(pair.storm, p))} ms"
            for p in (50, 99)
        ]
        yield f"  {name:12} median {told[0]}, p99 {told[1]} (calm -> storm)"


def _spread(ordered: tuple[float, ...]) -> dict[str, Any]:
    return {
        "count": len(ordered),
        "p50": _ms(percentile(ordered, 50)),
        "p99": _ms(percentile(ordered, 99)),
        "max": _ms(percentile(ordered, 100)),
    }


def _usage(found: Usage | None) -> dict[str, int] | None:
    if found is None:
        return None
    return {"fds": found.fds, "rss_bytes": found.rss_bytes, "threads": found.threads}


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 2)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
