"""One strike from its first moment until everything is well again, and what it took."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tests.chaos.backend import BackendProcess
from tests.chaos.kinds import Notice
from tests.chaos.load import Load
from tests.chaos.schedule import Part, Plan
from tests.chaos.watch import NO_MOVES, Moves, Watch

DETECTION_LIMIT_S: Final = 45.0
HITS_LIMIT_S: Final = 20.0
RECOVERY_LIMIT_S: Final = 60.0


class ChaosError(Exception):
    """The run cannot go on, and why."""


@dataclass(slots=True)
class Struck:
    """What one fault at one backend did. Monotonic seconds; None: not seen, or not yet."""

    part: Part
    begun_s: float
    lost_s: float | None = None
    """When the gateway first showed the backend as not up."""
    repaired_s: float | None = None
    up_s: float | None = None
    hits: int | None = None
    """Requests that a counted fault struck."""

    @property
    def detection_s(self) -> float | None:
        return None if self.lost_s is None else self.lost_s - self.begun_s

    @property
    def recovery_s(self) -> float | None:
        if self.lost_s is None or self.repaired_s is None or self.up_s is None:
            return None
        # A limit may end a request, and with it the backend's good name, when all is well again.
        return max(0.0, self.up_s - max(self.repaired_s, self.lost_s))

    @property
    def is_missed(self) -> bool:
        """The gateway had to notice it and did not."""
        return self.part.kind.notice is Notice.MUST and self.lost_s is None


@dataclass(slots=True)
class Drill:
    """One plan as it was carried out."""

    plan: Plan
    struck: list[Struck]
    requests: int = 0
    """Requests begun while the fault lasted."""
    moves: Moves = NO_MOVES
    ended_s: float | None = None

    def overlaps(self, start_s: float, end_s: float) -> bool:
        """Whether a request that ran in this time may have met it."""
        begun_s = min((one.begun_s for one in self.struck), default=end_s + 1)
        return begun_s <= end_s and (self.ended_s is None or start_s <= self.ended_s)


class Driller:
    """Carries out plans, one after the other."""

    def __init__(
        self,
        backends: Mapping[str, BackendProcess],
        watch: Watch,
        load: Load,
        rng: random.Random,
        least_requests: int,
        drills: list[Drill],
    ) -> None:
        self._backends = backends
        self._watch = watch
        self._load = load
        self._rng = rng
        self._least_requests = least_requests
        self._drills = drills

    async def carry_out(self, plan: Plan) -> Drill:
        """Strike, wait, repair, wait until all is well. ChaosError when that does not come."""
        before = await self._watch.moves()
        started = self._load.started
        drill = Drill(plan, [])
        self._drills.append(drill)
        for part in plan.parts:
            struck = Struck(part, time.monotonic())
            drill.struck.append(struck)
            await part.kind.begin(self._backends[part.victim], self._rng)
        await self._load.until_started(started + self._least_requests)
        await asyncio.gather(*(self._until_felt(one) for one in drill.struck))
        drill.requests = self._load.started - started
        await asyncio.gather(*(self._repair(one) for one in drill.struck))
        await asyncio.gather(*(self._until_up(one) for one in drill.struck))
        drill.moves = (await self._watch.moves()).since(before)
        drill.ended_s = time.monotonic()
        return drill

    async def be_calm(self, requests: int) -> None:
        """Wait until every backend is up and so many requests were begun after that."""
        try:
            await self._until(self._all_up, RECOVERY_LIMIT_S)
        except TimeoutError:
            raise ChaosError(
                f"not every backend is up after {RECOVERY_LIMIT_S:g} s without a fault; the "
                f"gateway says {self._watch.states()}"
            ) from None
        await self._load.until_started(self._load.started + requests)

    async def _all_up(self) -> bool:
        return all(self._watch.is_up(name) for name in self._backends)

    async def _until_felt(self, one: Struck) -> None:
        """Until a counted fault has struck and was made good, or a lasting one was noticed."""
        kind = one.part.kind
        if kind.strikes is not None:
            await self._until_used_up(one, kind.strikes)
            one.repaired_s = time.monotonic()
            await self._until_made_good(one)
        if kind.notice is Notice.MUST:
            try:
                await self._until(lambda: self._is_lost(one), DETECTION_LIMIT_S)
            except TimeoutError:
                return
        left_s = one.begun_s + (kind.repairs_itself_s or 0.0) - time.monotonic()
        await asyncio.sleep(max(0.0, left_s))

    async def _is_lost(self, one: Struck) -> bool:
        one.lost_s = one.lost_s or self._watch.lost_at(one.part.victim, one.begun_s)
        return one.lost_s is not None

    async def _until_used_up(self, one: Struck, strikes: int) -> None:
        backend = self._backends[one.part.victim]

        async def is_used_up() -> bool:
            found = await backend.faults_left()
            left: int = sum(f["count"] for f in found if f["kind"] == one.part.kind.name)
            one.hits = strikes - left
            return left == 0

        try:
            await self._until(is_used_up, HITS_LIMIT_S)
        except TimeoutError:
            await backend.clear()

    async def _until_made_good(self, one: Struck) -> None:
        """Until all requests have ended that may have been struck; if not, then not."""
        used_up_s = time.monotonic()

        async def is_made_good() -> bool:
            return not self._load.has_open_since(used_up_s)

        try:
            await self._until(is_made_good, one.part.kind.settle_s)
        except TimeoutError:
            return

    async def _repair(self, one: Struck) -> None:
        kind = one.part.kind
        await kind.repair(self._backends[one.part.victim])
        # A counted fault is over with its last strike.
        one.repaired_s = one.repaired_s or time.monotonic()
        if kind.repairs_itself_s is not None:
            one.repaired_s = one.begun_s + kind.repairs_itself_s

    async def _until_up(self, one: Struck) -> None:
        assert one.repaired_s is not None
        repaired_s = one.repaired_s
        await self._watch.next_look()
        await self._watch.next_look()

        async def is_up() -> bool:
            one.up_s = self._watch.up_at(one.part.victim, repaired_s)
            return one.up_s is not None

        try:
            await self._until(is_up, RECOVERY_LIMIT_S)
        except TimeoutError:
            told = self._watch.states().get(one.part.victim)
            raise ChaosError(
                f"backend {one.part.victim} is not up {RECOVERY_LIMIT_S:g} s after the repair of "
                f"{one.part.kind.name}; the gateway says {told}"
            ) from None
        await self._is_lost(one)

    async def _until(self, condition: Callable[[], Awaitable[bool]], limit_s: float) -> None:
        """Wait for a condition, looked at after every poll; TimeoutError."""
        async with asyncio.timeout(limit_s):
            while not await condition():
                await self._watch.next_look()
