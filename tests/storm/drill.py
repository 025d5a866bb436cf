"""Carrying out reloads one by one, each with a look at what came of it; and many at once."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from tests.storm.disk import Disk
from tests.storm.gateway import Gateway
from tests.storm.plan import Step, Trigger
from tests.storm.servers import Removed

FORCE_LIMIT_S: Final = 10.0
"""Far above what a reload may take, which the goals say."""


@dataclass(slots=True)
class Log:
    """What the reloads did."""

    done: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    by: Counter[str] = field(default_factory=Counter)
    """Who put a file in force, as the gateway tells it."""
    force_s: dict[Trigger, list[float]] = field(default_factory=dict)
    """Seconds from the change on disk until it showed, by trigger."""
    slowest_s: float = 0.0
    slowest: str = ""
    """The step that took longest, with the one before it."""
    last: str = ""
    complaints: list[str] = field(default_factory=list)
    refused: int = 0
    mended: int = 0


class Driller:
    """Changes the file, asks for the reload and waits for what must come of it."""

    def __init__(self, disk: Disk, gateway: Gateway, removed: Removed, log: Log) -> None:
        self._disk = disk
        self._gateway = gateway
        self._removed = removed
        self._log = log

    def __repr__(self) -> str:
        return f"<Driller {self._log.done} done>"

    async def carry_out(self, step: Step) -> None:
        """One reload until it is confirmed."""
        log, gateway = self._log, self._gateway
        before = gateway.config
        await self._removed.returning(step.serving)
        began_s = time.monotonic()
        self._disk.write(step.data, step.writer)
        answer = await self._ask(step)
        is_there = await gateway.until(lambda: _shows(gateway.config, step), FORCE_LIMIT_S)
        spent_s = time.monotonic() - began_s
        log.done += 1
        log.kinds[step.kind] += 1
        if not is_there:
            log.complaints.append(f"{step}: /health does not show it: {gateway.config}")
            return
        if answer is not None and (wrong := _wrong_answer(answer, step)):
            log.complaints.append(f"{step}: {wrong}")
        if step.is_refused:
            log.refused += 1
        elif before.get("is_refused"):
            log.mended += 1
        if step.is_same:
            await self._nothing_changed(step, before)
        else:
            log.force_s.setdefault(step.trigger, []).append(spent_s)
            if spent_s > log.slowest_s:
                log.slowest_s, log.slowest = spent_s, f"{step} after {log.last or 'nothing'}"
        if gateway.config["loaded_at_s"] != before["loaded_at_s"]:
            log.by[str(gateway.config["by"]).partition(" ")[0].partition(":")[0]] += 1
        log.last = str(step)
        await self._removed.confirmed(step.serving)

    async def _ask(self, step: Step) -> tuple[int, dict[str, Any]] | None:
        match step.trigger:
            case Trigger.SIGHUP:
                self._gateway.hang_up()
            case Trigger.POST:
                return await self._gateway.reload()
            case Trigger.CLI:
                status = await self._gateway.reload_by_command()
                if status != int(step.is_refused):
                    self._log.complaints.append(f"{step}: the command ended with {status}")
        return None

    async def _nothing_changed(self, step: Step, before: dict[str, Any]) -> None:
        """A file that means the same starts nothing anew."""
        status, told = await self._gateway.reload()
        if (status, told.get("result"), told.get("version")) != (200, "unchanged", step.version):
            self._log.complaints.append(f"{step}: answered {status} {told}")
        if self._gateway.config["loaded_at_s"] != before["loaded_at_s"]:
            self._log.complaints.append(f"{step}: counts as loaded anew")


@dataclass(slots=True)
class Burst:
    """What came of many reloads at once."""

    changes: int = 0
    seconds: float = 0.0
    answers: Counter[str] = field(default_factory=Counter)
    settled_s: float | None = None
    """From the last change until the last good file was in force; None: never."""


async def burst(
    steps: list[Step], per_s: float, disk: Disk, gateway: Gateway, removed: Removed
) -> Burst:
    """Change the file so many times a second, ask at every other change, end with a good file."""
    await removed.returning(frozenset().union(*(step.serving for step in steps)))
    found = Burst(changes=len(steps))
    asking: list[asyncio.Task[str]] = []
    began_s = time.monotonic()
    for number, step in enumerate(steps):
        await asyncio.sleep(began_s + number / per_s - time.monotonic())
        if step.data is not None or disk.file.exists():
            disk.write(step.data, step.writer)
        if step.trigger is Trigger.POST:
            asking.append(asyncio.create_task(_answer(gateway)))
    last, written_s = steps[-1], time.monotonic()
    found.seconds = written_s - began_s
    if await gateway.until(lambda: _shows(gateway.config, last), FORCE_LIMIT_S):
        found.settled_s = time.monotonic() - written_s
    found.answers.update(await asyncio.gather(*asking))
    # Whoever asked late must not have brought anything else.
    if not _shows(gateway.config, last):
        found.settled_s = None
    await removed.confirmed(last.serving)
    return found


async def _answer(gateway: Gateway) -> str:
    try:
        status, told = await gateway.reload()
    except (httpx.HTTPError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return f"{status} {told.get('result', told)}"


def _shows(config: dict[str, Any], step: Step) -> bool:
    is_refused = config.get("is_refused")
    if config.get("version") != step.version or is_refused is not step.is_refused:
        return False
    return bool(config.get("problems")) is step.is_refused


def _wrong_answer(answer: tuple[int, dict[str, Any]], step: Step) -> str | None:
    status, told = answer
    result, version = told.get("result"), told.get("version")
    if step.is_refused:
        is_right = status == 422 and result == "refused" and bool(told.get("problems"))
    else:
        is_right = status == 200 and result in ("applied", "unchanged")
    return None if is_right and version == step.version else f"answered {status} {told}"
