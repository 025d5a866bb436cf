"""The engine: continuous batching over paged KV memory, in whatever time its caller keeps.

It has no clock and does no I/O. A caller in virtual time calls `step(now)` in a loop and adds
`duration_s` to its clock; a caller in real time calls `begin_step`, waits, and `finish_step`.
"""

from collections import deque
from collections.abc import Iterator

from gateway.emulator.kv import KvCache
from gateway.emulator.records import (
    EngineRequest,
    EngineTotals,
    Sequence,
    Step,
    StepResult,
    Token,
)
from gateway.emulator.spec import EngineSpec
from gateway.emulator.steps import StepClock, StepLoad


class Engine:
    """One vLLM engine core. Not thread-safe; `now` must never go back."""

    __slots__ = (
        "_clock",
        "_generated_tokens",
        "_max_running",
        "_preemptions",
        "_prefill_tokens",
        "_prefix_hits",
        "_prefix_queries",
        "_running",
        "_steps",
        "_waiting",
        "kv",
        "spec",
    )

    def __init__(self, spec: EngineSpec) -> None:
        self.spec = spec
        self.kv = KvCache(spec.num_blocks, spec.block_size)
        self._clock = StepClock(spec)
        self._running: list[Sequence] = []
        self._waiting: deque[Sequence] = deque()
        self._preemptions = 0
        self._prefix_queries = 0
        self._prefix_hits = 0
        self._prefill_tokens = 0
        self._generated_tokens = 0
        self._steps = 0
        self._max_running = 0

    @property
    def running(self) -> int:
        """Requests in the batch."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return len(self._waiting)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self._running and not self._waiting

    @property
    def totals(self) -> EngineTotals:
        """Counters since the start."""
        return EngineTotals(
            preemptions=self._preemptions,
            prefix_queries_tokens=self._prefix_queries,
            prefix_hits_tokens=self._prefix_hits,
            prefill_tokens=self._prefill_tokens,
            generated_tokens=self._generated_tokens,
            steps=self._steps,
            max_running=self._max_running,
        )

    def accepts(self, count: int = 1) -> bool:
        """Whether `count` more requests stay within `max_num_queued_reqs`."""
        limit = self.spec.max_num_queued_reqs
        return limit is None or self.running + self.waiting + count <= limit

    def check(self, prompt_tokens: int) -> None:
        """Raise ValueError for a prompt that could never run."""
        if prompt_tokens < 1:
            raise ValueError("a request needs at least one prompt token")
        if -(-(prompt_tokens + 1) // self.kv.block_size) > self.kv.usable_blocks:
            raise ValueError(
                f"a prompt of {prompt_tokens} tokens does not fit into the KV memory of "
                f"{self.kv.usable_blocks} blocks"
            )

    def submit(self, request: EngineRequest, now: float) -> Sequence:
        """Put a request at the end of the queue. ValueError as `check`."""
        self.check(request.prompt_tokens)
        sequence = Sequence(request, now)
        self._waiting.append(sequence)
        return sequence

    def abort(self, request_id: str) -> bool:
        """Drop a request and free its memory; False when it is not (any more) here."""
        for index, sequence in enumerate(self._running):
            if sequence.request.id == request_id:
                del self._running[index]
                self._free(sequence)
                return True
        for sequence in self._waiting:
            if sequence.request.id == request_id:
                self._waiting.remove(sequence)
                return True
        return False

    def ids(self) -> Iterator[str]:
        """Ids of all requests here, running first."""
        yield from (sequence.request.id for sequence in self._running)
        yield from (sequence.request.id for sequence in self._waiting)

    def step(self, now: float) -> StepResult | None:
        """Begin and finish one step; the tokens belong to `now + duration_s`. None when idle."""
        begun = self.begin_step(now)
        return None if begun is None else self.finish_step(begun)

    def begin_step(self, now: float) -> Step | None:
        """Schedule one step; None when there is nothing to run.

        RuntimeError when a request has become longer than the whole memory; it is dropped.
        """
        scheduled: list[tuple[Sequence, int]] = []
        preempted: list[str] = []
        budget = self._schedule_running(scheduled, preempted)
        if not preempted:
            self._admit(scheduled, budget, now)
        if not scheduled:
            if self._waiting:
                raise self._outgrown(self._waiting.popleft())
            return None
        if len(self._running) > self._max_running:
            self._max_running = len(self._running)
        load = self._load(scheduled)
        return Step(
            started=now,
            duration_s=self._clock.duration_s(load),
            load=load,
            graph=self._clock.is_graph(load),
            scheduled=tuple(scheduled),
            preempted=tuple(preempted),
        )

    def finish_step(self, step: Step, ended: float | None = None) -> StepResult:
        """Apply a step: computed tokens, new tokens, finished requests.

        `ended` is when it ended, for a caller whose time runs at another scale.
        """
        if ended is None:
            ended = step.started + step.duration_s
        tokens: list[tuple[str, Token]] = []
        first_tokens: list[Sequence] = []
        finished: list[Sequence] = []
        for sequence, count in step.scheduled:
            if not sequence.blocks:
                continue  # aborted while the step ran
            sequence.computed += count
            if self.spec.enable_prefix_caching:
                self._publish(sequence)
            if sequence.computed < sequence.total:
                continue
            token = sequence.request.source.next_token()
            sequence.total += 1
            sequence.generated += 1
            if sequence.first_token is None:
                sequence.first_token = ended
                first_tokens.append(sequence)
            tokens.append((sequence.request.id, token))
            if token.finish is not None:
                finished.append(sequence)
        for sequence in finished:
            self._running.remove(sequence)
            self._free(sequence)
        self._steps += 1
        self._generated_tokens += len(tokens)
        self._prefill_tokens += step.load.prefill_tokens
        return StepResult(
            started=step.started,
            ended=ended,
            duration_s=step.duration_s,
            load=step.load,
            graph=step.graph,
            tokens=tuple(tokens),
            first_tokens=tuple(first_tokens),
            finished=tuple(finished),
            preempted=step.preempted,
        )

    def _schedule_running(self, scheduled: list[tuple[Sequence, int]], preempted: list[str]) -> int:
        """Give every running sequence its tokens, oldest first; the rest of the budget."""
        budget = self.spec.max_num_batched_tokens
        index = 0
        running = self._running
        while index < len(running) and budget > 0:
            sequence = running[index]
            count = min(sequence.total - sequence.computed, budget)
            if not self._grow(sequence, count, preempted):
                break  # it was the youngest, so it preempted itself
            scheduled.append((sequence, count))
            budget -= count
            index += 1
        return budget

    def _grow(self, sequence: Sequence, count: int, preempted: list[str]) -> bool:
        """Find blocks for `count` more tokens, preempting the youngest until there are enough."""
        while True:
            blocks = -(-(sequence.computed + count) // self.kv.block_size)
            missing = blocks - len(sequence.blocks)
            if missing <= 0:
                return True
            taken = self.kv.take(missing)
            if taken is not None:
                sequence.blocks += taken
                return True
            victim = self._running.pop()
            if victim is sequence and not self._running:
                raise self._outgrown(victim)
            self._preempt(victim)
            preempted.append(victim.request.id)
            if victim is sequence:
                return False

    def _outgrown(self, sequence: Sequence) -> RuntimeError:
        self._free(sequence)
        return RuntimeError(f"request {sequence.request.id} outgrew the KV memory")

    def _preempt(self, victim: Sequence) -> None:
        """Recompute preemption: all of its KV goes, and it is the next to be admitted."""
        self._free(victim)
        victim.computed = 0
        victim.published = 0
        victim.preemptions += 1
        self._preemptions += 1
        self._waiting.appendleft(victim)

    def _admit(self, scheduled: list[tuple[Sequence, int]], budget: int, now: float) -> None:
        """First come, first served, while there is room in batch, budget and memory."""
        while self._waiting and budget > 0 and len(self._running) < self.spec.max_num_seqs:
            sequence = self._waiting[0]
            cached = self._cached(sequence)
            hit_tokens = len(cached) * self.kv.block_size
            count = min(sequence.total - hit_tokens, budget)
            fresh = -(-(hit_tokens + count) // self.kv.block_size) - len(cached)
            if self.kv.needs(cached, fresh) > self.kv.free_blocks:
                return
            self.kv.reference(cached)
            sequence.blocks = [*cached, *(self.kv.take(fresh) or ())]
            sequence.published = len(cached)
            sequence.computed = hit_tokens
            if sequence.first_scheduled is None:
                sequence.first_scheduled = now
                sequence.cached_tokens = hit_tokens
                self._prefix_queries += sequence.total
                self._prefix_hits += hit_tokens
            self._waiting.popleft()
            self._running.append(sequence)
            scheduled.append((sequence, count))
            budget -= count

    def _cached(self, sequence: Sequence) -> list[int]:
        if not self.spec.enable_prefix_caching:
            return []
        # The last token is always computed, since its logits are needed.
        limit = (sequence.total - 1) // self.kv.block_size
        return self.kv.cached_prefix(sequence.request.hashes, limit)

    def _publish(self, sequence: Sequence) -> None:
        full = sequence.computed // self.kv.block_size
        while sequence.published < full:
            key = sequence.request.hashes.at(sequence.published)
            if key is None:
                return
            self.kv.publish(sequence.blocks[sequence.published], key)
            sequence.published += 1

    def _free(self, sequence: Sequence) -> None:
        self.kv.release(sequence.blocks)
        sequence.blocks = []

    def _load(self, scheduled: list[tuple[Sequence, int]]) -> StepLoad:
        decodes = context = prefill = products = 0
        for sequence, count in scheduled:
            if count == 1 and sequence.generated and sequence.computed == sequence.total - 1:
                decodes += 1
                context += sequence.total
            else:
                prefill += count
                products += count * sequence.computed
        return StepLoad(decodes, context, prefill, products)
