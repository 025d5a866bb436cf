"""Runs the pure engine against the event loop's clock and hands tokens to whoever waits."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from gateway.emulator.engine import Engine
from gateway.emulator.kv import TokenBlockHashes
from gateway.emulator.records import EngineRequest, Step, StepResult, Token, TokenSource
from gateway.emulator.records import Sequence as EngineSequence

_MAX_LAG_S = 0.25
"""How far steps may catch up after the loop was late; more is forgiven."""


class EngineDeadError(Exception):
    """The engine is gone; nobody will produce the awaited token."""


class EngineBusyError(Exception):
    """The queue limit (max_num_queued_reqs) is reached."""


class Observer(Protocol):
    """Who wants to know what the engine does."""

    def on_submit(self, sequence: EngineSequence, prompt_tokens: int) -> None:
        """A request was queued."""
        ...

    def on_step(self, result: StepResult, engine: Engine) -> None:
        """A step ended; the moment at which gauges change."""
        ...

    def on_abort(self) -> None:
        """A request was aborted."""
        ...


class Run:
    """The engine requests of one API call; their tokens come out of `next`, as they are made."""

    __slots__ = ("_driver", "_failure", "_ready", "_waiter", "ids", "sequences")

    def __init__(self, driver: "Driver", ids: tuple[str, ...]) -> None:
        self._driver = driver
        self.ids = ids
        self.sequences: list[EngineSequence] = []
        self._ready: deque[tuple[int, Token]] = deque()
        self._failure: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None

    async def next(self) -> tuple[int, Token]:
        """The index of a choice and its next token. EngineDeadError when there will be none."""
        while not self._ready:
            if self._failure is not None:
                raise self._failure
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        return self._ready.popleft()

    def cancel(self) -> None:
        """Abort what has not ended; harmless when all has."""
        self._driver.abort(self)

    def push(self, index: int, token: Token) -> None:
        """Hand over a token (for the driver)."""
        self._ready.append((index, token))
        self._wake()

    def fail(self, failure: BaseException) -> None:
        """No more tokens will come (for the driver)."""
        self._failure = failure
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Driver:
    """One engine in real time, `time_scale` times faster than the card. One timer per step.

    A step begins when the one before it ends by the plan, not when the loop got round to it, so
    the speed does not drift with the loop's latency.
    """

    def __init__(self, engine: Engine, time_scale: float, observer: Observer) -> None:
        self.engine = engine
        self.frozen = False
        self.dead = False
        self.aborted = 0
        self._scale = time_scale
        self._observer = observer
        self._loop = asyncio.get_running_loop()
        self._owners: dict[str, tuple[Run, int]] = {}
        self._timer: asyncio.Handle | None = None
        self._step: Step | None = None
        self._next_at = 0.0
        self._counter = 0

    def submit(self, requests: Sequence[tuple[list[int], TokenSource]]) -> Run:
        """Queue one engine request per choice: its prompt ids (which grow) and its source.

        Raises EngineDeadError or EngineBusyError, or ValueError for a prompt that could never run;
        then none of the choices is queued.
        """
        if self.dead:
            raise EngineDeadError
        if not self.engine.accepts(len(requests)):
            raise EngineBusyError
        for ids, _ in requests:
            self.engine.check(len(ids))
        now = self._loop.time()
        self._counter += 1
        run = Run(self, tuple(f"{self._counter}-{index}" for index in range(len(requests))))
        size = self.engine.spec.block_size
        for index, (ids, source) in enumerate(requests):
            request = EngineRequest(run.ids[index], len(ids), source, TokenBlockHashes(ids, size))
            self._owners[request.id] = (run, index)
            sequence = self.engine.submit(request, now)
            run.sequences.append(sequence)
            self._observer.on_submit(sequence, request.prompt_tokens)
        self._wake()
        return run

    def abort(self, run: Run) -> None:
        """Drop the requests of a run that are still here and free their memory at once."""
        for request_id in run.ids:
            if self._owners.pop(request_id, None) is not None:
                self.engine.abort(request_id)
                self.aborted += 1
                self._observer.on_abort()

    def freeze(self) -> None:
        """Stand still: no steps, no tokens, gauges as they are."""
        self.frozen = True
        self._cancel_timer()

    def thaw(self) -> None:
        """Go on after `freeze`."""
        self.frozen = False
        if self._step is not None and self._timer is None and not self.dead:
            self._next_at = self._loop.time()
            self._timer = self._loop.call_soon(self._end_step)
        else:
            self._wake()

    def kill(self) -> None:
        """Die: every run fails with EngineDeadError."""
        self.dead = True
        self._cancel_timer()
        for run in self._take_runs():
            run.fail(EngineDeadError())

    def abort_all(self) -> None:
        """Die as SIGTERM sometimes does it: every request ends with finish reason `abort`."""
        self.dead = True
        self._cancel_timer()
        for request_id, (run, index) in list(self._owners.items()):
            self.engine.abort(request_id)
            run.push(index, Token(0, "", "abort"))
        self._owners.clear()

    def close(self) -> None:
        """Stop the timer."""
        self._cancel_timer()

    def _take_runs(self) -> list[Run]:
        runs = list(dict.fromkeys(run for run, _ in self._owners.values()))
        for request_id in self._owners:
            self.engine.abort(request_id)
        self._owners.clear()
        return runs

    def _wake(self) -> None:
        """Start stepping, a loop turn later so that requests sent together start together."""
        if self._timer is None and not self.frozen and not self.dead and self._step is None:
            self._next_at = self._loop.time()
            self._timer = self._loop.call_soon(self._begin_step)

    def _begin_step(self) -> None:
        self._timer = None
        now = max(self._next_at, self._loop.time() - _MAX_LAG_S)
        self._step = self.engine.begin_step(now)
        if self._step is None:
            return
        self._next_at = now + self._step.duration_s / self._scale
        self._timer = self._loop.call_at(self._next_at, self._end_step)

    def _end_step(self) -> None:
        step, self._step, self._timer = self._step, None, None
        if step is None:
            return
        result = self.engine.finish_step(step, ended=self._next_at)
        for request_id, token in result.tokens:
            owner = self._owners.get(request_id)
            if owner is not None:
                run, index = owner
                if token.finish is not None:
                    del self._owners[request_id]
                run.push(index, token)
        self._observer.on_step(result, self.engine)
        if not self.engine.idle:
            self._begin_step()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
