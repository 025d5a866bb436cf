"""A file with a line for each request that did not come out whole."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from tests.chaos.drill import Drill
from tests.chaos.judge import Verdict
from tests.chaos.load import Record

SHOWN: Final = 10


class FailureFile:
    """Written as the failures come, so that a run that is broken off leaves them too."""

    def __init__(
        self, path: Path, drills: Iterable[Drill], wall_s: Callable[[float], float]
    ) -> None:
        self.path = path
        path.unlink(missing_ok=True)
        self._drills = drills
        self._wall_s = wall_s
        self.first: list[str] = []
        self.count = 0

    def __repr__(self) -> str:
        return f"<FailureFile {self.path} {self.count} lines>"

    def note(self, record: Record) -> None:
        """Keep it unless it is whole in every respect."""
        if record.judgement.verdict is Verdict.WHOLE and not record.is_usage_off:
            return
        told = describe(record, self._drills, self._wall_s)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told, ensure_ascii=False) + "\n")
        if record.judgement.verdict is not Verdict.WHOLE:
            self.count += 1
            if len(self.first) < SHOWN:
                self.first.append(_line(told))


def describe(
    record: Record, drills: Iterable[Drill], wall_s: Callable[[float], float]
) -> dict[str, Any]:
    """All that is known of one request."""
    question, seen = record.question, record.seen
    met = [str(d.plan) for d in drills if d.overlaps(record.start_s, record.end_s)]
    return {
        "verdict": "usage_off" if record.is_usage_off else record.judgement.verdict.value,
        "reason": record.judgement.reason,
        "faults": met,
        "model": question.model,
        "path": question.case.path,
        "stream": question.is_stream,
        "request_id": seen.request_id,
        "begun_at": round(wall_s(record.start_s), 3),
        "ended_at": round(wall_s(record.end_s), 3),
        "error": seen.error,
        "body": question.body(),
        "expected": record.expected.text,
        "got": seen.text,
        "expected_finish": record.expected.finish,
        "finishes": seen.finishes,
        "expected_tokens": record.expected.completion_tokens,
        "usage_asked_for": question.is_usage_asked_for,
        "completion_tokens": seen.completion_tokens,
        "events": seen.events,
        "roles": seen.roles,
        "ids": seen.ids,
        "models": seen.models,
    }


def _line(told: dict[str, Any]) -> str:
    form = "stream" if told["stream"] else "plain"
    during = " | ".join(told["faults"]) or "no fault"
    return (
        f"{told['verdict']}: {told['model']} {told['path']} {form} {told['request_id']} during "
        f"{during}: {told['reason'][:200]}"
    )
