"""Three gateways that share a store in virtual time, against one, and against session hashing."""

from typing import Any, Final

from tests.replicas.report import Goal, at_most
from tests.sim.figures import paired
from tests.sim.run import Task, run_tasks

GATEWAYS: Final = 3
MOST_CHAT: Final = 1.10
MOST_SESSIONS: Final = 1.02
_REQUESTS: Final = 500
_FIRST_SEED: Final = 3001
_SHARED: Final = f"product@{GATEWAYS}+store"


def measure(seeds: int) -> tuple[list[Goal], dict[str, Any]]:
    """Mean end-to-end times as ratios over paired seeds."""
    chat, chat_spread = _ratio("chat", "product", seeds)
    sessions, session_spread = _ratio("a2_agents", "session_hash", seeds)
    apart, _ = _ratio("chat", "product", seeds, f"product@{GATEWAYS}")
    goals = [
        at_most("simulated: chat, three gateways / one", chat, MOST_CHAT),
        at_most("simulated: sessions on A2, three / session hashing", sessions, MOST_SESSIONS),
    ]
    return goals, {
        "seeds": seeds,
        "chat": chat_spread,
        "sessions": session_spread,
        "chat_three_that_share_nothing": round(apart, 3),
    }


def _ratio(
    scenario: str, against: str, seeds: int, policy: str = _SHARED
) -> tuple[float, dict[str, float]]:
    numbers = range(_FIRST_SEED, _FIRST_SEED + seeds)
    tasks = [
        Task(scenario, one, seed, _REQUESTS, None, "fast", sizes_known=True)
        for one in (policy, against)
        for seed in numbers
    ]
    rows = run_tasks(tasks, 2)
    ours, theirs = (
        {row.task.seed: row.figures.mean_s for row in rows if row.task.policy == name}
        for name in (policy, against)
    )
    ratio = paired(ours, theirs)
    told = {"mean": ratio.mean, "low": ratio.low, "high": ratio.high}
    return ratio.mean, {name: round(value, 4) for name, value in told.items()}
