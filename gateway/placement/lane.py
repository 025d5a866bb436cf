"""The line of one model: who waits, in which order, and who is placed where when."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gateway.fleet.learning.lengths import OutputLengths
from gateway.fleet.view import ModelView, Standing
from gateway.placement.affinity import PrefixIndex
from gateway.placement.cost import Ask
from gateway.placement.eligible import is_eligible
from gateway.placement.fairness import Served
from gateway.placement.order import Order, rank_s
from gateway.placement.room import DOUBTFUL_S, cap_for, cap_now, penalty_of, roomy_of
from gateway.placement.rule import Draw, Option, Pressure, Rule
from gateway.placement.simple import LeastInflight
from gateway.placement.want import Kind, Placed, Want

LOOKAHEAD: Final = 16
"""Waiting requests that could go somewhere now and are priced each time."""

LASTING_S: Final = 20.0
"""Seconds without an empty line after which a batch may be tried that is larger than the graph."""

_QUEUE_WINDOW_S: Final = 20.0
_PACES_NEEDED: Final = 5
_PACE_SHARE: Final = 0.15
# A request that waits so long for memory closes its backend to those behind it.
_CLOSES_AFTER_S: Final = 20.0
# Of those that cannot go now, so many are asked whether they ever can.
_ASKED: Final = 64
_COMPUTE_RULE: Final = LeastInflight()


class Lane:
    """Requests that wait for one model. Bounded; a place can be left at any time."""

    __slots__ = (
        "_backlog_since_s",
        "_held",
        "_indexes",
        "_max",
        "_mean_held",
        "_mean_held_at_s",
        "_order",
        "_pace_s",
        "_paces",
        "_placed_at_s",
        "_placed_total",
        "_rule",
        "_served",
        "agrees",
        "lengths",
    )

    def __init__(
        self,
        rule: Rule,
        order: Order,
        max_requests: int,
        indexes: Mapping[str, PrefixIndex],
        lengths: OutputLengths | None = None,
    ) -> None:
        self._rule = rule
        self._order = order
        self._max = max_requests
        self._held: dict[Want, None] = {}
        self._backlog_since_s = math.inf
        self._indexes = indexes
        self._mean_held = 0.0
        self._mean_held_at_s = -math.inf
        self._placed_total = 0
        self._placed_at_s = -math.inf
        self._pace_s = 0.0
        self._paces = 0
        self._served = Served()
        self.agrees = False
        """Whether other gateways decide alike: between equals the prompt chooses, not chance."""
        self.lengths = lengths or OutputLengths()

    def __repr__(self) -> str:
        return f"<Lane {len(self)} of {self._max}>"

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Want]:
        return iter(self._held)

    def has_lasting_backlog(self, now: float) -> bool:
        """Whether requests have waited without a pause for so long that more is worth a try."""
        return len(self._held) > 1 and now - self._backlog_since_s >= LASTING_S

    def reconfigure(self, rule: Rule | None, order: Order, max_requests: int) -> None:
        """Goes on by other rules, with those that wait; None for the rule that it has."""
        self._rule = rule or self._rule
        self._order = order
        self._max = max_requests

    @property
    def oldest_s(self) -> float:
        """When the one that has waited longest came; inf without any."""
        return min((want.arrival_s for want in self._held), default=math.inf)

    @property
    def is_over(self) -> bool:
        """Whether more wait than may."""
        return self.is_over_with(0)

    def is_over_with(self, elsewhere: int) -> bool:
        """The same, with those that wait at other gateways."""
        return len(self._held) + elsewhere > self._max

    def join(self, want: Want) -> None:
        """Takes a place; who is not placed by the next plan leaves again if the line is over."""
        self._held[want] = None

    def leave(self, want: Want) -> None:
        """Gives the place up; does nothing for one that has none."""
        self._held.pop(want, None)

    def wait_s(self, position: int) -> float | None:
        """How long the one at `position` (1 is next) will wait, by the pace of late; or None."""
        return position * self._pace_s if self._paces >= _PACES_NEEDED else None

    def plan(self, look: Callable[[], ModelView], now: float, draw: Draw) -> Iterator[Placed]:
        """Decides about those that wait, in order, and takes those out that are decided about.

        The caller sends each one before it asks for the next: `look` must then show it.
        """
        self._note_length(now)
        view = look()
        roomy = roomy_of(view)
        reserved: dict[str, int] = {}
        closed: set[str] = set()
        is_stale = False
        looked_at = passed = 0
        for want in self._in_order(view, now):
            if want not in self._held:
                continue
            if is_stale:
                view, is_stale = look(), False
                roomy = roomy_of(view)
            if want.kind is Kind.GENERATE:
                if looked_at >= LOOKAHEAD:
                    return
                if not any(is_eligible(b, want.need, want.tried) for b in roomy):
                    # It cannot go now; whether it ever can is asked of the first ones only.
                    passed += 1
                    if passed > _ASKED or _may_wait(want, view):
                        continue
                looked_at += 1
            options = self._options(want, view, reserved, closed)
            if not options:
                if not closed or not _may_wait(want, view):
                    self.leave(want)
                    yield Placed(want, None, view, tuple(want.tried))
                continue
            pressure = Pressure(len(self._held), self._mean_held, self._placed_total)
            rule = self._rule if want.kind is Kind.GENERATE else _COMPUTE_RULE
            chance = want.chance if self.agrees and want.prefix else draw
            choice = rule.choose(options, pressure, chance)
            option = options[choice.chosen]
            if not choice.is_free:
                self._reserve(want, option, reserved, closed, now)
                continue
            self.leave(want)
            self._note_placed(want, option, now)
            yield Placed(want, option.backend, view, tuple(want.tried), tuple(options), choice)
            is_stale = True

    def _reserve(
        self,
        want: Want,
        option: Option,
        reserved: dict[str, int],
        closed: set[str],
        now: float,
    ) -> None:
        """It waits for this backend; after long enough nobody may pass it there."""
        name = option.backend.facts.name
        reserved[name] = reserved.get(name, 0) + 1
        needs_more_than_a_place = option.has_room or want.sequences > 1
        if needs_more_than_a_place and now - want.arrival_s > _CLOSES_AFTER_S:
            closed.add(name)

    def _options(
        self, want: Want, view: ModelView, reserved: dict[str, int], closed: set[str]
    ) -> list[Option]:
        options: list[Option] = []
        output_tokens = self.lengths.left_tokens(0, want.limit_tokens)
        best = Standing.OUT
        prompt_tokens, sequences, kind = want.prompt_tokens, want.sequences, want.kind
        is_plain = not want.failed_in and not want.home
        is_generating = kind is Kind.GENERATE
        indexes, need, tried = self._indexes, want.need, want.tried
        for backend in view.backends:
            name = backend.facts.name
            if not is_eligible(backend, need, tried):
                continue
            standing = backend.standing
            if standing is Standing.LAST_RESORT and best < standing:
                continue
            if standing < best:
                if best is Standing.LAST_RESORT:
                    options.clear()
                best = standing
            if name in closed:
                continue
            index = indexes.get(name)
            uncached = prompt_tokens if index is None else want.uncached_tokens(name, index)
            ask = Ask(prompt_tokens, uncached, output_tokens, sequences)
            if is_generating:
                cap, running = cap_now(backend), backend.load.running
            else:
                cap, running = cap_for(backend, kind), backend.in_flight
            penalty_s = DOUBTFUL_S if standing is Standing.DOUBTFUL else 0.0
            if not is_plain:
                penalty_s += penalty_of(backend, want)
            options.append(Option(backend, ask, cap, running, reserved.get(name, 0), penalty_s))
        if want.is_bound:
            homes = [option for option in options if option.backend.facts.name == want.home]
            return homes or options
        return options

    def _in_order(self, view: ModelView, now: float) -> list[Want]:
        if len(self._held) < 2:
            return list(self._held)
        rate_s, token_s = _best_speeds(view)
        order, lengths, served = self._order, self.lengths, self._served
        least_s = served.least_s(want.tenant for want in self._held)

        def rank(want: Want) -> float:
            service_s = (
                want.prompt_tokens * token_s + lengths.left_tokens(0, want.limit_tokens) * rate_s
            )
            excess_s = served.seconds(want.tenant) - least_s
            return rank_s(order, service_s, now - want.arrival_s, want.priority, excess_s)

        # What takes no place in a batch is not held up by what does.
        return sorted(self._held, key=lambda want: (want.kind is Kind.GENERATE, rank(want)))

    def _note_length(self, now: float) -> None:
        share = min(1.0, (now - self._mean_held_at_s) / _QUEUE_WINDOW_S)
        self._mean_held += share * (len(self._held) - self._mean_held)
        self._mean_held_at_s = now
        if len(self._held) < 2:
            self._backlog_since_s = math.inf
        elif self._backlog_since_s == math.inf:
            self._backlog_since_s = now

    def _note_placed(self, want: Want, option: Option, now: float) -> None:
        self._placed_total += 1
        if want.kind is not Kind.GENERATE:
            return
        if self._held:
            gap_s = now - self._placed_at_s
            if gap_s < _QUEUE_WINDOW_S:
                self._paces += 1
                self._pace_s += max(1.0 / self._paces, _PACE_SHARE) * (gap_s - self._pace_s)
        self._placed_at_s = now
        speed, ask = option.backend.speed, option.ask
        decode_s = ask.sequences * ask.output_tokens * speed.steps[speed.cap] / speed.cap
        self._served.note(want.tenant, ask.uncached_tokens * speed.token_s + decode_s, now)


def _may_wait(want: Want, view: ModelView) -> bool:
    """Whether some backend may serve it, if not now."""
    return any(is_eligible(backend, want.need, want.tried) for backend in view.backends)


def _best_speeds(view: ModelView) -> tuple[float, float]:
    """Seconds a token and a prompt token take where they take the least, at the cap."""
    step_s = token_s = math.inf
    for backend in view.backends:
        speed = backend.speed
        step_s = min(step_s, speed.steps[speed.cap])
        token_s = min(token_s, speed.token_s)
    return step_s, token_s
