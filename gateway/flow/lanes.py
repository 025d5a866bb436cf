"""The lines of all models and what they go by, through every change of the routing file."""

from collections.abc import Mapping, Sequence

from gateway.config.vocabulary import PlacementRule
from gateway.fleet.live import LiveBackend
from gateway.fleet.names import Model
from gateway.fleet.registry import Registry
from gateway.placement.affinity import BLOCK_TOKENS, DEFAULT_BLOCKS, MOST_BLOCKS, PrefixIndex
from gateway.placement.lane import Lane
from gateway.placement.rules import rule_of


class _Cache:
    """What one backend's prefix cache is thought to hold, and for which start and size of it."""

    __slots__ = ("index", "kv_tokens", "live", "restarts_total")

    def __init__(self, live: LiveBackend, *, is_told: bool) -> None:
        self.live = live
        self.index = PrefixIndex(DEFAULT_BLOCKS, is_told=is_told)
        self.restarts_total = live.work.restarts_total
        self.kv_tokens = 0


class Lanes:
    """One line for each model; that of a model which is gone stays until nobody waits in it."""

    __slots__ = (
        "_caches",
        "_fleet",
        "_gone",
        "_indexes",
        "_is_shared",
        "_lanes",
        "_models",
        "_models_at",
        "_placements",
    )

    def __init__(self, fleet: Registry, *, is_shared: bool = False) -> None:
        """With `is_shared` other gateways place requests at the same backends."""
        self._fleet = fleet
        self._is_shared = is_shared
        self._lanes: dict[str, Lane] = {}
        self._placements: dict[str, PlacementRule] = {}
        self._caches: dict[str, _Cache] = {}
        self._indexes: dict[str, PrefixIndex] = {}
        self._models_at: dict[str, list[Model]] = {}
        self._models: Mapping[str, Model] = {}
        self._gone: dict[str, Model] = {}
        self.apply()

    def __repr__(self) -> str:
        return f"<Lanes { ({name: len(lane) for name, lane in self._lanes.items() if len(lane)}) }>"

    def apply(self) -> None:
        """Takes over what the fleet's routing file says now; whoever waits keeps the place."""
        fleet = self._fleet
        known = {cache.live: cache for cache in self._caches.values()}
        caches = {
            name: known.get(live) or _Cache(live, is_told=self._is_shared)
            for name, live in fleet.backends.items()
        }
        self._caches = caches
        # The lines have this very mapping.
        self._indexes.clear()
        self._indexes.update((name, cache.index) for name, cache in caches.items())
        for name in [name for name in self._lanes if name not in fleet.names.models]:
            if not self.length(name):
                self._forget(name)
            elif name in self._models:
                self._gone[name] = self._models[name]
        self._models = fleet.names.models
        self._models_at = {}
        for model in self._models.values():
            self._gone.pop(model.name, None)
            self._configure(model)
            for member in model.members:
                self._models_at.setdefault(member.backend.name, []).append(model)

    def of(self, model: Model) -> Lane:
        """The line of a model."""
        lane = self._lanes.get(model.name)
        return self._configure(model) if lane is None else lane

    def length(self, model: str) -> int:
        """How many wait for a model."""
        lane = self._lanes.get(model)
        return 0 if lane is None else len(lane)

    def models_at(self, backend: str) -> list[str]:
        """The names of the models that a backend serves."""
        return [model.name for model in self._models_at.get(backend, [])]

    def oldest_s(self, model: str) -> float | None:
        """Since when the first of a model's line waits (monotonic); None if nobody does."""
        lane = self._lanes.get(model)
        return lane.oldest_s if lane is not None and len(lane) else None

    def index(self, backend: str) -> PrefixIndex:
        """The prefixes that a backend is thought to have in its cache."""
        return self._indexes[backend]

    def news(self) -> list[tuple[str, tuple[int, ...], int]]:
        """What this gateway has sent where since the last time: backend by key, blocks, tail."""
        return [
            (cache.live.key, blocks, tail)
            for cache in self._caches.values()
            for blocks, tail in cache.index.take_news()
        ]

    def hear(self, key: str, blocks: Sequence[int], tail_tokens: int) -> None:
        """Another gateway has sent this prompt to the backend of this key."""
        for cache in self._caches.values():
            if cache.live.key == key:
                cache.index.hear(blocks, tail_tokens)

    def joined(self, model: Model) -> None:
        """Somebody waits for a model that may be gone."""
        if model.name not in self._fleet.names.models:
            self._gone[model.name] = model

    def left(self, model: Model) -> None:
        """Somebody waits no more; the line of a model that is gone ends with its last one."""
        if model.name not in self._fleet.names.models and not self.length(model.name):
            self._forget(model.name)

    def waiting(self) -> list[Model]:
        """The models that somebody waits for; the one whose first has waited longest is first."""
        return self._by_age([*self._fleet.names.models.values(), *self._gone.values()])

    def waiting_at(self, backend: str) -> list[Model]:
        """Those among them that may be waited for because of this backend."""
        models = self._models_at.get(backend, [])
        return self._by_age([*models, *self._gone.values()] if self._gone else models)

    def sweep(self, model: Model) -> None:
        """An engine that was started anew has an empty cache; one that told its memory, a size."""
        for member in model.members:
            cache = self._caches[member.backend.name]
            work = cache.live.work
            if work.kv_tokens is not None and work.kv_tokens != cache.kv_tokens:
                cache.kv_tokens = work.kv_tokens
                cache.index.resize(min(work.kv_tokens // BLOCK_TOKENS, MOST_BLOCKS))
            if work.restarts_total != cache.restarts_total:
                cache.restarts_total = work.restarts_total
                cache.index.clear()

    def _configure(self, model: Model) -> Lane:
        config, most = model.config, self._fleet.config.queue.max_requests
        lengths = self._fleet.lessons_of(model.name).lengths
        lane = self._lanes.get(model.name)
        if lane is None:
            rule = rule_of(config.placement)
            lane = Lane(rule, config.order, most, self._indexes, lengths)
            lane.agrees = self._is_shared
            self._lanes[model.name] = lane
        else:
            is_same = self._placements[model.name] is config.placement
            lane.reconfigure(None if is_same else rule_of(config.placement), config.order, most)
            lane.lengths = lengths
        self._placements[model.name] = config.placement
        return lane

    def _forget(self, name: str) -> None:
        self._lanes.pop(name, None)
        self._placements.pop(name, None)
        self._gone.pop(name, None)

    def _by_age(self, models: list[Model]) -> list[Model]:
        lanes = self._lanes
        waiting = [model for model in models if len(lanes[model.name])]
        if len(waiting) > 1:
            waiting.sort(key=lambda model: lanes[model.name].oldest_s)
        return waiting
