"""All backends and names of the routing file in force, with what is known of them."""

from collections.abc import Iterable, Mapping

from gateway.config.schema import RoutingConfig
from gateway.fleet.health.evidence import Evidence
from gateway.fleet.lease import Lease
from gateway.fleet.live import LiveBackend
from gateway.fleet.names import Model, NameTable
from gateway.fleet.view import ModelView


class Registry:
    """The fleet: one `LiveBackend` per enabled backend, and the name table."""

    def __init__(self, config: RoutingConfig, version: str, now: float) -> None:
        self.config = config
        self.version = version
        self.names = NameTable(config)
        wanted = _served_names(self.names.models.values())
        self.backends: Mapping[str, LiveBackend] = {
            b.name: LiveBackend(b, wanted.get(b.name, frozenset({b.served_name})), now)
            for b in config.backends
            if b.enabled
        }

    def __repr__(self) -> str:
        return f"<Registry {self.version} {list(self.backends.values())!r}>"

    def view(self, model: Model, now: float) -> ModelView:
        """The model's backends at `now`."""
        backends = self.backends
        return ModelView(
            model.name,
            tuple([backends[m.backend.name].view(m.served_name, now) for m in model.members]),
        )

    def lease(self, backend: str) -> Lease:
        """A slot at a backend, to be entered."""
        return Lease(self.backends[backend])

    def observe(self, backend: str, evidence: Evidence, now: float) -> bool:
        """Takes evidence about a backend in; returns whether its state changed."""
        return self.backends[backend].observe(evidence, now)

    def fallbacks(self, model: Model) -> tuple[Model, ...]:
        """The models that may answer in its place, in order; unknown and disabled ones left out."""
        if not model.config.fallback_models:
            return ()
        found = (self.names.find(name) for name in model.config.fallback_models)
        return tuple(m for m in found if m is not None and m.name != model.name)


def _served_names(models: Iterable[Model]) -> dict[str, frozenset[str]]:
    wanted: dict[str, set[str]] = {}
    for model in models:
        for member in model.members:
            wanted.setdefault(member.backend.name, set()).add(member.served_name)
    return {name: frozenset(served) for name, served in wanted.items()}
