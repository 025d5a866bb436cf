"""What one decision costs: the line, the view and the price of every backend, without any wire.

python scripts/bench_decisions.py [--backends 4 64 512] [--decisions N] [--no-limits]

Prints a table to stderr and one JSON object as the last line of stdout; exits with 1 when a
median is above its limit.
"""

import argparse
import json
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from time import perf_counter_ns
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gateway.placement.want import Placed
from tests.sim.dispatch import Dispatch, KnownBackend, KnownFleet
from tests.sim.product import Product
from tests.sim.requests import KnownRequest, Usage

CAP: Final = 4
HELD: Final = 100
BLOCKS: Final = 11
BLOCK_TOKENS: Final = 128
STEP_S: Final = 0.06
EAGER_STEP_S: Final = 0.18
ANSWER_S: Final = 12.0
"""How long an answer takes; so many decisions fall into that as the fleet has places."""
CONVERSATIONS: Final = 400
LIMITS_TOKENS: Final = (64, 256, 4096)
ENGINE: Final = KnownBackend(
    max_num_seqs=8,
    capture_sizes=(1, CAP),
    kv_tokens=90_000,
    block_tokens=BLOCK_TOKENS,
    max_num_batched_tokens=2048,
)


class Case(NamedTuple):
    """A fleet of so many backends, with so many requests waiting; None where only stated."""

    backends: int
    held: int
    limit_us: float | None

    @property
    def name(self) -> str:
        """For people and JSON."""
        return f"{self.backends}_backends" + (f"_{self.held}_held" if self.held else "")


CASES: Final = (
    Case(4, 0, 50.0),
    Case(64, 0, 400.0),
    Case(512, 0, None),
    Case(4, HELD, 5000.0),
    Case(64, HELD, 5000.0),
)


class Found(NamedTuple):
    """Microseconds of one decision."""

    case: Case
    p50_us: float
    p99_us: float

    @property
    def is_met(self) -> bool:
        """Whether the median is within its limit."""
        return self.case.limit_us is None or self.p50_us <= self.case.limit_us


class Timed(Product):
    """A product that notes when a decision was there, before it is booked."""

    def __init__(self, fleet: KnownFleet) -> None:
        super().__init__(fleet)
        self.decided_ns = 0

    def send(self, placed: Placed, now: float) -> Dispatch:
        """As the product."""
        self.decided_ns = perf_counter_ns()
        return super().send(placed, now)


class Bench:
    """One gateway whose backends all have three or four requests that get a token each step."""

    def __init__(self, backends: int, make: Callable[[KnownFleet], Timed] = Timed) -> None:
        self.product = make(KnownFleet((ENGINE,) * backends, 1))
        self.now = 0.0
        self._gap_s = ANSWER_S / (CAP * backends)
        self._owed_steps = [0.0] * backends
        self._rng = Random(f"bench/{backends}")
        self._count = 0
        self._running: list[deque[str]] = [deque() for _ in range(backends)]

    def request(self, is_new: bool = False) -> KnownRequest:
        """A prompt of eleven blocks of which some are shared within its conversation, if old."""
        self._count += 1
        rng = self._rng
        conversation = rng.randrange(CONVERSATIONS)
        shared = 0 if is_new else rng.randrange(1, BLOCKS)
        prefix = tuple(
            hash((conversation, block) if block < shared else (self._count, block))
            for block in range(BLOCKS)
        )
        return KnownRequest(
            id=f"r{self._count}",
            arrival_s=self.now,
            prompt_tokens=BLOCKS * BLOCK_TOKENS + rng.randrange(BLOCK_TOKENS),
            max_tokens=rng.choice(LIMITS_TOKENS),
            session="",
            tenant="",
            prefix=prefix,
            block_tokens=BLOCK_TOKENS,
        )

    def arrive(self, request: KnownRequest) -> Sequence[Dispatch]:
        """One request comes in and maybe some are sent."""
        return self.product.arrived(request, self.now)

    def note(self, sends: Sequence[Dispatch]) -> None:
        """What was sent has its first token at once."""
        for send in sends:
            self._running[send.backend].append(send.request.id)
            self.product.first_token(send.request.id, send.backend, self.now)

    def step(self) -> None:
        """Time passes until the next decision, and everybody gets the tokens of that time."""
        began, self.now = self.now, self.now + self._gap_s
        for index, names in enumerate(self._running):
            step_s = STEP_S if len(names) <= CAP else EAGER_STEP_S
            owed = self._owed_steps[index] + self._gap_s / step_s
            count = int(owed)
            self._owed_steps[index] = owed - count
            if count:
                self.product.tokens(tuple(names), index, count, began, self.now)

    def end(self, backend: int) -> Sequence[Dispatch]:
        """The oldest request there is answered."""
        name = self._running[backend].popleft()
        usage = Usage(BLOCKS * BLOCK_TOKENS, self._rng.choice((20, 60, 200, 400)))
        return self.product.finished(name, backend, self.now, usage)

    def fill(self) -> None:
        """Every backend gets as many requests as it serves well, before any token has come."""
        while min(map(len, self._running)) < CAP:
            self.note(self.arrive(self.request(is_new=True)))

    def hold(self, count: int) -> None:
        """So many more wait."""
        for _ in range(count):
            self.note(self.arrive(self.request()))

    def leave_room(self) -> None:
        """One request fewer on every backend than it serves well, and nobody waits."""
        for backend, names in enumerate(self._running):
            while len(names) >= CAP:
                self.note(self.end(backend))

    def sample(self) -> int:
        """Nanoseconds of the decision for one arrival, with room on every backend."""
        request = self.request()
        began = perf_counter_ns()
        sends = self.arrive(request)
        took = self.product.decided_ns - began
        self.note(sends)
        self.leave_room()
        self.step()
        return took

    def sample_held(self) -> int:
        """Nanoseconds of the decision when one of a full fleet's backends has a place again."""
        backend = self._rng.randrange(len(self._running))
        name = self._running[backend][0]
        request = self.request()
        self.step()
        began = perf_counter_ns()
        sends = self.end(backend)
        took = perf_counter_ns() - began
        assert name not in self._running[backend]
        self.note(sends)
        self.note(self.arrive(request))
        return took


def measure(case: Case, decisions: int) -> Found:
    """One case; a tenth of its decisions are for warming up."""
    bench = Bench(case.backends)
    bench.fill()
    if case.held:
        bench.hold(case.held)
        one = bench.sample_held
    else:
        bench.leave_room()
        one = bench.sample
    for _ in range(decisions // 10):
        one()
    samples = sorted(one() / 1000.0 for _ in range(decisions))
    return Found(case, samples[len(samples) // 2], samples[int(len(samples) * 0.99)])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure what one decision costs.")
    parser.add_argument("--backends", type=int, nargs="*", help="only fleets of these sizes")
    parser.add_argument("--decisions", type=int, default=2000, help="fewer on large fleets")
    parser.add_argument("--no-limits", action="store_true", help="only state what was measured")
    options = parser.parse_args(arguments)
    found = [
        measure(case, max(100, options.decisions // max(1, case.backends * (1 + case.held) // 64)))
        for case in CASES
        if not options.backends or case.backends in options.backends
    ]
    print(f"{'case':22} {'p50 us':>9} {'p99 us':>9} {'limit us':>9}", file=sys.stderr)
    for one in found:
        limit = "" if one.case.limit_us is None else f"{one.case.limit_us:.0f}"
        mark = "" if one.is_met else "  MISSED"
        print(
            f"{one.case.name:22} {one.p50_us:9.1f} {one.p99_us:9.1f} {limit:>9}{mark}",
            file=sys.stderr,
        )
    data = {
        one.case.name: {
            "p50_us": round(one.p50_us, 1),
            "p99_us": round(one.p99_us, 1),
            "limit_us": one.case.limit_us,
            "is_met": one.is_met,
        }
        for one in found
    }
    is_met = options.no_limits or all(one.is_met for one in found)
    print(json.dumps({"decisions": data, "is_met": is_met}))
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
