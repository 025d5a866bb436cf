"""The line of one model: who waits, in which order, and who is placed where when."""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

from gateway.fleet.learning.lengths import OutputLengths
from gateway.fleet.view import BackendView, ModelView
from gateway.placement.affinity import PrefixIndex
from gateway.placement.cost import Ask
from gateway.placement.eligible import Need, Refused, is_eligible, refusals
from gateway.placement.order import Order, rank_s
from gateway.placement.rule import Choice, Draw, Option, Pressure, Rule

LOOKAHEAD: Final = 16
"""Waiting requests that are looked at each time."""

_QUEUE_WINDOW_S: Final = 20.0
_FAIR_WINDOW_S: Final = 60.0
_MOST_TENANTS: Final = 4096
# A request that waits so long for memory closes its backend to those behind it.
_CLOSES_AFTER_S: Final = 20.0


class Want:
    """A request that wants a place.

    `prefix` are the hashes of its prompt's blocks of `block_tokens`; `tenant` is whose it is for
    fairness, `priority` lower for sooner.
    """

    __slots__ = (
        "_matches",
        "arrival_s",
        "block_tokens",
        "id",
        "limit_tokens",
        "need",
        "prefix",
        "priority",
        "prompt_tokens",
        "tenant",
        "tried",
    )

    def __init__(
        self,
        id: str,  # noqa: A002 - it is the id
        arrival_s: float,
        prompt_tokens: int,
        limit_tokens: int | None,
        prefix: Sequence[int] = (),
        block_tokens: int = 128,
        tenant: str = "",
        priority: int = 0,
        need: Need | None = None,
        tried: Collection[str] = (),
    ) -> None:
        self.id = id
        self.arrival_s = arrival_s
        self.prompt_tokens = prompt_tokens
        self.limit_tokens = limit_tokens
        self.prefix = prefix
        self.block_tokens = block_tokens
        self.tenant = tenant
        self.priority = priority
        self.need = need or Need()
        self.tried = tried
        self._matches: dict[str, tuple[int, float]] = {}

    def __repr__(self) -> str:
        return f"<Want {self.id} {self.prompt_tokens} tokens>"

    def uncached_tokens(self, backend: str, index: PrefixIndex) -> float:
        """Tokens of the prompt that the backend is thought to have to compute."""
        if not self.prefix:
            return self.prompt_tokens
        known = self._matches.get(backend)
        if known is not None and known[0] == index.version:
            return known[1]
        matched, tail_tokens = index.match(self.prefix)
        # Only what is new is guessed: the error of the estimate does not grow with what is known.
        share = 1.0 - matched / (len(self.prefix) + 0.5)
        uncached = max(1.0, self.prompt_tokens * share - tail_tokens)
        self._matches[backend] = (index.version, uncached)
        return uncached


class Placed(NamedTuple):
    """A decision about one request: a backend, or None when none of the model's may serve it.

    `options` are the backends that might have, with the choice among them; `view` is what all of
    them looked like and `tried` whom the request had asked before.
    """

    want: Want
    backend: BackendView | None
    view: ModelView
    tried: tuple[str, ...]
    options: tuple[Option, ...] = ()
    choice: Choice | None = None

    @property
    def ask(self) -> Ask:
        """What the request asks of the chosen backend."""
        assert self.choice is not None
        return self.options[self.choice.chosen].ask

    @property
    def refused(self) -> tuple[Refused, ...]:
        """Why each of the other backends may not serve it."""
        return refusals(self.view, self.want.need, self.tried)


class Lane:
    """Requests that wait for one model. Bounded; a place can be left at any time."""

    __slots__ = (
        "_held",
        "_indexes",
        "_max",
        "_mean_held",
        "_mean_held_at_s",
        "_order",
        "_placed_total",
        "_rule",
        "_served",
        "_served_at_s",
        "lengths",
    )

    def __init__(
        self, rule: Rule, order: Order, max_requests: int, indexes: dict[str, PrefixIndex]
    ) -> None:
        self._rule = rule
        self._order = order
        self._max = max_requests
        self._held: dict[Want, None] = {}
        self._indexes = indexes
        self._mean_held = 0.0
        self._mean_held_at_s = -math.inf
        self._placed_total = 0
        self._served: dict[str, float] = {}
        self._served_at_s = -math.inf
        self.lengths = OutputLengths()

    def __repr__(self) -> str:
        return f"<Lane {len(self)} of {self._max}>"

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Want]:
        return iter(self._held)

    def join(self, want: Want) -> bool:
        """Takes a place; false if the line is full."""
        if len(self._held) >= self._max:
            return False
        self._held[want] = None
        return True

    def leave(self, want: Want) -> None:
        """Gives the place up; does nothing for one that has none."""
        self._held.pop(want, None)

    def plan(self, look: Callable[[], ModelView], now: float, draw: Draw) -> Iterator[Placed]:
        """Decides about those that wait, in order, and takes those out that are decided about.

        The caller sends each one before it asks for the next: `look` must then show it.
        """
        self._note_length(now)
        view = look()
        reserved: dict[str, int] = {}
        closed: set[str] = set()
        for want in self._in_order(view, now):
            if not any(_has_room(backend) for backend in view.backends):
                return
            options = self._options(want, view, reserved, closed)
            if not options:
                if any(is_eligible(backend, want.need, want.tried) for backend in view.backends):
                    continue
                self.leave(want)
                yield Placed(want, None, view, tuple(want.tried))
                continue
            pressure = Pressure(len(self._held), self._mean_held, self._placed_total)
            choice = self._rule.choose(options, pressure, draw)
            option = options[choice.chosen]
            name = option.backend.facts.name
            if not choice.is_free:
                reserved[name] = reserved.get(name, 0) + 1
                if option.has_room and now - want.arrival_s > _CLOSES_AFTER_S:
                    closed.add(name)
                continue
            self.leave(want)
            self._placed_total += 1
            self._note_served(want, option, now)
            yield Placed(want, option.backend, view, tuple(want.tried), tuple(options), choice)
            view = look()

    def _options(
        self, want: Want, view: ModelView, reserved: dict[str, int], closed: set[str]
    ) -> list[Option]:
        options = []
        output_tokens = self.lengths.left_tokens(0, want.limit_tokens)
        for backend in view.backends:
            name = backend.facts.name
            if name in closed or not is_eligible(backend, want.need, want.tried):
                continue
            index = self._indexes.get(name)
            uncached = want.prompt_tokens if index is None else want.uncached_tokens(name, index)
            ask = Ask(want.prompt_tokens, uncached, output_tokens)
            options.append(Option(backend, ask, cap_now(backend), reserved.get(name, 0)))
        return options

    def _in_order(self, view: ModelView, now: float) -> list[Want]:
        if len(self._held) < 2:
            return list(self._held)
        rate_s, token_s = _best_speeds(view)
        order, lengths = self._order, self.lengths
        least = min((self._served.get(want.tenant, 0.0) for want in self._held), default=0.0)

        def rank(want: Want) -> float:
            service_s = (
                want.prompt_tokens * token_s + lengths.left_tokens(0, want.limit_tokens) * rate_s
            )
            excess_s = self._served.get(want.tenant, 0.0) - least
            return rank_s(order, service_s, now - want.arrival_s, want.priority, excess_s)

        return sorted(self._held, key=rank)[:LOOKAHEAD]

    def _note_length(self, now: float) -> None:
        share = min(1.0, (now - self._mean_held_at_s) / _QUEUE_WINDOW_S)
        self._mean_held += share * (len(self._held) - self._mean_held)
        self._mean_held_at_s = now

    def _note_served(self, want: Want, option: Option, now: float) -> None:
        """What a key was served fades within a minute."""
        passed_s = now - self._served_at_s
        if passed_s > 1.0:
            keep = math.exp(-passed_s / _FAIR_WINDOW_S)
            self._served = {
                tenant: served_s * keep
                for tenant, served_s in self._served.items()
                if served_s * keep > 0.1
            }
            self._served_at_s = now
        if len(self._served) < _MOST_TENANTS or want.tenant in self._served:
            speed, ask = option.backend.speed, option.ask
            cap = min(option.cap, len(speed.steps) - 1)
            share_s = ask.uncached_tokens * speed.token_s + ask.output_tokens * (
                speed.steps[cap] / cap
            )
            self._served[want.tenant] = self._served.get(want.tenant, 0.0) + share_s


def cap_now(backend: BackendView) -> int:
    """How many requests the backend may have now, at least 1."""
    return max(1, int(backend.cap * backend.share_ratio))


def _has_room(backend: BackendView) -> bool:
    return backend.in_flight < cap_now(backend)


def _best_speeds(view: ModelView) -> tuple[float, float]:
    """Seconds a token and a prompt token take where they take the least, at the cap."""
    step_s = token_s = math.inf
    for backend in view.backends:
        speed = backend.speed
        step_s = min(step_s, speed.steps[speed.cap])
        token_s = min(token_s, speed.token_s)
    return step_s, token_s
