"""A schedule by someone who knows everything: the marginal step cost with no guess in it.

It knows output lengths, step times and what every engine has cached, and holds requests as the
rule for placement does. It is a yardstick for policies that must guess, not an optimum.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from gateway.emulator.kv import GivenBlockHashes
from tests.sim.dispatch import Dispatch
from tests.sim.load import decode_s
from tests.sim.peers import NOTHING
from tests.sim.requests import KnownRequest, SimRequest, Usage
from tests.sim.stations import Station
from tests.sim.workload import Workload

BAND: Final = 0.85
LOOKAHEAD: Final = 16
MEMORY_LIMIT: Final = 0.92
QUEUE_WINDOW_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Setting:
    """Weights of the rule."""

    alpha: float = 0.5
    """How much the delay of others counts."""
    beta: float = 6.0
    """Price of a slot where slots are scarce, for each request in the queue."""
    gamma: float = 2.0
    """How long a held request thinks that a full backend takes to have a place."""
    ageing: float = 0.3
    shortest_first: bool = True


SETTINGS: Final = (
    Setting(),
    Setting(alpha=1.0, beta=2.0),
    Setting(alpha=1.0, beta=1.0, gamma=1.0, ageing=0.05),
)
"""The best of these, by mean latency, is what a clairvoyant reaches on a seed."""


class Active:
    """A request at an engine."""

    __slots__ = ("generated", "request", "sent", "uncached")

    def __init__(self, request: SimRequest, sent: float, uncached: int) -> None:
        self.request = request
        self.sent = sent
        self.uncached = uncached
        self.generated = 0

    @property
    def left(self) -> int:
        """Tokens that will still come."""
        return self.request.output_tokens - self.generated


class Seen:
    """One backend with everything that is true of it."""

    def __init__(self, station: Station) -> None:
        engine = station.engine
        spec = engine.spec
        self.engine = engine
        self.prefill_s = 1.0 / spec.costs.prefill_tokens_per_s
        self.step_s = [0.0] + [decode_s(spec, n) for n in range(1, spec.max_num_seqs + 1)]
        self.step_s.append(self.step_s[-1])
        self.eager_s = spec.costs.eager_base_s
        rates = [n / self.step_s[n] for n in range(1, spec.max_num_seqs + 1)]
        limit = BAND * max(rates)
        self.cap = max(n for n, rate in enumerate(rates, 1) if rate >= limit)
        self.kv_tokens = spec.largest_sequence_tokens
        self.active: dict[str, Active] = {}

    def uncached(self, request: SimRequest) -> int:
        """Prompt tokens that this engine would have to compute now."""
        kv = self.engine.kv
        limit = (request.prompt_tokens - 1) // kv.block_size
        hits = len(kv.cached_prefix(GivenBlockHashes(request.hashes), limit))
        return request.prompt_tokens - hits * kv.block_size

    def pending_s(self, now: float) -> float:
        """Prefill that is ahead of a new request."""
        ahead = [active for active in self.active.values() if not active.generated]
        if not ahead:
            return 0.0
        work = sum(active.uncached for active in ahead) * self.prefill_s
        return max(0.0, work - (now - min(active.sent for active in ahead)))

    def memory_tokens(self) -> int:
        """Tokens that those here will have in memory at most."""
        return sum(
            active.request.prompt_tokens + active.request.output_tokens
            for active in self.active.values()
        )


class Price(NamedTuple):
    """What a place costs, and whether it can be had now."""

    cost: float
    free: bool


class Clairvoyant:
    """The rule with one setting; it must see the stations of its world."""

    def __init__(self, workload: Workload, stations: Sequence[Station], setting: Setting) -> None:
        self._truth = {request.id: request for request in workload.requests}
        self._backends = [Seen(station) for station in stations]
        self._setting = setting
        self._held: list[SimRequest] = []
        self._queue = 0.0
        self._queue_at = 0.0

    def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
        """As the protocol."""
        self._held.append(self._truth[request.id])
        return self._place(now)

    def first_token(self, request_id: str, backend: int, now: float) -> None:
        """As the protocol."""
        self._backends[backend].active[request_id].generated = 1

    def tokens(
        self, request_ids: Sequence[str], backend: int, count: int, started: float, now: float
    ) -> None:
        """As the protocol."""
        active = self._backends[backend].active
        for name in request_ids:
            active[name].generated += count

    def finished(
        self, request_id: str, backend: int, now: float, usage: Usage
    ) -> Sequence[Dispatch]:
        """As the protocol."""
        del self._backends[backend].active[request_id]
        return self._place(now)

    def scraped(
        self,
        backend: int,
        running: int,
        waiting: int,
        kv_usage_ratio: float,
        preemptions_total: int,
        now: float,
    ) -> Sequence[Dispatch]:
        """As the protocol."""
        return self._place(now) if self._held and backend == 0 else NOTHING

    def _place(self, now: float) -> Sequence[Dispatch]:
        """Send what can be sent, in order; stop when nothing has a place."""
        weight = min(1.0, (now - self._queue_at) / QUEUE_WINDOW_S)
        self._queue += weight * (len(self._held) - self._queue)
        self._queue_at = now
        sends: list[Dispatch] = []
        reserved = [0] * len(self._backends)
        for request in self._in_order(now):
            if not any(self._has_place(backend) for backend in self._backends):
                break
            index, free = self._best(request, now, reserved)
            if not free:
                reserved[index] += 1
                continue
            backend = self._backends[index]
            backend.active[request.id] = Active(request, now, backend.uncached(request))
            self._held.remove(request)
            sends.append(Dispatch(request.known, index))
        return sends

    def _in_order(self, now: float) -> list[SimRequest]:
        if not self._setting.shortest_first or len(self._held) < 2:
            return self._held[:LOOKAHEAD]
        best = min(self._backends, key=lambda backend: backend.step_s[backend.cap] / backend.cap)

        def rank(request: SimRequest) -> float:
            service = (
                request.prompt_tokens * best.prefill_s
                + request.output_tokens * best.step_s[best.cap]
            )
            return service - self._setting.ageing * (now - request.arrival_s)

        return sorted(self._held, key=rank)[:LOOKAHEAD]

    def _has_place(self, backend: Seen) -> bool:
        return len(backend.active) < backend.cap

    def _best(self, request: SimRequest, now: float, reserved: list[int]) -> tuple[int, bool]:
        scarce = sum(1 for b in self._backends if len(b.active) >= b.cap - 1)
        price = 0.0
        if scarce:
            queue = max(len(self._held) - 1, self._queue)
            price = self._setting.beta * (1.0 + queue) / scarce
        prices = [
            self._price(request, backend, now, price, reserved[index])
            for index, backend in enumerate(self._backends)
        ]
        index = min(range(len(prices)), key=lambda at: prices[at].cost)
        return index, prices[index].free

    def _price(
        self, request: SimRequest, backend: Seen, now: float, price: float, reserved: int
    ) -> Price:
        """The cost J of this request on this backend."""
        setting = self._setting
        active = backend.active.values()
        count = len(active)
        full = count >= backend.cap
        base = backend.cap - 1 if full else count
        step_s, before_s = backend.step_s[base + 1], backend.step_s[base]
        prefill_s = max(backend.eager_s, backend.uncached(request) * backend.prefill_s)
        own_s = prefill_s + request.output_tokens * step_s
        streaming = sum(1 for other in active if other.generated)
        left = sum(other.left for other in active)
        others_s = streaming * prefill_s + left * (step_s - before_s)
        cost = own_s + setting.alpha * others_s
        if full:
            wait_s = left / count * backend.step_s[count] + backend.pending_s(now)
            cost += setting.gamma * (reserved + 1) * wait_s / count
        else:
            cost += backend.pending_s(now)
        if count >= backend.cap - 1:
            slot_s = request.output_tokens * backend.step_s[backend.cap] / backend.cap
            cost += price * (prefill_s + slot_s)
        need = backend.memory_tokens() + request.prompt_tokens + request.output_tokens
        room = MEMORY_LIMIT * backend.kv_tokens
        fits = need <= room or not count
        if not fits:
            over = need / backend.kv_tokens - MEMORY_LIMIT
            whole = request.prompt_tokens + request.output_tokens
            cost += (1.0 + 10.0 * over) * whole * backend.prefill_s + 100.0 * over
        return Price(cost, not full and fits)
