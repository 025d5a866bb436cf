"""The life of one request, from its head to its last byte, a step a line."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass

from gateway.access.keys import Keyring
from gateway.clock import Clock
from gateway.config.timeouts import DEFAULT_TOTAL_S
from gateway.errors import ClientGone, Outcome, Refusal
from gateway.fleet.registry import Registry
from gateway.flow.answer import Failed, StreamAnswer
from gateway.flow.attempt import receive as receive_answer
from gateway.flow.attempt import send as send_request
from gateway.flow.authorize import authorize
from gateway.flow.budgets import Budgets
from gateway.flow.call import CONNECTION, Call, ClientConnection, Receive, Scope, Send
from gateway.flow.continuing import continuing
from gateway.flow.course import Course
from gateway.flow.demand import demand_of
from gateway.flow.hold import Halls
from gateway.flow.inflight import InFlight
from gateway.flow.learn import Lessons
from gateway.flow.no_place import NothingLeft
from gateway.flow.recover import next_step, when_nothing_is_left
from gateway.flow.relay import (
    end_with_error,
    relay_backend_error,
    relay_error,
    relay_stream,
    relay_whole,
)
from gateway.flow.request_ids import RequestIds
from gateway.flow.resolve import check_limits, resolve
from gateway.flow.settle import CLIENT_LEFT_STATUS, settle
from gateway.flow.slot import Slot
from gateway.flow.take import Taken, take
from gateway.flow.target import Targets
from gateway.observe.logs import Log
from gateway.observe.metrics import Metrics
from gateway.observe.trails import ANSWERED, Trails
from gateway.protocol.chunks import Protocol
from gateway.protocol.endpoints import Endpoint
from gateway.protocol.envelope import ErrorView
from gateway.protocol.response_id import response_id_in
from gateway.protocol.transcript import Transcript
from gateway.recovery.resume import why_not


@dataclass(frozen=True, slots=True)
class Flow:
    """Everything that a request meets on its way."""

    fleet: Registry
    keys: Keyring
    targets: Targets
    lessons: Lessons
    budgets: Budgets
    halls: Halls
    in_flight: InFlight
    ids: RequestIds
    metrics: Metrics
    trails: Trails
    log: Log
    clock: Clock
    draw: Callable[[], float]
    max_body_bytes: int

    async def handle(self, endpoint: Endpoint, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request of an endpoint; whatever happens, it is settled once."""
        ids, now = self.ids.of(scope["headers"]), self.clock.monotonic_s()
        call = Call(endpoint, scope, send, ids, now)
        try:
            with self.in_flight.running(call), call:
                await self._answer(call, receive)
        except ClientGone as gone:
            call.status, call.code, call.error = CLIENT_LEFT_STATUS, None, str(gone)
        except Refusal as refusal:
            await _refuse(call, refusal)
        except Exception as error:  # noqa: BLE001 - one request must not take others down
            self.log.crash("request_crashed", error, request_id=call.request_id)
            await _refuse(call, Refusal(Outcome.INTERNAL, _CRASHED))
        finally:
            settle(call, self.metrics, self.log, self.clock.monotonic_s())

    async def _answer(self, call: Call, receive: Receive) -> None:
        authorize(call, self.keys)
        # Only from here on: strangers could push everybody else's trails out.
        call.trail = self.trails.begin(
            call.request_id, None, call.caller.name, call.started_s, self.clock.wall_s()
        )
        call.limit(call.started_s + BODY_LIMIT_S, _body_too_slow)
        taken = await take(call, receive, self.max_body_bytes)
        with taken.payload:
            resolve(call, self.fleet, taken.facts.model, _everything)
            check_limits(call, taken.facts, taken.size_bytes)
            call.payload = taken.facts.payload
            await self._serve(call, taken)

    async def _serve(self, call: Call, taken: Taken) -> None:
        """Attempts, one after the other, until one succeeds or nothing more can be done."""
        assert call.model is not None
        course = self._begin(call, taken)
        demand = demand_of(call, taken, self.fleet.config.queue)
        while course.passed_on is None:
            try:
                async with self.halls.place(call, demand, course) as slot:
                    failed = await self._try(call, taken, course, slot)
                    if failed is not None:
                        # Before its place is given to the next.
                        self._learn(call, course, slot, failed)
            except NothingLeft as end:
                course.passed_on = when_nothing_is_left(call, course, end)
                break
            if failed is None:
                return
            await self._recover(call, course, failed)
        await relay_backend_error(call, course.passed_on)

    def _begin(self, call: Call, taken: Taken) -> Course:
        model, facts = call.model, taken.facts
        assert model is not None
        self.budgets.earn(model.name, call.started_s)
        call.total_s = model.config.timeouts.total_s or DEFAULT_TOTAL_S
        # From here on it is not the client that is waited for.
        call.limit(call.started_s + call.total_s + 1.0, _took_too_long)
        if not facts.is_stream:
            return Course()
        if call.endpoint.protocol is not Protocol.GENERIC:
            call.heartbeat_s = model.config.heartbeat_s or math.inf
        if all(len(m.members) < 2 for m in (model, *self.fleet.fallbacks(model))):
            return Course()
        reason = why_not(facts.payload, call.endpoint.protocol, model.config.resume)
        return Course(Transcript() if reason is None else None)

    async def _try(self, call: Call, taken: Taken, course: Course, slot: Slot) -> Failed | None:
        """One attempt and, if it brings an answer, its relay; else how it failed."""
        backend, now = slot.backend, self.clock.monotonic_s
        call.enter_attempt(slot.model, backend.name)
        call.trail.attempted(backend.name, slot.model.name, now())
        company = self.lessons.begun(slot.live, now())
        target = self.targets.target(call, slot, taken, course, now())
        if course.resumption is not None:
            target = await continuing(call, course.resumption, slot, target)
        # The exchange has this limit as well; this one also ends a client that does not read.
        call.limit(now() + target.limits.total_s + 1.0, _took_too_long)
        exchange = await send_request(target)
        if isinstance(exchange, Failed):
            return exchange
        async with exchange:
            answer = await receive_answer(target, exchange)
            if isinstance(answer, Failed):
                return answer
            if not isinstance(answer, StreamAnswer):
                self._keep_home(call, slot, answer.body)
                await relay_whole(call, answer)
                slot.answered(None if answer.reading is None else answer.reading.usage)
                call.trail.ended(ANSWERED, "", now())
                if call.endpoint.is_for_engine:
                    self.lessons.succeeded(slot.live, now())
                return None
            began_s = now()
            call.ttft_s = call.ttft_s or began_s - call.started_s
            self._keep_home(call, slot, answer.opening)
            broken = await relay_stream(call, answer, target.told, course, slot)
        if broken is not None:
            return Failed(broken)
        slot.answered(answer.counted.usage)
        call.trail.ended(ANSWERED, "", now())
        self.lessons.streamed(slot.live, answer.stream, company, began_s, now())
        return None

    def _keep_home(self, call: Call, slot: Slot, begin: bytes) -> None:
        """A stored response can only be continued where it is stored."""
        if call.endpoint.protocol is Protocol.RESPONSES:
            response_id = response_id_in(begin)
            if response_id is not None:
                self.halls.answered(response_id, slot.backend.name)

    def _learn(self, call: Call, course: Course, slot: Slot, failed: Failed) -> None:
        """What a failed attempt says of its backend."""
        now, failure = self.clock.monotonic_s(), failed.failure
        call.trail.ended(failure.kind.value, failure.message, now)
        self.lessons.failed(slot, failure, call.request_id, now)
        course.note(slot, failed)

    async def _recover(self, call: Call, course: Course, failed: Failed) -> None:
        """Sets the course for the attempt after a failed one; may raise `Refusal`."""
        now, failure = self.clock.monotonic_s(), failed.failure
        try:
            step = next_step(call, course, failed, self.fleet, self.budgets, now, self.draw())
        except Refusal as refusal:
            self.lessons.gave_up(call, refusal)
            raise
        self.lessons.planned(call, course, failure, step)
        if step.wait_s > 0:
            await asyncio.sleep(step.wait_s)


BODY_LIMIT_S = 300.0
"""Seconds in which a client must have sent its whole request."""

# How long a client that does not read is waited for before its connection is dropped.
_LAST_WORD_S = 5.0

_CRASHED = (
    "The gateway failed on this request. Try again; if it happens again, give the operator the "
    "request id of this answer."
)


def _everything(model: str) -> bool:
    """Every key may use every model for now."""
    return bool(model)


def _body_too_slow(call: Call) -> Refusal:
    return Refusal(
        Outcome.BODY_TOO_SLOW,
        f"The request to {call.endpoint.paths[0]} did not arrive whole within "
        f"{BODY_LIMIT_S:.0f} s. Send it again, faster.",
    )


def _took_too_long(call: Call) -> Refusal:
    return Refusal(
        Outcome.UPSTREAM_TIMEOUT,
        f"The request to '{call.asked}' took longer than the total_s of its model allows.",
    )


async def _refuse(call: Call, refusal: Refusal) -> None:
    """Tells the client of a refusal, or drops it if it does not read."""
    try:
        async with asyncio.timeout(_LAST_WORD_S):
            await _tell(call, refusal)
    except TimeoutError:
        connection: ClientConnection = call.scope[CONNECTION]
        connection.drop()


async def _tell(call: Call, refusal: Refusal) -> None:
    """As an answer, or as the last event of a stream."""
    if not call.has_started:
        await relay_error(call, ErrorView.of(refusal))
    elif call.is_stream:
        await end_with_error(call, refusal)
    else:
        call.code, call.error = refusal.outcome.value, refusal.message
