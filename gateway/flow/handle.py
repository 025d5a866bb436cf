"""The life of one request, from its head to its last byte, a step a line."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from gateway.access.keys import Keyring
from gateway.clock import Clock
from gateway.errors import ClientGone, Outcome, Refusal
from gateway.fleet.registry import Registry
from gateway.flow.admit import Admitted, NothingLeft, admit
from gateway.flow.answer import Failed, StreamAnswer
from gateway.flow.attempt import receive as receive_answer
from gateway.flow.attempt import send as send_request
from gateway.flow.authorize import authorize
from gateway.flow.call import CONNECTION, Call, ClientConnection, Receive, Scope, Send
from gateway.flow.inflight import InFlight
from gateway.flow.learn import Lessons
from gateway.flow.recover import Attempts, after_failure, when_nothing_is_left
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
from gateway.flow.take import Taken, take
from gateway.flow.target import Targets
from gateway.observe.logs import Log
from gateway.observe.metrics import Metrics
from gateway.protocol.endpoints import Endpoint
from gateway.protocol.envelope import ErrorView
from gateway.recovery.classify import Failure


@dataclass(frozen=True, slots=True)
class Flow:
    """Everything that a request meets on its way."""

    fleet: Registry
    keys: Keyring
    targets: Targets
    lessons: Lessons
    in_flight: InFlight
    ids: RequestIds
    metrics: Metrics
    log: Log
    clock: Clock
    draw: Callable[[], float]
    max_body_bytes: int

    async def handle(self, endpoint: Endpoint, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request of an endpoint; whatever happens, it is settled once."""
        call = Call(endpoint, scope, send, self.ids.of(scope["headers"]), self.clock.monotonic_s())
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
        call.limit(call.started_s + BODY_LIMIT_S, _body_too_slow)
        taken = await take(call, receive, self.max_body_bytes)
        with taken.payload:
            resolve(call, self.fleet, taken.facts.model, _everything)
            check_limits(call, taken.facts, taken.size_bytes)
            call.payload = taken.facts.payload
            await self._serve(call, taken)

    async def _serve(self, call: Call, taken: Taken) -> None:
        assert call.model is not None
        attempts = Attempts()
        while True:
            now = self.clock.monotonic_s()
            try:
                admitted = admit(call, self.fleet, attempts.tried, now, self.draw)
            except NothingLeft as end:
                answer = when_nothing_is_left(attempts, end, call.model.name)
                break
            with self.fleet.lease(admitted.backend.name):
                failed = await self._try(call, taken, admitted)
            if failed is None:
                return
            attempts.tried.append(admitted.backend.name)
            handed_on = after_failure(attempts, failed, admitted.model.name)
            if handed_on is not None:
                answer = handed_on
                break
        await relay_backend_error(call, answer)

    async def _try(self, call: Call, taken: Taken, admitted: Admitted) -> Failed | None:
        """One attempt and, if it brings an answer, its relay; else how it failed."""
        backend, now = admitted.backend, self.clock.monotonic_s
        call.enter_attempt(admitted.model, backend.name)
        self.lessons.begun(backend.name)
        target = self.targets.target(call, admitted, taken, now())
        # The exchange has this limit as well; this one also ends a client that does not read.
        call.limit(now() + target.limits.total_s + 1.0, _took_too_long)
        exchange = await send_request(target, taken.payload)
        if isinstance(exchange, Failed):
            self.lessons.failed(backend, exchange.failure, call.request_id, now())
            return exchange
        broken: Failure | None = None
        async with exchange:
            answer = await receive_answer(target, exchange)
            if isinstance(answer, Failed):
                self.lessons.failed(backend, answer.failure, call.request_id, now())
                return answer
            if isinstance(answer, StreamAnswer):
                call.ttft_s = now() - call.started_s
                broken = await relay_stream(call, answer, target.told)
            else:
                await relay_whole(call, answer)
        if broken is None:
            self.lessons.succeeded(backend.name, now())
        else:
            self.lessons.failed(backend, broken, call.request_id, now())
        return None


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
