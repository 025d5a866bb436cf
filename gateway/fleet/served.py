"""Which names a backend serves, by what it lists and what it refuses."""

from typing import Final

from gateway.config.backend import BackendConfig
from gateway.fleet.health.evidence import ModelCard
from gateway.fleet.reconcile import Drift, DriftKind, reconcile, refused

# A name that a backend refused is not asked of it again for so long, even if its list still has
# it: an engine can list an adapter that one of its processes has lost.
REFUSED_NAME_HOLD_S: Final = 30.0


class ServedNames:
    """The names that a backend is to serve, and what speaks against it."""

    __slots__ = ("_config", "_lengths", "_refused_until_s", "cards", "drift", "wanted")

    def __init__(self, config: BackendConfig, wanted: frozenset[str]) -> None:
        self.wanted = wanted
        self.cards: tuple[ModelCard, ...] | None = None
        self.drift: tuple[Drift, ...] = ()
        self._config = config
        self._lengths: dict[str, int] = {}
        self._refused_until_s: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"<ServedNames {sorted(self.wanted)} drift={len(self.drift)}>"

    def reconfigured(self, config: BackendConfig, wanted: frozenset[str]) -> "ServedNames":
        """The same for another entry of the routing file about the same server."""
        new = ServedNames(config, wanted)
        new._refused_until_s = {n: s for n, s in self._refused_until_s.items() if n in wanted}
        if self.cards is not None:
            new.take(self.cards)
        return new

    @property
    def has_refused(self) -> bool:
        """Whether a name was refused of late."""
        return bool(self._refused_until_s)

    def take(self, cards: tuple[ModelCard, ...]) -> None:
        """What the backend listed now."""
        self.cards = cards
        self._lengths = {c.id: c.max_model_len for c in cards if c.max_model_len}
        self.drift = reconcile(self._config, self.wanted, cards)

    def refuse_name(self, served_name: str, now: float) -> None:
        """Notes that the backend answered that it does not know `served_name`."""
        self._refused_until_s[served_name] = now + REFUSED_NAME_HOLD_S

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
        names = (name for name, until_s in self._refused_until_s.items() if now < until_s)
        return self.drift + tuple(refused(name) for name in names)

    def card(self, served_name: str) -> ModelCard | None:
        """What the backend last listed for `served_name`."""
        return next((c for c in self.cards or () if c.id == served_name), None)

    def max_model_len(self, served_name: str) -> int | None:
        """Context in tokens: what the backend says, else what the routing file says."""
        return self._lengths.get(served_name) or self._config.max_model_len
