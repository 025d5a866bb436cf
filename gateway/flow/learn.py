"""What an attempt taught about its backend goes to the fleet, the counters and the events."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from gateway.errors import Refusal
from gateway.fleet.change import Change
from gateway.fleet.health.evidence import RequestFailed, RequestSucceeded, Severity
from gateway.fleet.live import LiveBackend
from gateway.fleet.registry import Registry
from gateway.fleet.speed import LEAST_EVENTS, SpeedSample
from gateway.flow.call import Call
from gateway.flow.course import Course
from gateway.flow.slot import Slot
from gateway.flow.stream import OpenStream
from gateway.observe.events import Events
from gateway.observe.metrics import Metrics
from gateway.recovery.classify import Failure, Kind
from gateway.recovery.plan import Move, Step


class Company(NamedTuple):
    """The requests in flight at a backend when one begins there, and how many ever did."""

    in_flight: int
    arrivals_total: int


_QUIET: Final = frozenset({Kind.CLIENT_ERROR, Kind.CONTEXT_TOO_LONG})


class Lessons:
    """Notes how attempts ended.

    `tell` is given every change of a backend; `on_doubt` one that should be looked at now;
    `diagnose` turns an error text into a known cause, or None.
    """

    __slots__ = ("_diagnose", "_events", "_fleet", "_metrics", "_on_doubt", "_tell")

    def __init__(
        self,
        fleet: Registry,
        metrics: Metrics,
        events: Events,
        tell: Callable[[Sequence[Change]], None],
        on_doubt: Callable[[LiveBackend], None],
        diagnose: Callable[[str], str | None],
    ) -> None:
        self._fleet = fleet
        self._metrics = metrics
        self._events = events
        self._tell = tell
        self._on_doubt = on_doubt
        self._diagnose = diagnose

    def begun(self, live: LiveBackend, now: float) -> Company:
        """A request goes to the backend; returns what else is there."""
        self._metrics.attempt_started(live.config.name)
        live.last_request_s = now
        return Company(live.in_flight, live.arrivals_total)

    def succeeded(self, live: LiveBackend, now: float) -> None:
        """The backend gave a whole answer, which is known at its end."""
        live.last_request_s = now
        if not live.health.is_well or live.breaker.failures:
            self._tell(live.observe(RequestSucceeded(), now))

    def streamed(
        self, live: LiveBackend, stream: OpenStream, company: Company, began_s: float, now: float
    ) -> None:
        """The backend streamed a whole answer from `began_s` on: that also tells its speed."""
        self.succeeded(live, now)
        events = stream.watch.events_total
        if events < LEAST_EVENTS or stream.was_held or now <= began_s:
            return
        arrived = live.arrivals_total - company.arrivals_total
        sample = SpeedSample(
            (now - began_s) / (events - 1),
            least=min(company.in_flight, live.in_flight),
            most=company.in_flight + arrived,
        )
        self._tell(self._fleet.note_speed(live, sample, now))

    def failed(self, slot: Slot, failure: Failure, request_id: str, now: float) -> None:
        """An attempt failed; the client's own faults say nothing about the backend, good or bad."""
        if failure.kind in _QUIET:
            return
        live, backend = slot.live, slot.backend
        finding = self._diagnose(failure.message)
        if finding is not None and failure.is_backends_fault:
            live.finding = finding
        self._metrics.attempt_failed(backend.name, failure.kind.value)
        self._events.add(
            "warning",
            "attempt_failed",
            backend=backend.name,
            failure=failure.kind.value,
            reason=failure.message,
            finding=finding,
            request_id=request_id,
        )
        if failure.kind is Kind.NAME_DRIFT:
            live.refuse_name(backend.served_name, now)
        if failure.is_backends_fault:
            evidence = RequestFailed(failure.message, _severity(failure))
            self._tell(live.observe(evidence, now))
        if failure.kind is not Kind.POOL_EXHAUSTED:
            self._on_doubt(live)

    def planned(self, call: Call, course: Course, failure: Failure, step: Step) -> None:
        """What was decided after a failure."""
        assert call.model is not None
        is_resumed = course.resumption is not None
        is_over = step.move in (Move.PASS_ON, Move.GIVE_UP)
        if failure.kind in _QUIET and is_over:
            return
        kind = "given_up" if is_over else "resume" if is_resumed else "retry"
        self._events.add(
            "info",
            kind,
            model=call.model.name,
            backend=call.backend,
            move=step.move.value,
            reason=step.reason,
            wait_s=round(step.wait_s, 3),
            request_id=call.request_id,
        )
        if not is_over:
            self._metrics.moved(call.model.name, kind)

    def gave_up(self, call: Call, refusal: Refusal) -> None:
        """Nothing could make a failure good."""
        self._events.add(
            "warning",
            "given_up",
            model=None if call.model is None else call.model.name,
            backend=call.backend,
            reason=refusal.message,
            request_id=call.request_id,
        )


def _severity(failure: Failure) -> Severity:
    if failure.kind is Kind.UNREACHABLE:
        return Severity.UNREACHABLE
    return Severity.CRASH if failure.kind is Kind.ENGINE_DEAD else Severity.SOFT
