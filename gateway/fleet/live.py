"""The moving numbers of one backend. Only the registry and leases change them."""

from gateway.config.backend import BackendConfig
from gateway.config.capture import concurrency_cap
from gateway.fleet.health.evidence import Evidence, ModelCard, ProbeOk
from gateway.fleet.health.machine import Health, State, initial, step
from gateway.fleet.reconcile import Drift, DriftKind, reconcile
from gateway.fleet.view import BackendFacts, BackendView

# A name that a backend refused is not asked of it again for so long, even if its list still has
# it: an engine can list an adapter that one of its processes has lost.
REFUSED_NAME_HOLD_S = 30.0


class LiveBackend:
    """What is known of one backend now: requests in flight, health, what it says it serves."""

    __slots__ = (
        "_facts",
        "_lengths",
        "_refused_until_s",
        "cap",
        "cards",
        "config",
        "drift",
        "hard_limit",
        "health",
        "in_flight",
        "served_names",
    )

    def __init__(self, config: BackendConfig, served_names: frozenset[str], now: float) -> None:
        self.config = config
        self.served_names = served_names
        self.cap, self.hard_limit = concurrency_cap(config)
        self.in_flight = 0
        self.health: Health = initial(now)
        self.cards: tuple[ModelCard, ...] | None = None
        self.drift: tuple[Drift, ...] = ()
        self._refused_until_s: dict[str, float] = {}
        self._lengths: dict[str, int] = {}
        self._facts: dict[str, BackendFacts] = {}

    def __repr__(self) -> str:
        return (
            f"<LiveBackend {self.config.name} {self.health.state} "
            f"{self.in_flight}/{self.cap} in flight>"
        )

    def observe(self, evidence: Evidence, now: float) -> bool:
        """Takes evidence in; returns whether the state changed."""
        before = self.health
        self.health = step(self.health, evidence, now)
        if isinstance(evidence, ProbeOk) and evidence.cards is not None:
            self.cards = evidence.cards
            self._lengths = {c.id: c.max_model_len for c in evidence.cards if c.max_model_len}
            self.drift = reconcile(self.config, self.served_names, evidence.cards)
            self._facts.clear()
        if self.health is not before:
            self._facts.clear()
        return self.health.state is not before.state

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
        return BackendView(facts, self.in_flight)

    def _facts_of(self, served_name: str, now: float) -> BackendFacts:
        config, health = self.config, self.health
        return BackendFacts(
            name=config.name,
            served_name=served_name,
            tier=config.tier,
            weight=config.weight,
            cap=self.cap,
            hard_limit=self.hard_limit,
            max_model_len=self.max_model_len(served_name),
            state=health.state,
            reason=health.reason,
            is_missing=self.misses(served_name, now),
        )

    @property
    def state(self) -> State:
        """The state of its health."""
        return self.health.state
