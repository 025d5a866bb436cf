"""Waiting for the right place: at the gateway, where any backend that comes free can take it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from gateway.errors import Refusal
from gateway.fleet.lease import Lease
from gateway.fleet.names import Model
from gateway.fleet.registry import Registry
from gateway.fleet.view import BackendFacts, ModelView
from gateway.fleet.working import Working
from gateway.flow.call import Call
from gateway.flow.course import Course
from gateway.flow.demand import Demand, response_key, want_of
from gateway.flow.homes import Homes
from gateway.flow.no_place import NothingLeft, overloaded
from gateway.flow.slot import Slot
from gateway.placement.affinity import BLOCK_TOKENS, DEFAULT_BLOCKS, MOST_BLOCKS, PrefixIndex
from gateway.placement.eligible import Refused
from gateway.placement.lane import Lane
from gateway.placement.rule import Draw
from gateway.placement.rules import rule_of
from gateway.placement.want import Kind, Placed, Want

_LOOK_EVERY_S: Final = 0.25


class _Waiter(NamedTuple):
    """Who waits, for what, and where its slot is put."""

    call: Call
    demand: Demand
    future: asyncio.Future[Slot]


class Halls:
    """The lines of all models, and whoever waits in them."""

    __slots__ = (
        "_crashed",
        "_draw",
        "_fleet",
        "_homes",
        "_indexes",
        "_lanes",
        "_models_at",
        "_now",
        "_restarts",
        "_rules",
        "_sizes",
        "_waiters",
    )

    def __init__(
        self,
        fleet: Registry,
        now: Callable[[], float],
        draw: Draw,
        crashed: Callable[[Exception], None],
    ) -> None:
        self._fleet = fleet
        self._crashed = crashed
        self._now = now
        self._draw = draw
        self._rules = fleet.config.queue
        self._waiters: dict[Want, _Waiter] = {}
        self._homes = Homes()
        self._indexes = {name: PrefixIndex(DEFAULT_BLOCKS) for name in fleet.backends}
        self._restarts = dict.fromkeys(fleet.backends, 0)
        self._sizes = dict.fromkeys(fleet.backends, 0)
        self._lanes: dict[str, Lane] = {}
        self._models_at: dict[str, list[Model]] = {}
        for model in fleet.names.models.values():
            self._lanes[model.name] = Lane(
                rule_of(model.config.placement),
                model.config.order,
                self._rules.max_requests,
                self._indexes,
                fleet.lessons[model.name].lengths,
            )
            for member in model.members:
                self._models_at.setdefault(member.backend.name, []).append(model)

    def __repr__(self) -> str:
        return f"<Halls { ({name: len(lane) for name, lane in self._lanes.items() if len(lane)}) }>"

    def waiting(self, model: str) -> int:
        """How many requests wait for a model."""
        return len(self._lanes[model])

    @asynccontextmanager
    async def place(self, call: Call, demand: Demand, course: Course) -> AsyncIterator[Slot]:
        """A place for the request, at once or when it is its turn; it is given back at the end.

        Raises `NothingLeft` when no backend may take it, and `Refusal` OVERLOADED when the line is
        full or the wait too long. Whoever is cancelled while waiting has left the line.
        """
        slot = await self._take(call, demand, course)
        try:
            yield slot
        finally:
            slot.give_back()

    def answered(self, response_id: str, backend: str) -> None:
        """The backend keeps this answer: requests that continue it must go there."""
        self._homes.note(response_key(response_id), backend)

    def look(self) -> None:
        """Looks at everybody who waits: something about a backend has changed."""
        self._pump_all(self._fleet.names.models.values())

    async def watch(self) -> None:
        """Looks now and then: backends recover, their shares rise, and waits grow."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            self.look()

    async def _take(self, call: Call, demand: Demand, course: Course) -> Slot:
        if course.again is not None:
            model, backend = course.again
            return self._slot(demand, model, backend, None)
        refused: list[Refused] = []
        backends_total = 0
        too_long: Refusal | None = None
        for model in self._models(call, course):
            now = self._now()
            view = self._fleet.view(model, now)
            backends_total += len(view.backends)
            lessons = self._fleet.lessons[model.name]
            try:
                want = want_of(call, demand, course, model, lessons, view)
            except Refusal as refusal:
                too_long = too_long or refusal
                continue
            want.home, want.is_bound = self._homes.of(demand.conversation), demand.is_stored
            try:
                return await self._wait(call, demand, model, want, view)
            except NothingLeft as end:
                refused += end.refused
        if too_long is not None and not course.failed:
            raise too_long
        raise NothingLeft(tuple(refused), backends_total)

    def _models(self, call: Call, course: Course) -> tuple[Model, ...]:
        assert call.model is not None
        if course.resumption is not None:
            # Another model would say something else.
            return (course.resumption.model,)
        return (call.model, *self._fleet.fallbacks(call.model))

    async def _wait(
        self, call: Call, demand: Demand, model: Model, want: Want, view: ModelView
    ) -> Slot:
        lane = self._lanes[model.name]
        waiter: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()
        self._waiters[want] = _Waiter(call, demand, waiter)
        lane.join(want)
        try:
            self._pump(model, view)
            if not waiter.done():
                if not call.attempts:
                    self._check(model, lane)
                now = self._now()
                view = self._fleet.view(model, now)
                call.trail.joined(len(lane), lane.wait_s(len(lane)), now, view)
                async with asyncio.timeout(self._rules.max_wait_s):
                    await waiter
        except TimeoutError:
            # In the very moment in which the time was over, a place may have been given.
            if not waiter.done() or waiter.cancelled():
                told = f"none came free within {self._rules.max_wait_s:g} s"
                raise overloaded(model, told, None) from None
        except BaseException:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                waiter.result().give_back()
            raise
        finally:
            lane.leave(want)
            del self._waiters[want]
        return waiter.result()

    def _check(self, model: Model, lane: Lane) -> None:
        """Refuses at once what would wait in vain."""
        if lane.is_over:
            told = f"{len(lane) - 1} requests wait already"
            raise overloaded(model, told, lane.wait_s(len(lane)))
        expected_s = lane.wait_s(len(lane))
        if expected_s is not None and expected_s > self._rules.max_wait_s:
            told = f"{len(lane) - 1} requests wait, which takes about {expected_s:.0f} s"
            raise overloaded(model, told, expected_s)

    def _pump(self, model: Model, seen: ModelView | None = None) -> None:
        """Places whom it can; each has its slot before the next one is looked at.

        `seen` is how the model's backends look just now, if that is known already.
        """
        lane = self._lanes[model.name]
        now = self._now()

        def look() -> ModelView:
            nonlocal seen
            view, seen = seen, None
            return view or self._fleet.view(model, now, lane.has_lasting_backlog(now))

        self._sweep(model)
        for placed in lane.plan(look, now, self._draw):
            waiter = self._waiters[placed.want]
            if waiter.future.done():
                # It has just left and could not yet say so.
                continue
            try:
                waiter.call.trail.decided(placed, now, len(lane))
                if placed.backend is None:
                    raise NothingLeft(placed.refused, len(placed.view.backends))
                slot = self._slot(waiter.demand, model, placed.backend.facts, placed)
            except Exception as error:  # noqa: BLE001 - it is for the one that waits
                waiter.future.set_exception(error)
            else:
                waiter.future.set_result(slot)

    def _slot(
        self,
        demand: Demand,
        model: Model,
        backend: BackendFacts,
        placed: Placed | None,
    ) -> Slot:
        lessons = self._fleet.lessons[model.name]
        working = None
        if demand.kind is Kind.GENERATE:
            prompt = lessons.text.estimate_tokens(demand.size)
            uncached = prompt if placed is None else round(placed.ask.uncached_tokens)
            working = Working(
                prompt,
                uncached,
                demand.limit_tokens,
                lessons.lengths,
                demand.is_stream,
                demand.sequences,
            )
        lease = Lease(self._fleet.backends[backend.name], demand.body_bytes)
        slot = Slot(model, backend, lease, working, lessons, self._now, self._freed)
        if working is not None:
            slot.remembers(demand.size, self._indexes[backend.name], demand.blocks)
            if not demand.is_stored:
                self._homes.note(demand.conversation, backend.name)
        # Last, so that nothing can fail between the taking and whoever gives it back.
        return slot.take()

    def _freed(self, backend: str) -> None:
        self._pump_all(self._models_at.get(backend, ()))

    def _pump_all(self, models: Iterable[Model]) -> None:
        """Whose first has waited longest is first; nobody's fault falls on whoever called."""
        lanes = self._lanes
        waiting = [model for model in models if len(lanes[model.name])]
        if len(waiting) > 1:
            waiting.sort(key=lambda model: lanes[model.name].oldest_s)
        for model in waiting:
            try:
                self._pump(model)
            except Exception as error:  # noqa: BLE001 - those that wait must not end this one
                self._crashed(error)

    def _sweep(self, model: Model) -> None:
        """An engine that was started anew has an empty cache; one that told its memory, a size."""
        for member in model.members:
            name = member.backend.name
            work = self._fleet.backends[name].work
            if work.kv_tokens is not None and work.kv_tokens != self._sizes[name]:
                self._sizes[name] = work.kv_tokens
                self._indexes[name].resize(min(work.kv_tokens // BLOCK_TOKENS, MOST_BLOCKS))
            if work.restarts_total != self._restarts[name]:
                self._restarts[name] = work.restarts_total
                self._indexes[name].clear()
