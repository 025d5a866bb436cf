"""The moving numbers of one backend. Only the registry and leases change them."""

from dataclasses import replace

from gateway.config.backend import BackendConfig
from gateway.config.capture import concurrency_cap
from gateway.config.schema import HealthConfig
from gateway.config.server_key import server_key
from gateway.config.steps import longest_step_s, longest_still_s
from gateway.fleet.change import Change, drift_changes
from gateway.fleet.health import breaker, progress
from gateway.fleet.health.breaker import Breaker, Phase
from gateway.fleet.health.evidence import (
    Activity,
    CanaryOk,
    Evidence,
    Hung,
    Look,
    Moved,
    ProbeOk,
    RequestFailed,
    RequestSucceeded,
)
from gateway.fleet.health.machine import Cause, Health, State, initial, step
from gateway.fleet.health.progress import Progress
from gateway.fleet.learning.decode import Kin, Scale
from gateway.fleet.learning.shape import decode_for, shape_of
from gateway.fleet.served import ServedNames
from gateway.fleet.speed import Slowness, SpeedBook, SpeedSample, judge
from gateway.fleet.standing import share_ratio, standing
from gateway.fleet.view import BackendFacts, BackendView, Standing
from gateway.fleet.work import Work


class LiveBackend:
    """What is known of one backend now: requests in flight, health, speed, what it serves.

    `key` is its name at all gateways, of which there are `replicas`; `warned` is what another one
    found out against it and this one has not disproved.
    """

    __slots__ = (
        "_facts",
        "_is_plain",
        "_rules",
        "arrivals_total",
        "breaker",
        "config",
        "finding",
        "hard_limit",
        "health",
        "health_rules",
        "in_flight",
        "key",
        "last_request_s",
        "longest_step_s",
        "progress",
        "prompt_bytes",
        "replicas",
        "served",
        "slowness",
        "speed",
        "warned",
        "work",
    )

    def __init__(
        self,
        config: BackendConfig,
        served_names: frozenset[str],
        now: float,
        rules: HealthConfig | None = None,
        kin: Kin | None = None,
        scale: Scale | None = None,
        scrape_interval_s: float = 1.0,
    ) -> None:
        rules = rules or HealthConfig()
        self.config = config
        self.key = server_key(config.base_url)
        self.replicas = 1
        self.warned = ""
        self.served = ServedNames(config, served_names)
        _, self.hard_limit = concurrency_cap(config)
        self.work = Work(decode_for(config, kin, scale), None, scrape_interval_s)
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
        self.health_rules = rules
        self._is_plain = False
        self._rules = breaker.Rules(rules.breaker_failures, rules.breaker_open_s)
        self._facts: dict[str, BackendFacts] = {}

    def reconfigure(
        self,
        config: BackendConfig,
        served_names: frozenset[str],
        rules: HealthConfig,
        kin: Kin,
        scale: Scale,
    ) -> tuple[Change, ...]:
        """The routing file says other things of the same server; returns the drift that makes.

        Requests, health, breaker and what was learnt stay. Only the decode speeds begin anew where
        the file says that other batches run on the graph, since they were of those that did.
        """
        old, drift = self.config, self.served.drift
        self.config = config
        self.served = self.served.reconfigured(config, served_names)
        _, self.hard_limit = concurrency_cap(config)
        self.longest_step_s = longest_step_s(config, rules.longest_step_s)
        self.health_rules = rules
        self._rules = breaker.Rules(rules.breaker_failures, rules.breaker_open_s)
        if self.health.has_canary is not rules.canary:
            self.health = replace(self.health, has_canary=rules.canary)
        if shape_of(old) != shape_of(config):
            self.work.reshape(decode_for(config, kin, scale))
            self.speed = SpeedBook(config.capture_sizes)
            self.slowness = None
        self._facts.clear()
        return drift_changes(config.name, drift, self.served.drift)

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
    def cap(self) -> int:
        """How many requests at once it serves well, by what was learnt or configured."""
        return self.work.decode.cap_with(has_backlog=False, now=0.0)

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
        health, broken, drift = self.health, self.breaker, self.served.drift
        was_down = health.judged is State.DOWN
        self.health = step(health, evidence, now)
        match evidence:
            case RequestSucceeded() | CanaryOk():
                self.breaker = breaker.after_success(self.breaker)
                # What was seen here counts for more than what was heard.
                self.warned = ""
            case Moved() if self.breaker.phase(now) is Phase.HALF_OPEN:
                # It generates for others, so its next failure counts anew.
                self.breaker = breaker.CLOSED
            case RequestFailed():
                self.breaker = breaker.after_failure(self.breaker, self._rules, now)
            case ProbeOk(cards=cards) if cards is not None:
                self.served.take(cards)
                self._facts.clear()
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
                self.work.restarted()
                self.slowness = None
        told = drift_changes(self.config.name, drift, self.served.drift)
        return self._changes(*before) + told

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

    def scraped(self, activity: Activity | None, asked_s: float, answered_s: float) -> None:
        """Takes in what its /metrics said, or that they could not be read."""
        if self.work.scraped(activity, asked_s, answered_s):
            self.speed.forget()
            self.slowness = None
            self._facts.clear()

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

    def refuse_name(self, served_name: str, now: float) -> None:
        """Notes that the backend answered that it does not know `served_name`."""
        self.served.refuse_name(served_name, now)
        self._facts.clear()

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

    def view(self, served_name: str, now: float, has_backlog: bool = False) -> BackendView:
        """This backend at `now`, as a model that needs `served_name` sees it.

        `has_backlog` says that requests wait, so that it may be tried a little beyond its cap.
        """
        facts = self._facts.get(served_name)
        if facts is None:
            facts = self._facts_of(served_name, now)
            if not self.served.has_refused:
                # Nothing in them depends on the time: they hold until something is learnt.
                self._facts[served_name] = facts
        work = self.work
        load, speed = work.load(now), work.speed()
        cap = work.decode.cap_with(has_backlog, now)
        if self.replicas > 1 and work.figures.is_blind(now):
            # Each of them takes its part, since none knows what the others do.
            cap = max(1, cap // self.replicas)
        if self._is_plain and not self.warned:
            return BackendView(facts, self.in_flight, Standing.READY, 1.0, cap, load, speed)
        stands = standing(self.health, self.breaker.phase(now), self.in_flight)
        if self.warned and stands is Standing.READY:
            stands = Standing.DOUBTFUL
        share = share_ratio(self.health, self.health_rules.ramp_s, now)
        return BackendView(facts, self.in_flight, stands, share, cap, load, speed)

    def _facts_of(self, served_name: str, now: float) -> BackendFacts:
        config = self.config
        return BackendFacts(
            name=config.name,
            served_name=served_name,
            tier=config.tier,
            weight=config.weight,
            hard_limit=self.hard_limit,
            max_model_len=self.served.max_model_len(served_name),
            state=self.state,
            reason=self.reason,
            is_missing=self.served.misses(served_name, now),
            node=config.node_name,
            card=config.fault_card,
            is_slow=self.slowness is not None,
            modalities=None if config.modalities is None else frozenset(config.modalities),
            keys=None if config.keys is None else frozenset(config.keys),
        )
