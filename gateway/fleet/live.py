"""The moving numbers of one backend. Only the registry and leases change them."""

from typing import Final

from gateway.config.backend import BackendConfig
from gateway.config.capture import concurrency_cap
from gateway.config.schema import HealthConfig
from gateway.config.steps import longest_step_s, longest_still_s
from gateway.fleet.change import Change
from gateway.fleet.health import breaker, progress
from gateway.fleet.health.breaker import Breaker, Phase
from gateway.fleet.health.evidence import (
    CanaryOk,
    Evidence,
    Hung,
    Look,
    ModelCard,
    Moved,
    ProbeOk,
    RequestFailed,
    RequestSucceeded,
)
from gateway.fleet.health.machine import Cause, Health, State, initial, step
from gateway.fleet.health.progress import Progress
from gateway.fleet.reconcile import Drift, DriftKind, reconcile
from gateway.fleet.speed import Slowness, SpeedBook, SpeedSample, judge
from gateway.fleet.standing import share_ratio, standing
from gateway.fleet.view import BackendFacts, BackendView

# A name that a backend refused is not asked of it again for so long, even if its list still has
# it: an engine can list an adapter that one of its processes has lost.
REFUSED_NAME_HOLD_S: Final = 30.0


class LiveBackend:
    """What is known of one backend now: requests in flight, health, speed, what it serves."""

    __slots__ = (
        "_facts",
        "_health_rules",
        "_is_plain",
        "_lengths",
        "_refused_until_s",
        "_rules",
        "arrivals_total",
        "breaker",
        "cap",
        "cards",
        "config",
        "drift",
        "finding",
        "hard_limit",
        "health",
        "in_flight",
        "last_request_s",
        "longest_step_s",
        "progress",
        "prompt_bytes",
        "served_names",
        "slowness",
        "speed",
    )

    def __init__(
        self,
        config: BackendConfig,
        served_names: frozenset[str],
        now: float,
        rules: HealthConfig | None = None,
    ) -> None:
        rules = rules or HealthConfig()
        self.config = config
        self.served_names = served_names
        self.cap, self.hard_limit = concurrency_cap(config)
        self.in_flight = 0
        self.prompt_bytes: dict[int, int] = {}
        self.arrivals_total = 0
        self.last_request_s = now
        self.longest_step_s = longest_step_s(config, rules.longest_step_s)
        self.health: Health = initial(now, has_canary=rules.canary)
        self.breaker: Breaker = breaker.CLOSED
        self.progress = Progress(now)
        self.speed = SpeedBook(config.capture_sizes)
        self.slowness: Slowness | None = None
        self.finding: str | None = None
        self.cards: tuple[ModelCard, ...] | None = None
        self.drift: tuple[Drift, ...] = ()
        self._health_rules = rules
        self._is_plain = False
        self._rules = breaker.Rules(rules.breaker_failures, rules.breaker_open_s)
        self._refused_until_s: dict[str, float] = {}
        self._lengths: dict[str, int] = {}
        self._facts: dict[str, BackendFacts] = {}

    def __repr__(self) -> str:
        return (
            f"<LiveBackend {self.config.name} {self.health.state} "
            f"{self.in_flight}/{self.cap} in flight>"
        )

    @property
    def state(self) -> State:
        """The state to show and to act on."""
        state = self.health.state
        if state is State.UP and (self.slowness is not None or self.breaker.openings):
            return State.DEGRADED
        return state

    @property
    def reason(self) -> str:
        """Why it is in its state."""
        if self.health.drain_reason is not None:
            return self.health.drain_reason
        if self.health.state is State.UP and self.breaker.openings:
            return f"its breaker is open after {self.breaker.failures} failed requests in a row"
        if self.health.state is State.UP and self.slowness is not None:
            return self.slowness.reason
        return self.health.reason

    @property
    def may_serve(self) -> bool:
        """Whether requests may be sent there, if only as a last resort."""
        return self.health.state is not State.DRAINING and not self.is_certainly_down

    @property
    def is_certainly_down(self) -> bool:
        """Whether nothing that it was sent can come back any more."""
        return self.health.judged is State.DOWN and self.health.cause is not Cause.SILENT

    @property
    def is_hung(self) -> bool:
        """Whether it is down because its engine stands still."""
        return self.health.judged is State.DOWN and self.health.cause is Cause.HUNG

    def observe(self, evidence: Evidence, now: float) -> tuple[Change, ...]:
        """Takes evidence in; returns what it changed."""
        before = (self.state, self.breaker.openings > 0)
        health, broken, drift = self.health, self.breaker, self.drift
        was_down = health.judged is State.DOWN
        self.health = step(health, evidence, now)
        match evidence:
            case RequestSucceeded() | CanaryOk():
                self.breaker = breaker.after_success(self.breaker)
            case Moved() if self.breaker.phase(now) is Phase.HALF_OPEN:
                # It generates for others, so its next failure counts anew.
                self.breaker = breaker.CLOSED
            case RequestFailed():
                self.breaker = breaker.after_failure(self.breaker, self._rules, now)
            case ProbeOk(cards=cards) if cards is not None:
                self._take_cards(cards)
        if self.health is not health or self.breaker is not broken:
            self._facts.clear()
            self._is_plain = (
                self.breaker is breaker.CLOSED
                and self.health.is_well
                and self.health.came_back_s is None
                and self.health.drain_reason is None
            )
            if self.health.judged is State.UP:
                self.finding = None
            if was_down and self.health.judged is not State.DOWN:
                self.speed.forget()
                self.slowness = None
        return self._changes(*before) + self._drifted(drift)

    def look(self, look: Look, now: float) -> tuple[Change, ...]:
        """Takes in what one look at the backend showed."""
        still_s = longest_still_s(self.config, self.longest_step_s, look.prompt_bytes)
        self.progress, proof = progress.take(self.progress, look, still_s, now)
        if isinstance(proof, Hung) and isinstance(look.probe, ProbeOk):
            # The green probe of an engine that stands still is worth nothing.
            return self.observe(proof, now)
        if progress.is_only_busy(look, proof, self.longest_step_s, now):
            return () if proof is None else self.observe(proof, now)
        changes = self.observe(look.probe, now)
        return changes if proof is None else changes + self.observe(proof, now)

    def note_speed(
        self, sample: SpeedSample, twin_s: float | None, now: float
    ) -> tuple[Change, ...]:
        """Takes in the speed of one stream; `twin_s` is what an eager twin takes per token."""
        before = (self.state, self.breaker.openings > 0)
        self.speed.add(sample)
        was = self.slowness
        self.slowness = judge(self.config, self.speed, twin_s, was is not None)
        if (was is None) != (self.slowness is None):
            self._facts.clear()
        return self._changes(*before)

    def _take_cards(self, cards: tuple[ModelCard, ...]) -> None:
        self.cards = cards
        self._lengths = {c.id: c.max_model_len for c in cards if c.max_model_len}
        self.drift = reconcile(self.config, self.served_names, cards)
        self._facts.clear()

    def _drifted(self, before: tuple[Drift, ...]) -> tuple[Change, ...]:
        if self.drift == before:
            return ()
        name = self.config.name
        if not self.drift:
            return (Change(name, "drift", before[0].kind.value, "none", "it is as configured"),)
        return tuple(Change(name, "drift", "", d.kind.value, d.message) for d in self.drift)

    def _changes(self, state: State, is_open: bool) -> tuple[Change, ...]:
        name = self.config.name
        changes: list[Change] = []
        if (self.breaker.openings > 0) is not is_open:
            words = ("open", "closed") if is_open else ("closed", "open")
            told = f"{self.breaker.failures} failed requests in a row" if not is_open else "success"
            changes.append(Change(name, "breaker", *words, told))
        if self.state is not state:
            changes.append(Change(name, "state", state.value, self.state.value, self.reason))
        return tuple(changes)

    def refuse_name(self, served_name: str, now: float) -> None:
        """Notes that the backend answered that it does not know `served_name`."""
        self._refused_until_s[served_name] = now + REFUSED_NAME_HOLD_S
        self._facts.clear()

    def misses(self, served_name: str, now: float) -> bool:
        """Whether the backend does not serve `served_name` as far as we know."""
        if not self.drift and not self._refused_until_s:
            return False
        until_s = self._refused_until_s.get(served_name)
        if until_s is not None:
            if now < until_s:
                return True
            del self._refused_until_s[served_name]
        return any(
            d.kind is DriftKind.NAME_MISSING and d.served_name == served_name for d in self.drift
        )

    def all_drift(self, now: float) -> tuple[Drift, ...]:
        """Differences from the routing file, names it refused included."""
        refused = tuple(
            Drift(
                DriftKind.REFUSED_NAME,
                name,
                f"it answered that the model '{name}' does not exist",
            )
            for name, until_s in self._refused_until_s.items()
            if now < until_s
        )
        return self.drift + refused

    def card(self, served_name: str) -> ModelCard | None:
        """What the backend last listed for `served_name`."""
        return next((c for c in self.cards or () if c.id == served_name), None)

    def max_model_len(self, served_name: str) -> int | None:
        """Context in tokens: what the backend says, else what the routing file says."""
        return self._lengths.get(served_name) or self.config.max_model_len

    def view(self, served_name: str, now: float) -> BackendView:
        """This backend at `now`, as a model that needs `served_name` sees it."""
        facts = self._facts.get(served_name)
        if facts is None:
            facts = self._facts_of(served_name, now)
            if not self._refused_until_s:
                # Nothing in them depends on the time: they hold until something is learnt.
                self._facts[served_name] = facts
        if self._is_plain:
            return BackendView(facts, self.in_flight)
        health = self.health
        stands = standing(health, self.breaker.phase(now), self.in_flight)
        return BackendView(
            facts, self.in_flight, stands, share_ratio(health, self._health_rules.ramp_s, now)
        )

    def _facts_of(self, served_name: str, now: float) -> BackendFacts:
        config = self.config
        return BackendFacts(
            name=config.name,
            served_name=served_name,
            tier=config.tier,
            weight=config.weight,
            cap=self.cap,
            hard_limit=self.hard_limit,
            max_model_len=self.max_model_len(served_name),
            state=self.state,
            reason=self.reason,
            is_missing=self.misses(served_name, now),
            node=config.node_name,
            card=config.fault_card,
            is_slow=self.slowness is not None,
        )
