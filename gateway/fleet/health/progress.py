"""Whether an engine with work still moves: the rule that finds a hang behind a green /health."""

from dataclasses import dataclass, replace
from typing import Final

from gateway.fleet.health.evidence import (
    Activity,
    Hung,
    Look,
    Moved,
    ProbeFailed,
    ProbeOk,
    ProbeTrouble,
)

# Downloads of pictures and long tokenizing happen before an engine knows of a request.
_BEFORE_THE_ENGINE: Final = 3.0


@dataclass(frozen=True, slots=True)
class Progress:
    """When the engine last showed life (monotonic seconds), and its counters then."""

    alive_s: float
    activity: Activity | None = None


def take(
    progress: Progress, look: Look, longest_step_s: float, now: float
) -> tuple[Progress, Hung | Moved | None]:
    """The progress after one look, and what it proves, if anything.

    Life is: counters that changed (also downwards, which is a restart); an engine without work
    that nobody waits for; or, where the counters can't be read, bytes on a request of ours. Gauges
    keep their last value while an engine hangs (vLLM 0.32), so only change counts.
    """
    seen, before = look.activity, progress.activity
    if seen is not None:
        if before is None:
            return Progress(now, seen), None
        if seen != before:
            made = seen.generation_tokens - before.generation_tokens
            has_ended = made == 0 and seen.is_idle and not before.is_idle
            return Progress(now, seen), Moved() if made > 0 or has_ended else None
        if seen.is_idle and not look.is_awaited:
            return Progress(now, seen), None
        if seen.is_idle:
            # The API server may still be at work before the engine has the request.
            longest_step_s *= _BEFORE_THE_ENGINE
        return _stand(replace(progress, activity=seen), longest_step_s, now, _told(seen))
    if isinstance(look.probe, ProbeOk):
        # Without counters a slow answer can't be told from none, and slow is not dead.
        return replace(progress, alive_s=now), None
    heard = replace(progress, alive_s=max(progress.alive_s, look.heard_s))
    if not look.is_awaited:
        return heard, None
    return _stand(heard, longest_step_s, now, "requests wait and not a byte comes")


def is_stale(progress: Progress, now: float, after_s: float) -> bool:
    """Whether it is worth looking again soon."""
    return now - progress.alive_s > after_s


def is_only_busy(look: Look, proof: Hung | Moved | None, longest_step_s: float, now: float) -> bool:
    """Whether a probe that came too late met an engine whose tokens move."""
    probe = look.probe
    if not isinstance(probe, ProbeFailed) or probe.trouble is not ProbeTrouble.TIMEOUT:
        return False
    return isinstance(proof, Moved) or now - look.heard_s < longest_step_s


def _stand(
    progress: Progress, longest_step_s: float, now: float, told: str
) -> tuple[Progress, Hung | None]:
    still_s = now - progress.alive_s
    if still_s <= longest_step_s:
        return progress, None
    return progress, Hung(
        f"it hangs: {told}, for {still_s:.0f} s (longest legal step {longest_step_s:.0f} s)"
    )


def _told(seen: Activity) -> str:
    if seen.is_idle:
        return "requests wait, none runs and no token moves"
    return f"{seen.running:g} running and {seen.waiting:g} waiting requests, but no token moves"
