"""The emulator's engine, many equal steps at once.

Between two arrivals an engine that only decodes does the same step again and again. This one
takes all of them together, up to the one where something changes (a request ends, memory runs
out, a request can be admitted), and leaves every other step to the emulator's own code. Times,
caches and preemptions are those of the emulator; a test compares them.
"""

from gateway.emulator.engine import Engine
from gateway.emulator.records import Sequence, Step
from gateway.emulator.spec import EngineSpec
from gateway.emulator.steps import StepLoad
from tests.sim.requests import SimRequest
from tests.sim.stations import Countdown, Done, engine_request, finish


class Stretch:
    """Equal steps that are under way; `started` moves with every look."""

    __slots__ = ("duration_s", "ids", "started", "steps")

    def __init__(self, started: float, duration_s: float, steps: int, ids: list[str]) -> None:
        self.started = started
        self.duration_s = duration_s
        self.steps = steps
        self.ids = ids


def _left(sequence: Sequence) -> Countdown:
    source = sequence.request.source
    if not isinstance(source, Countdown):
        raise TypeError("the fast engine must know how many tokens are left")
    return source


class FastEngine(Engine):
    """An engine that can tell how many equal steps come next, and do them."""

    __slots__ = ("_durations",)

    def __init__(self, spec: EngineSpec) -> None:
        super().__init__(spec)
        self._durations: dict[int, float] = {}

    def decode_s(self) -> float:
        """Duration of a step that decodes all that runs; without the cost of context."""
        decodes = len(self._running)
        known = self._durations.get(decodes)
        if known is None:
            known = self._clock.duration_s(StepLoad(decodes=decodes))
            self._durations[decodes] = known
        return known

    def running_ids(self) -> list[str]:
        """Ids of all that runs."""
        return [sequence.request.id for sequence in self._running]

    def equal_steps(self) -> int:
        """How many steps can be taken at once; 0 when the next one is not a plain decode."""
        running = self._running
        if not running or self.spec.costs.decode_context_s:
            return 0
        if len(running) >= self.spec.max_num_batched_tokens:
            return 0
        steps = 1 << 60
        for sequence in running:
            if not sequence.generated or sequence.computed != sequence.total - 1:
                return 0
            steps = min(steps, _left(sequence).left)
        if self._waiting and len(running) < self.spec.max_num_seqs:
            steps = min(steps, self._steps_until_admission())
        return min(steps, self._steps_in_memory(steps))

    def decode(self, steps: int) -> list[str]:
        """Do this many equal steps; returns the requests that have finished."""
        self._move_blocks(steps)
        finished: list[Sequence] = []
        for sequence in self._running:
            sequence.computed += steps
            sequence.total += steps
            sequence.generated += steps
            source = _left(sequence)
            source.left -= steps
            if source.left <= 0:
                finished.append(sequence)
        self._generated_tokens += steps * len(self._running)
        self._steps += steps
        for sequence in finished:
            self._running.remove(sequence)
            self._free(sequence)
        return [sequence.request.id for sequence in finished]

    def _steps_until_admission(self) -> int:
        """Steps before the head of the queue could be admitted, 0 when it can be now.

        Decoding only takes memory, so that a head without room stays out until something ends,
        with two exceptions: a running sequence completes the very block that the head lacks, and
        a head that comes in pieces loses its cache and with it the need for so much room.
        """
        head = self._waiting[0]
        cached = self._cached(head)
        size = self.kv.block_size
        hit_tokens = len(cached) * size
        budget = self.spec.max_num_batched_tokens - len(self._running)
        count = min(head.total - hit_tokens, budget)
        fresh = -(-(hit_tokens + count) // size) - len(cached)
        if self.kv.needs(cached, fresh) <= self.kv.free_blocks:
            return 0
        steps = 1 << 60
        if head.total > budget and cached:
            # Up to the next block taken, as that may be one of the head's.
            room = (len(running.blocks) * size - running.computed for running in self._running)
            steps = min(room)
        lacking = head.request.hashes.at(len(cached))
        if lacking is None or not self.spec.enable_prefix_caching:
            return steps
        for sequence in self._running:
            index = sequence.computed // size
            if sequence.request.hashes.at(len(cached)) == lacking and index <= len(cached):
                steps = min(steps, (len(cached) + 1) * size - sequence.computed)
        return steps

    def _steps_in_memory(self, steps: int) -> int:
        """How many of these steps find enough free blocks."""
        free = self.kv.free_blocks
        size = self.kv.block_size
        if len(self._running) * (steps // size + 1) <= free:
            return steps
        takes = sorted(
            at
            for sequence in self._running
            for at in range(len(sequence.blocks) * size - sequence.computed + 1, steps + 1, size)
        )
        return steps if len(takes) <= free else takes[free] - 1

    def _move_blocks(self, steps: int) -> None:
        """Take and publish blocks in the order in which single steps would."""
        size = self.kv.block_size
        caching = self.spec.enable_prefix_caching
        events: list[tuple[int, int, int]] = []
        for index, sequence in enumerate(self._running):
            computed = sequence.computed
            first = len(sequence.blocks) * size - computed + 1
            if first <= steps:
                events += [(at, 0, index) for at in range(first, steps + 1, size)]
            full = size - computed % size
            if caching and full <= steps:
                events += [(at, 1, index) for at in range(full, steps + 1, size)]
        if not events:
            return
        before = [sequence.computed for sequence in self._running]
        for at, kind, index in sorted(events):
            sequence = self._running[index]
            if kind == 0:
                sequence.blocks += self.kv.take(1) or ()
            else:
                sequence.computed = before[index] + at
                self._publish(sequence)
        for sequence, computed in zip(self._running, before, strict=True):
            sequence.computed = computed


class FastStation:
    """The fast engine as the simulated world drives it."""

    def __init__(self, spec: EngineSpec) -> None:
        self.engine: Engine = (fast := FastEngine(spec))
        self._fast = fast
        self._step: Step | None = None
        self._stretch: Stretch | None = None

    def submit(self, request: SimRequest, now: float) -> None:
        """Put a request into the queue; the step that runs is the last of its stretch."""
        stretch = self._stretch
        if stretch is not None and self.engine.running < self.engine.spec.max_num_seqs:
            if stretch.steps > 1 and now - stretch.started > 1.001 * stretch.duration_s:
                raise RuntimeError("look before you submit")
            stretch.steps = 1
        self.engine.submit(engine_request(request), now)

    def begin(self, now: float) -> None:
        """As the protocol."""
        steps = self._fast.equal_steps()
        if steps > 0:
            ids = self._fast.running_ids()
            self._stretch = Stretch(now, self._fast.decode_s(), steps, ids)
        else:
            self._step = self.engine.begin_step(now)

    @property
    def ends(self) -> float | None:
        """As the protocol."""
        stretch = self._stretch
        if stretch is not None:
            return stretch.started + stretch.duration_s * stretch.steps
        step = self._step
        return None if step is None else step.started + step.duration_s

    def look(self, now: float) -> Done | None:
        """As the protocol: whole steps of a stretch, all but its last."""
        stretch = self._stretch
        if stretch is None:
            return None
        steps = min(stretch.steps - 1, int((now - stretch.started) / stretch.duration_s))
        if steps <= 0:
            return None
        self._fast.decode(steps)
        started = stretch.started
        stretch.started += steps * stretch.duration_s
        stretch.steps -= steps
        return Done(started, stretch.started, (), stretch.ids, steps, ())

    def end(self) -> Done:
        """As the protocol."""
        stretch = self._stretch
        if stretch is not None:
            self._stretch = None
            ended = stretch.started + stretch.duration_s * stretch.steps
            finished = self._fast.decode(stretch.steps)
            return Done(stretch.started, ended, (), stretch.ids, stretch.steps, finished)
        step = self._step
        if step is None:
            raise RuntimeError("nothing runs")
        self._step = None
        return finish(self.engine, step)
