"""What a run has shown: figures, targets, a table, and the section of the document. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Final

from tests.chaos.drill import Drill

BEGIN: Final = "<!-- chaos:begin -->"
END: Final = "<!-- chaos:end -->"
NEW_DOCUMENT: Final = f"# Failures\n\n{BEGIN}\n{END}\n"

_HEADINGS: Final = (
    "fault",
    "times",
    "noticed after",
    "up again after",
    "requests",
    "struck",
    "retried",
    "resumed",
)

_EXPLAINED: Final = """\
*noticed after*: from the strike until `/health` no longer shows the backend as up, middle and
largest; `-`: its state did not change. *up again after*: from the moment the backend itself answers
again, or a counted fault has had its last strike, until `/health` shows it as up. *requests*: begun
while the fault lasted, at all backends. *struck*: requests that a counted fault hit. *retried*,
*resumed*: attempts that the gateway added meanwhile."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Middle and largest of some durations, in seconds."""

    median: float
    max: float

    def __str__(self) -> str:
        if self.median == self.max:
            return f"{self.median:.2f} s"
        return f"{self.median:.2f} s (at most {self.max:.2f} s)"


@dataclass(frozen=True, slots=True)
class FaultRow:
    """All strikes of one name together."""

    fault: str
    times: int
    victims: list[str]
    detection_s: Spread | None
    recovery_s: Spread | None
    requests: int
    hits: int | None
    retried: int
    resumed: int
    unnoticed: int
    """Strikes that the gateway had to notice and did not."""


@dataclass(slots=True)
class Run:
    """The figures of a whole run; `missed` names the targets that were not met."""

    seed: int
    mode: str
    least_requests: int
    requests: int = 0
    whole: int = 0
    errors: int = 0
    truncated: int = 0
    wrong: int = 0
    usage_off: int = 0
    """Whole answers whose token count is missing or not the expected one."""
    in_flight_left: float | None = None
    crash_lines: int = 0
    gateway_exit_code: int | None = None
    duration_s: float = 0.0
    requests_per_s: float = 0.0
    cpu_ratio: float = 0.0
    """Share of all cores that the run's processes used."""
    stopped_by: str | None = None
    """Why the run could not go on to its end."""
    failures_file: str | None = None
    faults: list[FaultRow] = field(default_factory=list)

    @property
    def missed(self) -> list[str]:
        """The targets that were not met, as sentences."""
        left = self.in_flight_left
        rules = (
            (self.stopped_by is None, f"the run was stopped: {self.stopped_by}"),
            (self.errors == 0, f"{self.errors} requests were lost"),
            (self.truncated == 0, f"{self.truncated} answers were truncated without an error"),
            (self.wrong == 0, f"{self.wrong} answers were wrong"),
            (
                self.requests >= self.least_requests,
                f"only {self.requests} of {self.least_requests} requests were made",
            ),
            (left == 0, f"in-flight gauge at the end: {left}"),
            (self.crash_lines == 0, f"{self.crash_lines} crashes in the gateway's log"),
        )
        return [text for is_met, text in rules if not is_met]

    def as_json(self) -> dict[str, Any]:
        return {"ok": not self.missed, "missed": self.missed, **asdict(self)}


def fault_rows(drills: Iterable[Drill]) -> list[FaultRow]:
    """One row for each name, in the order of the names."""
    by_name: dict[str, list[Drill]] = {}
    for drill in drills:
        by_name.setdefault(drill.plan.name, []).append(drill)
    return [_row(name, by_name[name]) for name in sorted(by_name, key=lambda n: ("+" in n, n))]


def _row(name: str, drills: Sequence[Drill]) -> FaultRow:
    struck = [one for drill in drills for one in drill.struck]
    hits = [one.hits for one in struck if one.hits is not None]
    return FaultRow(
        fault=name,
        times=len(drills),
        victims=sorted({one.part.victim for one in struck if one.part.kind.is_disabling}),
        detection_s=_spread(one.detection_s for one in struck),
        recovery_s=_spread(one.recovery_s for one in struck),
        requests=sum(drill.requests for drill in drills),
        hits=sum(hits) if hits else None,
        retried=sum(drill.moves.retried for drill in drills),
        resumed=sum(drill.moves.resumed for drill in drills),
        unnoticed=sum(one.is_missed for one in struck),
    )


def _spread(values: Iterable[float | None]) -> Spread | None:
    found = [value for value in values if value is not None]
    return Spread(round(median(found), 3), round(max(found), 3)) if found else None


def table(rows: Sequence[FaultRow]) -> str:
    """The rows for a terminal."""
    lines = [_HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _cells(row: FaultRow) -> tuple[str, ...]:
    noticed = str(row.detection_s or "-")
    if row.unnoticed:
        noticed = f"{noticed}, {row.unnoticed} never"
    return (
        row.fault,
        str(row.times),
        noticed,
        str(row.recovery_s or "-"),
        str(row.requests),
        "all" if row.hits is None else str(row.hits),
        str(row.retried),
        str(row.resumed),
    )


def summary(run: Run) -> str:
    """The figures in a few lines."""
    verdict = "all targets met" if not run.missed else "MISSED: " + "; ".join(run.missed)
    return (
        f"{run.requests} requests in {run.duration_s:.0f} s ({run.requests_per_s:.1f}/s, "
        f"{run.cpu_ratio:.0%} of the CPU): {run.whole} whole, {run.errors} lost, "
        f"{run.truncated} truncated, {run.wrong} wrong; {run.usage_off} with another token count; "
        f"in flight at the end {run.in_flight_left}, crashes {run.crash_lines}\n{verdict}"
    )


def section(run: Run) -> str:
    """What the document says between its markers."""
    head = "| " + " | ".join(_HEADINGS) + " |"
    rule = "|" + "---|" * len(_HEADINGS)
    body = ["| " + " | ".join(_cells(row)).replace("_", "\\_") + " |" for row in run.faults]
    first = (
        f"`make chaos` with seed {run.seed}: {run.requests} requests in {run.duration_s:.0f} s, "
        f"of which {run.whole} whole, {run.errors} lost, {run.truncated} truncated and "
        f"{run.wrong} wrong."
    )
    return "\n".join((first, "", head, rule, *body, "", _EXPLAINED))


def with_section(document: str, text: str) -> str:
    """The document with `text` between its markers; ValueError without them."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document needs the lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"
