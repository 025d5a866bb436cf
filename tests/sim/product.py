"""The product's own placement, line and learning, driven by the simulated world."""

from collections.abc import Sequence
from random import Random
from typing import Final

from gateway.config.vocabulary import Tier
from gateway.fleet.health.evidence import Activity
from gateway.fleet.health.machine import State
from gateway.fleet.learning.decode import DecodeSpeed, Kin
from gateway.fleet.view import BackendFacts, BackendView, ModelView
from gateway.fleet.work import Work
from gateway.fleet.working import Working
from gateway.placement.affinity import PrefixIndex
from gateway.placement.cost import WEIGHTS, Weights
from gateway.placement.lane import Lane
from gateway.placement.marginal import LeastCost
from gateway.placement.order import Order
from gateway.placement.rule import Rule
from gateway.placement.want import Placed, Want
from tests.sim.dispatch import Dispatch, KnownBackend, KnownFleet
from tests.sim.peers import NOTHING
from tests.sim.requests import KnownRequest, Usage

GRAPH_STEP_S: Final = 0.06
EAGER_STEP_S: Final = 0.18


class Product:
    """One gateway; everything in it but the clock and the wires is what the product runs."""

    def __init__(
        self,
        fleet: KnownFleet,
        order: Order = Order.FAIR,
        weights: Weights = WEIGHTS,
        rule: Rule | None = None,
        learns: bool = True,
        is_shared: bool = False,
    ) -> None:
        self._draw = Random(f"product/{fleet.seed}").random
        self._facts = [_facts(index, backend) for index, backend in enumerate(fleet.backends)]
        kin: dict[KnownBackend, Kin] = {}
        self._works = [_work(backend, kin.setdefault(backend, Kin())) for backend in fleet.backends]
        self._indexes = {
            facts.name: PrefixIndex(backend.kv_tokens // backend.block_tokens, is_told=is_shared)
            for facts, backend in zip(self._facts, fleet.backends, strict=True)
        }
        self._lane = Lane(rule or LeastCost(weights), order, 1_000_000, self._indexes)
        self._lane.agrees = is_shared
        self._requests: dict[str, KnownRequest] = {}
        self._workings: dict[str, Working] = {}
        self._numbers = {facts.name: index for index, facts in enumerate(self._facts)}

    def arrived(self, request: KnownRequest, now: float) -> Sequence[Dispatch]:
        """As the protocol."""
        self._requests[request.id] = request
        self._lane.join(
            Want(
                request.id,
                now,
                request.prompt_tokens,
                request.max_tokens,
                request.prefix,
                request.tenant,
            )
        )
        return self._place(now)

    def first_token(self, request_id: str, backend: int, now: float) -> None:
        """As the protocol."""
        working = self._workings[request_id]
        working.saw(1, now)
        self._works[backend].first_token(working, now)

    def tokens(
        self, request_ids: Sequence[str], backend: int, count: int, started: float, now: float
    ) -> None:
        """As the protocol."""
        for name in request_ids:
            working = self._workings[name]
            if count > 1:
                working.saw(1, started + (now - started) / count)
                working.saw(count - 1, now)
            else:
                working.saw(count, now)

    def finished(
        self, request_id: str, backend: int, now: float, usage: Usage
    ) -> Sequence[Dispatch]:
        """As the protocol."""
        self._book_end(request_id, backend, now, usage)
        return self._place(now)

    def _book_end(self, request_id: str, backend: int, now: float, usage: Usage) -> None:
        request = self._requests.pop(request_id)
        working = self._workings.pop(request_id)
        self._works[backend].end(working, now, usage.output_tokens)
        tail = usage.prompt_tokens % request.block_tokens + usage.output_tokens
        self._indexes[self._facts[backend].name].add(request.prefix, tail)

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
        activity = Activity(
            running=running,
            waiting=waiting,
            prompt_tokens=0,
            generation_tokens=0,
            kv_usage_ratio=kv_usage_ratio,
            preemptions_total=preemptions_total,
            kv_capacity_tokens=None,
        )
        self._works[backend].scraped(activity, now, now)
        return self._place(now) if len(self._lane) else NOTHING

    def _place(self, now: float) -> Sequence[Dispatch]:
        plan = self._lane.plan(lambda: self._view(now), now, self._draw)
        return [self.send(placed, now) for placed in plan]

    def send(self, placed: Placed, now: float) -> Dispatch:
        """Books what was decided: the request is with its backend from now on."""
        assert placed.backend is not None
        name = placed.backend.facts.name
        index = self._numbers[name]
        want, work = placed.want, self._works[index]
        working = Working(
            want.prompt_tokens,
            round(placed.ask.uncached_tokens),
            want.limit_tokens,
            self._lane.lengths,
        )
        work.begin(working, now)
        self._workings[want.id] = working
        self._indexes[name].add(want.prefix)
        return Dispatch(self._requests[want.id], index)

    def _view(self, now: float) -> ModelView:
        has_backlog = self._lane.has_lasting_backlog(now)
        views = []
        for facts, work in zip(self._facts, self._works, strict=True):
            load, speed = work.load(now), work.speed()
            cap = work.decode.cap_with(has_backlog, now)
            views.append(BackendView(facts, load.running, cap=cap, load=load, speed=speed))
        return ModelView("m", tuple(views))


def _facts(index: int, backend: KnownBackend) -> BackendFacts:
    is_eager = backend.capture_sizes == ()
    return BackendFacts(
        name=f"b{index}",
        served_name="m",
        tier=Tier.EAGER if is_eager else Tier.GRAPH,
        weight=1.0,
        hard_limit=backend.max_num_seqs,
        max_model_len=None,
        state=State.UP,
        reason="",
        is_missing=False,
        node="",
        card="",
        is_slow=False,
    )


def _work(backend: KnownBackend, kin: Kin) -> Work:
    step_s = EAGER_STEP_S if backend.capture_sizes == () else GRAPH_STEP_S
    decode = DecodeSpeed(backend.capture_sizes, backend.max_num_seqs, step_s, kin)
    return Work(decode, backend.kv_tokens)
