"""What an engine's figures are worth at a moment: how old they are, and whose work they count."""

import math
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from gateway.fleet.health.evidence import Activity

_LEAST_STALE_S: Final = 3.0
_STALE_INTERVALS: Final = 3.0
# Beyond this a figure says no more, and stays a number that can be reckoned with.
_MOST: Final = 1_000_000_000


class Gauges(NamedTuple):
    """What one scrape said, at `at_s` (monotonic seconds, the middle of asking and answer).

    `running` and `waiting` are requests of everybody, `own` those that we had there then. Tokens
    and preemptions count since the engine's start. vLLM sets its gauges when the engine has made a
    step, so they lag by up to one step and keep their values while it stands still
    (vllm/v1/metrics/loggers.py).
    """

    running: int
    waiting: int
    kv_usage_ratio: float | None
    preemptions_total: int
    kv_capacity_tokens: int | None
    prompt_tokens: float
    generation_tokens: float
    own: int
    at_s: float
    is_restarted: bool = False
    """Whether a counter was lower than at the scrape before: the engine began anew."""
    peers: int | None = None
    """Requests that other gateways had there then; None while that is not known."""

    @property
    def kv_pressure_ratio(self) -> float | None:
        """The KV usage, 0 to 1, as far as it is a reason to wait; None if it is not told.

        Without a request there is nothing that waiting could free, so a usage that stays high then
        (blocks kept for a decoding twin, or a figure that is stuck) keeps nobody away.
        """
        return self.kv_usage_ratio if self.running + self.waiting > 0 else 0.0

    @property
    def foreign(self) -> int:
        """Requests there at that moment that were not ours; one that just ended counts still."""
        return max(0, self.running + self.waiting - self.own)

    def strange(self, peers: int) -> int:
        """Those of them that no gateway has sent; `peers` stands in where it was not known."""
        return max(0, self.foreign - (peers if self.peers is None else self.peers))


@dataclass(frozen=True, slots=True)
class Scrapes:
    """The last two good scrapes of a backend that is asked every `interval_s`."""

    interval_s: float
    last: Gauges | None = None
    before: Gauges | None = None

    @property
    def stale_after_s(self) -> float:
        """The age in seconds from which figures count for nothing: 3 intervals, at least 3 s."""
        return max(_LEAST_STALE_S, _STALE_INTERVALS * self.interval_s)

    def take(
        self,
        activity: Activity | None,
        asked_s: float,
        answered_s: float,
        own: int,
        peers: int | None = None,
    ) -> "Scrapes":
        """The scrapes after one more; one that failed, or comes after a later one, adds nothing."""
        if activity is None:
            return self
        last = self.last
        gauges = _gauges(activity, (asked_s + answered_s) / 2.0, own)._replace(peers=peers)
        if last is None:
            return replace(self, last=gauges)
        if gauges.at_s < last.at_s:
            return self
        return replace(
            self, last=gauges._replace(is_restarted=_is_lower(gauges, last)), before=last
        )

    def gauges_at(self, now: float) -> Gauges | None:
        """The newest figures; None if they are too old, and then nothing is known."""
        last = self.last
        return None if last is None or now - last.at_s > self.stale_after_s else last

    def foreign_at(
        self, now: float, most_running: int | None = None, peers: int | None = None
    ) -> int:
        """The requests of others that are there at `now`, 0 while that is not known.

        `peers` are those that other gateways have there now: they do not count among these.
        """
        last, before = self.gauges_at(now), self.before
        if last is None or before is None or last.at_s - before.at_s > self.stale_after_s:
            return 0
        return foreign_requests(last, before, most_running, peers)


def foreign_requests(
    last: Gauges, before: Gauges, most_running: int | None = None, peers: int | None = None
) -> int:
    """The requests of others that both scrapes saw, so that one that just ended does not count.

    0 if the engine began anew between them, and if more are said to run than the engine can run
    (`most_running`: its --max-num-seqs, times its engines), since then the figures are wrong.
    """
    if last.is_restarted:
        return 0
    if most_running is not None and max(last.running, before.running) > most_running:
        return 0
    if peers is not None:
        return min(last.strange(peers), before.strange(peers))
    return min(last.foreign, before.foreign)


def _gauges(activity: Activity, at_s: float, own: int) -> Gauges:
    usage = activity.kv_usage_ratio
    return Gauges(
        running=_count(activity.running),
        waiting=_count(activity.waiting),
        kv_usage_ratio=None if usage is None else min(1.0, max(0.0, usage)),
        preemptions_total=_count(activity.preemptions_total),
        kv_capacity_tokens=activity.kv_capacity_tokens,
        prompt_tokens=activity.prompt_tokens,
        generation_tokens=activity.generation_tokens,
        own=own,
        at_s=at_s,
    )


def _is_lower(gauges: Gauges, before: Gauges) -> bool:
    """All of them: one alone may be a server that forgets, or a figure of somebody else."""
    return (
        gauges.generation_tokens < before.generation_tokens
        and gauges.prompt_tokens < before.prompt_tokens
        and gauges.preemptions_total <= before.preemptions_total
    )


def _count(value: float) -> int:
    return int(min(max(value, 0.0), _MOST)) if math.isfinite(value) else 0
