"""All backends and names of the routing file in force, with what is known of them."""

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from gateway.config.backend import BackendConfig
from gateway.config.diff import is_same_server
from gateway.config.schema import RoutingConfig
from gateway.config.vocabulary import Tier
from gateway.fleet.change import Change
from gateway.fleet.health.evidence import DrainBegun, DrainEnded
from gateway.fleet.learning.decode import Kin, Scale
from gateway.fleet.learning.model import ModelLessons
from gateway.fleet.live import LiveBackend
from gateway.fleet.names import Member, Model, NameTable
from gateway.fleet.speed import SpeedSample
from gateway.fleet.view import ModelView


class Swap(NamedTuple):
    """What came and went when another routing file came into force, and the drift that it made.

    One that was leaving and is wanted again is among those that came. `renamed` are the new names
    of those that stayed, by their old ones.
    """

    added: tuple[LiveBackend, ...]
    removed: tuple[LiveBackend, ...]
    changes: tuple[Change, ...]
    renamed: Mapping[str, str]


class Registry:
    """The fleet: one `LiveBackend` per enabled backend, and the name table.

    `leaving` are backends that the file in force has not any more, or has at another address, and
    that still have requests.
    """

    def __init__(
        self, config: RoutingConfig, version: str, now: float, scrape_interval_s: float = 1.0
    ) -> None:
        self._scrape_interval_s = scrape_interval_s
        self._kin: dict[Hashable, Kin] = {}
        self._scales: dict[Hashable, Scale] = {}
        self.backends: Mapping[str, LiveBackend] = {}
        self.lessons: Mapping[str, ModelLessons] = {}
        self.leaving: list[LiveBackend] = []
        self.apply(config, version, now)

    def __repr__(self) -> str:
        return f"<Registry {self.version} {list(self.backends.values())!r}>"

    def apply(self, config: RoutingConfig, version: str, now: float) -> Swap:
        """Takes another routing file, all of it in one step.

        A backend stays, with its requests, health and what was learnt, as long as its address
        does. One at another address is another server.
        """
        names = NameTable(config)
        wanted = _served_names(names.models.values())
        enabled = [b for b in config.backends if b.enabled]
        self._kin = {key: self._kin.get(key, Kin()) for key in map(_kind_of, enabled)}
        self._scales = {key: self._scales.get(key, Scale()) for key in map(_scale_of, enabled)}
        changes: list[Change] = []
        added: list[LiveBackend] = []
        backends: dict[str, LiveBackend] = {}
        known = _by_url([*self.backends.values(), *self.leaving])
        for backend in enabled:
            served = wanted.get(backend.name, frozenset({backend.served_name}))
            kin, scale = self._kin[_kind_of(backend)], self._scales[_scale_of(backend)]
            live = _server_of(backend, known)
            if live is None:
                live = LiveBackend(
                    backend, served, now, config.health, kin, scale, self._scrape_interval_s
                )
                added.append(live)
            else:
                changes += live.reconfigure(backend, served, config.health, kin, scale)
                if live in self.leaving:
                    self.left(live)
                    live.observe(DrainEnded(), now)
                    added.append(live)
            backends[backend.name] = live
        stay = set(backends.values())
        removed = tuple(live for live in self.backends.values() if live not in stay)
        kept = ((old, live.config.name) for old, live in self.backends.items() if live in stay)
        renamed = {old: name for old, name in kept if old != name}
        for live in removed:
            live.observe(DrainBegun("the routing file has it no more"), now)
        self.leaving += removed
        self.config, self.version, self.names = config, version, names
        self.backends = backends
        self._by_url = _by_url(backends.values())
        self.lessons = {name: self.lessons_of(name) for name in names.models}
        self._twins = _eager_twins(names.models.values())
        return Swap(tuple(added), removed, tuple(changes), renamed)

    def left(self, live: LiveBackend) -> None:
        """A backend that was leaving is gone."""
        self.leaving = [other for other in self.leaving if other is not live]

    def lessons_of(self, model: str) -> ModelLessons:
        """What was learnt of a model; nothing of one that the file has no more."""
        return self.lessons.get(model) or ModelLessons()

    def current(self, model: Model) -> Model:
        """The model as the file in force has it, for a request that began under another file.

        Of one that is gone: as it was, with those of its servers that are still there.
        """
        now = self.names.models.get(model.name)
        if now is not None:
            return now
        found = ((_server_of(m.backend, self._by_url), m.served_name) for m in model.members)
        members = (Member(live.config, served) for live, served in found if live is not None)
        return Model(model.config, tuple(members))

    def view(self, model: Model, now: float, has_backlog: bool = False) -> ModelView:
        """The model's backends at `now`; `has_backlog` says that requests wait for them."""
        backends = self.backends
        return ModelView(
            model.name,
            tuple(
                [
                    backends[m.backend.name].view(m.served_name, now, has_backlog)
                    for m in model.members
                    if m.backend.name in backends
                ]
            ),
        )

    def note_speed(self, live: LiveBackend, sample: SpeedSample, now: float) -> tuple[Change, ...]:
        """Takes in the speed of one stream; returns what it changed."""
        names = self._twins.get(live.config.name, ())
        twins = (self.backends[name].speed.within_s for name in names)
        twin_s = min((s for s in twins if s is not None), default=None)
        return live.note_speed(sample, twin_s, now)

    def fallbacks(self, model: Model) -> tuple[Model, ...]:
        """The models that may answer in its place, in order; unknown and disabled ones left out."""
        if not model.config.fallback_models:
            return ()
        found = (self.names.find(name) for name in model.config.fallback_models)
        return tuple(m for m in found if m is not None and m.name != model.name)


def _by_url(lives: Iterable[LiveBackend]) -> dict[str, list[LiveBackend]]:
    """Backends by address, since comparing all with all takes seconds in a large fleet."""
    found: dict[str, list[LiveBackend]] = {}
    for live in lives:
        found.setdefault(live.config.base_url, []).append(live)
    return found


def _server_of(
    backend: BackendConfig, known: Mapping[str, list[LiveBackend]]
) -> LiveBackend | None:
    """What is known of the server already, under this name or another."""
    lives = known.get(backend.base_url, [])
    return next((live for live in lives if is_same_server(live.config, backend)), None)


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


def _scale_of(backend: BackendConfig) -> Hashable:
    """Engines that are off by the same factor: same model and chips."""
    return (backend.root or backend.served_name, backend.chip)


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
