"""Waiting for the right place: at the gateway, where any backend that comes free can take it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, NamedTuple

from gateway.errors import Refusal
from gateway.fleet.bulletin import Waiting
from gateway.fleet.lease import Lease
from gateway.fleet.live import LiveBackend
from gateway.fleet.names import Model
from gateway.fleet.registry import Registry
from gateway.fleet.view import BackendFacts, ModelView
from gateway.fleet.working import Working
from gateway.flow.call import Call
from gateway.flow.course import Course
from gateway.flow.demand import Demand, response_key, want_of
from gateway.flow.homes import Homes
from gateway.flow.lanes import Lanes
from gateway.flow.no_place import NothingLeft, overloaded, refuse_in_vain
from gateway.flow.slot import Slot
from gateway.placement.eligible import Refused
from gateway.placement.rule import Draw
from gateway.placement.want import Kind, Placed, Want
from gateway.store.shared import SharedStore
from gateway.store.shares import Shares

_LOOK_EVERY_S: Final = 0.25


class _Waiter(NamedTuple):
    """Who waits, for what, and where its slot is put."""

    call: Call
    demand: Demand
    course: Course
    future: asyncio.Future[Slot]


class Halls:
    """The lines of all models, and whoever waits in them."""

    __slots__ = (
        "_crashed",
        "_draw",
        "_fleet",
        "_freed",
        "_homes",
        "_now",
        "_waiters",
        "lanes",
        "shares",
    )

    def __init__(
        self,
        fleet: Registry,
        now: Callable[[], float],
        draw: Draw,
        crashed: Callable[[Exception], None],
        freed: Callable[[LiveBackend], None] = lambda live: None,
        store: SharedStore | None = None,
    ) -> None:
        self._fleet = fleet
        self._crashed = crashed
        self._freed = freed
        self._now = now
        self._draw = draw
        self._waiters: dict[Want, _Waiter] = {}
        self._homes = Homes()
        self.lanes = lanes = Lanes(fleet, is_shared=store is not None)
        self.shares = None if store is None else Shares(store, lanes.models_at, lanes.oldest_s, now)

    def __repr__(self) -> str:
        return f"<Halls {self.lanes!r}>"

    def waiting(self, model: str) -> int:
        """How many requests wait for a model."""
        return self.lanes.length(model)

    def lines(self, now: float) -> dict[str, Waiting]:
        """How many wait for each model that somebody waits for, and since how many seconds."""
        found = self.lanes.waiting()
        return {
            model.name: Waiting(self.lanes.length(model.name), now - oldest_s)
            for model in found
            if (oldest_s := self.lanes.oldest_s(model.name)) is not None
        }

    def apply(self) -> None:
        """Takes over what the fleet's routing file says now, and looks at those that wait."""
        self.lanes.apply()
        for waiter in self._waiters.values():
            waiter.course.forget_moved(self._fleet.backends)
        self.look()

    @asynccontextmanager
    async def place(self, call: Call, demand: Demand, course: Course) -> AsyncIterator[Slot]:
        """A place for the request, at once or when it is its turn; it is given back at the end.

        Raises `NothingLeft` when no backend may take it, and `Refusal` OVERLOADED when the line is
        full or the wait too long. Whoever is cancelled while waiting has left the line.
        """
        slot = await self._shared(call, demand, course)
        try:
            yield slot
        finally:
            slot.give_back()

    def answered(self, response_id: str, backend: str) -> None:
        """The backend keeps this answer: requests that continue it must go there."""
        self._homes.note(response_key(response_id), backend)

    def look(self) -> None:
        """Looks at everybody who waits: something about a backend has changed."""
        self._pump_all(self.lanes.waiting())

    async def watch(self) -> None:
        """Looks now and then: backends recover, their shares rise, and waits grow."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            self.look()

    async def _shared(self, call: Call, demand: Demand, course: Course) -> Slot:
        """A place that no other gateway has taken meanwhile; who lost one waits on, as before."""
        shares, longest_s = self.shares, self._fleet.config.queue.max_wait_s
        until_s = self._now() + longest_s
        while True:
            slot = await self._take(call, demand, course)
            if shares is None or slot.working is None:
                return slot
            try:
                place = await shares.claim(
                    slot.live, slot.model.name, slot.working.sequences, slot.limit
                )
            except BaseException:
                slot.give_back()
                raise
            if place is not None:
                slot.keep(partial(shares.release, place))
                return slot
            slot.give_back()
            course.has_lost_a_place = True
            if self._now() > until_s:
                raise overloaded(slot.model, f"none came free within {longest_s:g} s", None)

    async def _take(self, call: Call, demand: Demand, course: Course) -> Slot:
        slot = self._again(demand, course)
        if slot is not None:
            return slot
        course.forget_moved(self._fleet.backends)
        refused: list[Refused] = []
        backends_total = 0
        too_long: Refusal | None = None
        for wanted in self._models(call, course):
            # By then the request may have waited for the one before, through a reload.
            model, now = self._fleet.current(wanted), self._now()
            view = self._fleet.view(model, now)
            backends_total += len(view.backends)
            lessons = self._fleet.lessons_of(model.name)
            try:
                want = want_of(call, demand, course, model, lessons, view)
            except Refusal as refusal:
                too_long = too_long or refusal
                continue
            want.home, want.is_bound = self._homes.of(demand.conversation), demand.is_stored
            try:
                return await self._wait(call, demand, course, model, want, view)
            except NothingLeft as end:
                refused += end.refused
        if too_long is not None and not course.failed:
            raise too_long
        raise NothingLeft(tuple(refused), backends_total)

    def _again(self, demand: Demand, course: Course) -> Slot | None:
        """A place where it is to be asked once more, if requests may still be sent there."""
        live = course.last_live
        if course.again is None or live is None or not live.may_serve:
            return None
        model, name = self._fleet.current(course.again[0]), live.config.name
        if self._fleet.backends.get(name) is not live:
            return None
        seen = self._fleet.view(model, self._now()).backends
        facts = next((backend.facts for backend in seen if backend.facts.name == name), None)
        return None if facts is None else self._slot(demand, model, facts, None)

    def _models(self, call: Call, course: Course) -> tuple[Model, ...]:
        assert call.model is not None
        if course.resumption is not None:
            # Another model would say something else.
            return (self._fleet.current(course.resumption.model),)
        model = self._fleet.current(call.model)
        return (model, *self._fleet.fallbacks(model))

    async def _wait(
        self, call: Call, demand: Demand, course: Course, model: Model, want: Want, view: ModelView
    ) -> Slot:
        lane, longest_s = self.lanes.of(model), self._fleet.config.queue.max_wait_s
        waiter: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()
        self._waiters[want] = _Waiter(call, demand, course, waiter)
        lane.join(want)
        self.lanes.joined(model)
        try:
            self._pump(model, view)
            if not waiter.done():
                if not call.attempts and not course.has_lost_a_place:
                    others = 0 if self.shares is None else self.shares.waiting(model.name)
                    refuse_in_vain(model, lane, longest_s, others)
                now = self._now()
                view = self._fleet.view(model, now)
                call.trail.joined(len(lane), lane.wait_s(len(lane)), now, view)
                async with asyncio.timeout(longest_s):
                    await waiter
        except TimeoutError:
            # In the very moment in which the time was over, a place may have been given.
            if not waiter.done() or waiter.cancelled():
                told = f"none came free within {longest_s:g} s"
                raise overloaded(model, told, None) from None
        except BaseException:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                waiter.result().give_back()
            raise
        finally:
            lane.leave(want)
            self.lanes.left(model)
            del self._waiters[want]
        return waiter.result()

    def _pump(self, model: Model, seen: ModelView | None = None) -> None:
        """Places whom it can; `seen` is how the model's backends look just now, if known."""
        # Whoever waits since before a reload is placed by what holds now.
        model = self._fleet.current(model)
        lane, now = self.lanes.of(model), self._now()

        def look() -> ModelView:
            nonlocal seen
            view, seen = seen, None
            return view or self._fleet.view(model, now, lane.has_lasting_backlog(now))

        self.lanes.sweep(model)
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
        lessons = self._fleet.lessons_of(model.name)
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
        slot = Slot(model, backend, lease, working, lessons, self._now, self._left)
        if placed is not None:
            # Of the places in all, strangers have theirs without asking.
            slot.limit = max(1, placed.cap - placed.load.others)
        if working is not None:
            slot.remembers(demand.size, self.lanes.index(backend.name), demand.blocks)
            if not demand.is_stored:
                self._homes.note(demand.conversation, backend.name)
        # Last, so that nothing can fail between the taking and whoever gives it back.
        return slot.take()

    def _left(self, live: LiveBackend) -> None:
        self._pump_all(self.lanes.waiting_at(live.config.name))
        self._freed(live)

    def _pump_all(self, models: Iterable[Model]) -> None:
        """In this order; nobody's fault falls on whoever called."""
        for model in models:
            try:
                self._pump(model)
            except Exception as error:  # noqa: BLE001 - those that wait must not end this one
                self._crashed(error)
