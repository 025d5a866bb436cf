"""What one request has been through so far, and what its next attempt is."""

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.fleet.live import LiveBackend
from gateway.fleet.names import Model
from gateway.fleet.view import BackendFacts
from gateway.flow.answer import Failed, WholeAnswer
from gateway.flow.slot import Slot
from gateway.placement.eligible import Need
from gateway.placement.want import Domain
from gateway.protocol.splice import Way
from gateway.protocol.transcript import Transcript
from gateway.recovery.classify import Failure, Kind


@dataclass(slots=True)
class Resumption:
    """A stream that broke while its client listened, and how it is to go on.

    `first` is the failure that broke it, which is what the client is told if nothing helps.
    `ways` are those still to be tried at the next backend, the best first.
    """

    first: Failure
    model: Model
    transcript: Transcript
    ways: tuple[Way, ...]

    @property
    def way(self) -> Way:
        """The way of the next attempt."""
        return self.ways[0]


class Course:
    """The attempts of one request, in order, and the state that the next one starts from.

    `transcript` is kept for streams that may be resumed. `again` is the backend that is to be
    asked once more, `least_context_tokens` what a backend must have after one was too short.
    `has_lost_a_place` is true once another gateway was quicker, `has_told` once the client has a
    part of an answer, and `is_way_refused` once a backend refused the last way to continue it.
    """

    __slots__ = (
        "_tried",
        "again",
        "again_count",
        "failed",
        "failed_in",
        "has_lost_a_place",
        "has_second_round",
        "has_told",
        "is_way_refused",
        "last",
        "last_live",
        "least_context_tokens",
        "limit_moves",
        "need",
        "passed_on",
        "resumption",
        "transcript",
        "tried",
    )

    def __init__(self, transcript: Transcript | None = None) -> None:
        self.tried: list[str] = []
        self.failed: list[Failed] = []
        self.failed_in: list[Domain] = []
        self.again: tuple[Model, BackendFacts] | None = None
        self.again_count = 0
        self.limit_moves = 0
        self.least_context_tokens = 0
        self.need = Need()
        self.transcript = transcript
        self.has_lost_a_place = False
        self.has_second_round = False
        self.has_told = False
        self.is_way_refused = False
        self.last: tuple[Model, BackendFacts] | None = None
        self.last_live: LiveBackend | None = None
        self._tried: list[LiveBackend] = []
        self.resumption: Resumption | None = None
        self.passed_on: WholeAnswer | None = None

    def __repr__(self) -> str:
        return f"<Course {self.tried} failed={[f.failure.kind.value for f in self.failed]}>"

    @property
    def failures(self) -> list[Failure]:
        """The failures in order."""
        return [f.failure for f in self.failed]

    def forget_all_but_last(self) -> None:
        """All backends may be tried again, but not the one that failed last."""
        self._tried = [] if self.last_live is None else [self.last_live]
        self.tried = [live.config.name for live in self._tried]

    def forget_moved(self, backends: Mapping[str, LiveBackend]) -> None:
        """After a reload what was tried may have another name, and its name may be another's."""
        self._tried = [live for live in self._tried if backends.get(live.config.name) is live]
        # Whoever waits has this very list.
        self.tried[:] = [live.config.name for live in self._tried]

    def note(self, slot: Slot, failed: Failed) -> None:
        """An attempt at the slot's backend failed."""
        backend, live = slot.backend, slot.live
        self.last, self.last_live = (slot.model, backend), live
        if live in self._tried:
            self.again_count += 1
        else:
            self._tried.append(live)
            self.tried.append(live.config.name)
            self.again_count = 0
        self.again = None
        self.failed.append(failed)
        kind = failed.failure.kind
        self.is_way_refused = failed.failure.is_clients_fault or kind is Kind.MISMATCH
        if failed.failure.is_backends_fault:
            self.failed_in.append(Domain(backend.node, backend.card))
