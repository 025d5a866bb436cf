"""All backends and names of the routing file in force, with what is known of them."""

from collections.abc import Hashable, Iterable, Mapping

from gateway.config.backend import BackendConfig
from gateway.config.schema import RoutingConfig
from gateway.config.vocabulary import Tier
from gateway.fleet.change import Change
from gateway.fleet.health.evidence import Evidence
from gateway.fleet.learning.decode import Kin, Scale
from gateway.fleet.learning.model import ModelLessons
from gateway.fleet.lease import Lease
from gateway.fleet.live import LiveBackend
from gateway.fleet.names import Model, NameTable
from gateway.fleet.speed import SpeedSample
from gateway.fleet.view import ModelView


class Registry:
    """The fleet: one `LiveBackend` per enabled backend, and the name table."""

    def __init__(
        self, config: RoutingConfig, version: str, now: float, scrape_interval_s: float = 1.0
    ) -> None:
        self.config = config
        self.version = version
        self.names = NameTable(config)
        wanted = _served_names(self.names.models.values())
        kin: dict[Hashable, Kin] = {}
        scales: dict[Hashable, Scale] = {}
        self.backends: Mapping[str, LiveBackend] = {
            b.name: LiveBackend(
                b,
                wanted.get(b.name, frozenset({b.served_name})),
                now,
                config.health,
                kin.setdefault(_kind_of(b), Kin()),
                scales.setdefault((b.root or b.served_name, b.chip), Scale()),
                scrape_interval_s,
            )
            for b in config.backends
            if b.enabled
        }
        self.lessons: Mapping[str, ModelLessons] = {
            name: ModelLessons() for name in self.names.models
        }
        self._twins = _eager_twins(self.names.models.values())

    def __repr__(self) -> str:
        return f"<Registry {self.version} {list(self.backends.values())!r}>"

    def view(self, model: Model, now: float, has_backlog: bool = False) -> ModelView:
        """The model's backends at `now`; `has_backlog` says that requests wait for them."""
        backends = self.backends
        return ModelView(
            model.name,
            tuple(
                [
                    backends[m.backend.name].view(m.served_name, now, has_backlog)
                    for m in model.members
                ]
            ),
        )

    def lease(self, backend: str, prompt_bytes: int = 0) -> Lease:
        """A slot at a backend, to be entered, for a request of that size."""
        return Lease(self.backends[backend], prompt_bytes)

    def observe(self, backend: str, evidence: Evidence, now: float) -> tuple[Change, ...]:
        """Takes evidence about a backend in; returns what it changed."""
        return self.backends[backend].observe(evidence, now)

    def note_speed(self, backend: str, sample: SpeedSample, now: float) -> tuple[Change, ...]:
        """Takes in the speed of one stream; returns what it changed."""
        twins = (self.backends[name].speed.within_s for name in self._twins.get(backend, ()))
        twin_s = min((s for s in twins if s is not None), default=None)
        return self.backends[backend].note_speed(sample, twin_s, now)

    def fallbacks(self, model: Model) -> tuple[Model, ...]:
        """The models that may answer in its place, in order; unknown and disabled ones left out."""
        if not model.config.fallback_models:
            return ()
        found = (self.names.find(name) for name in model.config.fallback_models)
        return tuple(m for m in found if m is not None and m.name != model.name)


def _kind_of(backend: BackendConfig) -> Hashable:
    """Engines that are alike take alike: same model, chips and flags."""
    return (
        backend.root or backend.served_name,
        backend.chip,
        backend.tier,
        backend.tensor_parallel or len(backend.npus),
        backend.capture_sizes,
        backend.max_num_seqs,
    )


def _served_names(models: Iterable[Model]) -> dict[str, frozenset[str]]:
    wanted: dict[str, set[str]] = {}
    for model in models:
        for member in model.members:
            wanted.setdefault(member.backend.name, set()).add(member.served_name)
    return {name: frozenset(served) for name, served in wanted.items()}


def _eager_twins(models: Iterable[Model]) -> dict[str, frozenset[str]]:
    """For each graph backend the eager ones that serve a model with it."""
    twins: dict[str, set[str]] = {}
    for model in models:
        eager = {m.backend.name for m in model.members if m.backend.tier is Tier.EAGER}
        for member in model.members:
            if eager and member.backend.tier is Tier.GRAPH:
                twins.setdefault(member.backend.name, set()).update(eager)
    return {name: frozenset(names) for name, names in twins.items()}
