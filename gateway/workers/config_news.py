"""What is done with the outcome of each reading of the routing file: told, counted and kept."""

import asyncio
from pathlib import Path
from typing import Final

from gateway.clock import Clock
from gateway.config.problems import Severity
from gateway.observe.events import Events
from gateway.observe.metrics import Metrics
from gateway.store.history import History
from gateway.workers.reloading import Reloader
from gateway.workers.results import Applied
from gateway.workers.watching import changes_of

_TOLD: Final = 50


async def watch(reloader: Reloader, file: Path) -> None:
    """Reads the file whenever it may have changed."""
    async for _ in changes_of(file):
        await reloader.look("file")


def tell(result: Applied, metrics: Metrics, events: Events) -> None:
    """An event, a line in the log and a count."""
    metrics.reloaded(result.result)
    errors = [p for p in result.problems if p.severity is Severity.ERROR]
    if result.result == "refused":
        events.add(
            "error",
            "config_refused",
            by=result.who,
            in_force=result.version,
            errors=len(errors),
            problems=[problem.as_dict() for problem in errors[:_TOLD]],
        )
        return
    events.add(
        "info",
        "config_applied" if result.result == "applied" else "config_mended",
        by=result.who,
        version=result.version,
        changes=[change.en for change in result.changes[:_TOLD]] or None,
    )


async def keep(
    history: History, data: bytes, version: str, who: str, clock: Clock, events: Events
) -> None:
    """Keeps the text of a file that came into force."""
    text, when_s = data.decode("utf-8-sig", "replace"), clock.wall_s()
    await asyncio.to_thread(history.add, text, version, who, when_s)
    if history.trouble is not None:
        events.add("warning", "config_not_kept", version=version, reason=history.trouble.en)
