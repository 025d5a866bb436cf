"""The simulated world: requests, a dispatcher and engines on one virtual clock."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from gateway.emulator.spec import EngineSpec
from tests.sim.dispatch import Dispatch, Dispatcher
from tests.sim.fast_engine import FastStation
from tests.sim.requests import SimRequest, Usage
from tests.sim.stations import Done, Station
from tests.sim.workload import Workload

SCRAPE_S: Final = 1.0
PATIENCE_S: Final = 3600.0
"""A dispatcher that holds requests this long before an idle fleet has lost them."""

StationMaker = Callable[[EngineSpec], Station]


class _Kind(IntEnum):
    STEP = 0
    ARRIVAL = 1
    SCRAPE = 2


@dataclass(slots=True)
class Record:
    """What became of one request."""

    request: SimRequest
    backend: int = -1
    dispatched: float = -1.0
    first_token: float = -1.0
    finished: float = -1.0
    preemptions: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one run."""

    workload: Workload
    records: tuple[Record, ...]
    """In order of arrival."""
    events: int


class World:
    """One run; made for one call of `run`."""

    def __init__(
        self, workload: Workload, stations: Sequence[Station], dispatcher: Dispatcher
    ) -> None:
        self.workload = workload
        self.now = 0.0
        self.records = {request.id: Record(request) for request in workload.requests}
        self._stations = stations
        self._dispatcher = dispatcher
        self._heap: list[tuple[float, int, int, int]] = []
        """Time, kind, index (of backend or request), version of the backend's plan."""
        self._versions = [0] * len(stations)
        self._unfinished = len(workload.requests)
        self._active_s = 0.0

    def run(self) -> Outcome:
        """Everything until the last request has finished."""
        for index, request in enumerate(self.workload.requests):
            self._heap.append((request.arrival_s, _Kind.ARRIVAL, index, 0))
        for index in range(len(self._stations)):
            self._heap.append((SCRAPE_S, _Kind.SCRAPE, index, 0))
        heapq.heapify(self._heap)
        events = 0
        while self._unfinished:
            self.now, kind, index, version = heapq.heappop(self._heap)
            if kind == _Kind.STEP:
                if version != self._versions[index]:
                    continue
                self._end(index)
            elif kind == _Kind.ARRIVAL:
                self._arrive(self.workload.requests[index])
            else:
                self._scrape(index)
            events += 1
        return Outcome(self.workload, tuple(self.records.values()), events)

    def _arrive(self, request: SimRequest) -> None:
        self._active_s = self.now
        self._look_everywhere()
        self._send(self._dispatcher.arrived(request.known, self.now))

    def _look_everywhere(self) -> None:
        for index, station in enumerate(self._stations):
            done = station.look(self.now)
            if done is not None:
                self._tell(index, done)

    def _scrape(self, index: int) -> None:
        if self.now - self._active_s > PATIENCE_S:
            raise RuntimeError(f"{self._unfinished} requests were never sent to an engine")
        if index == 0:
            self._look_everywhere()
        engine = self._stations[index].engine
        sends = self._dispatcher.scraped(
            index,
            engine.running,
            engine.waiting,
            engine.kv.usage_ratio,
            engine.totals.preemptions,
            self.now,
        )
        self._send(sends)
        heapq.heappush(self._heap, (self.now + SCRAPE_S, _Kind.SCRAPE, index, 0))

    def _end(self, index: int) -> None:
        """A backend has ended what it did; it goes on before anybody can react."""
        self._active_s = self.now
        station = self._stations[index]
        done = station.end()
        station.begin(self.now)
        self._plan(index)
        for name in done.preempted:
            self.records[name].preemptions += 1
        if done.finished:
            self._look_everywhere()
        self._tell(index, done)
        for name in done.finished:
            record = self.records[name]
            if record.finished >= 0:
                raise RuntimeError(f"request {name} finished twice")
            record.finished = self.now
            self._unfinished -= 1
            usage = Usage(record.request.prompt_tokens, record.request.output_tokens)
            self._send(self._dispatcher.finished(name, index, self.now, usage))

    def _tell(self, index: int, done: Done) -> None:
        for name in done.first:
            self.records[name].first_token = done.ended
            self._dispatcher.first_token(name, index, done.ended)
        if done.more:
            self._dispatcher.tokens(done.more, index, done.count, done.started, done.ended)

    def _send(self, sends: Sequence[Dispatch]) -> None:
        for request, index in sends:
            record = self.records[request.id]
            if record.backend >= 0:
                raise RuntimeError(f"request {request.id} was sent twice")
            record.backend = index
            record.dispatched = self.now
            station = self._stations[index]
            done = station.look(self.now)
            if done is not None:
                self._tell(index, done)
            station.submit(record.request, self.now)
            if station.ends is None:
                station.begin(self.now)
            self._plan(index)

    def _plan(self, index: int) -> None:
        """Note when the backend ends what it does now."""
        self._versions[index] += 1
        ends = self._stations[index].ends
        if ends is not None:
            heapq.heappush(self._heap, (ends, _Kind.STEP, index, self._versions[index]))


def simulate(
    workload: Workload, dispatcher: Dispatcher, station: StationMaker = FastStation
) -> Outcome:
    """One run of a workload under a dispatcher."""
    stations = [station(spec) for spec in workload.fleet]
    return World(workload, stations, dispatcher).run()
