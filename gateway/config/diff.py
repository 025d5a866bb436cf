"""What differs between two routing files, as a value; applied to the first it gives the second."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from gateway.config.schema import BackendConfig, ModelConfig, RoutingConfig
from gateway.config.service import ServiceDiff, service_diff

R = TypeVar("R", bound=BackendConfig | ModelConfig)

_LISTS: Final = ("backends", "models")


@dataclass(frozen=True, slots=True)
class Changed(Generic[R]):
    """An entry that both files have; `fields` are those that differ, in the order of the schema."""

    old: R
    new: R
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListDiff(Generic[R]):
    """The difference of two lists of backends or of models, which are told apart by their names.

    `order` is None where entries keep their order and what is added stands at the end. Otherwise
    it says for each place of the new list which entry stands there: an index into those that stay,
    in their old order, with the added ones behind them.
    """

    added: tuple[R, ...]
    removed: tuple[R, ...]
    changed: tuple[Changed[R], ...]
    order: tuple[int, ...] | None

    @property
    def is_empty(self) -> bool:
        """Whether the two lists are equal."""
        return not (self.added or self.removed or self.changed) and self.order is None


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field at the top of the file with another value, such as `queue` or `default_model`."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Renamed:
    """An enabled backend that was removed, and one at the same address that was added."""

    old: BackendConfig
    new: BackendConfig


@dataclass(frozen=True, slots=True)
class ConfigDiff:
    """The difference of two routing files.

    Renamed backends are also among the removed and the added ones. `service` tells the same from
    the view of clients.
    """

    backends: ListDiff[BackendConfig]
    models: ListDiff[ModelConfig]
    fields: tuple[FieldChange, ...]
    renamed: tuple[Renamed, ...]
    service: ServiceDiff

    @property
    def is_empty(self) -> bool:
        """Whether the two files mean the same."""
        return self.backends.is_empty and self.models.is_empty and not self.fields

    @property
    def leaving(self) -> tuple[BackendConfig, ...]:
        """The backends that serve no longer: removed or disabled; as they were."""
        off = [c.old for c in self.backends.changed if c.old.enabled and not c.new.enabled]
        return (*(b for b in self.backends.removed if b.enabled), *off)

    @property
    def joining(self) -> tuple[BackendConfig, ...]:
        """The backends that begin to serve: added or enabled; as they are now."""
        on = [c.new for c in self.backends.changed if c.new.enabled and not c.old.enabled]
        return (*(b for b in self.backends.added if b.enabled), *on)

    @property
    def replaced(self) -> tuple[Changed[BackendConfig], ...]:
        """The backends that keep their name and serve on, but at another address or with other TLS.

        Whatever runs at the old one can only finish there.
        """
        return tuple(
            change
            for change in self.backends.changed
            if change.old.enabled
            and change.new.enabled
            and not is_same_server(change.old, change.new)
        )


def is_same_server(one: BackendConfig, other: BackendConfig) -> bool:
    """Whether two entries lead to one server in one way, however the URL is spelled."""
    return one.base_url == other.base_url and one.tls == other.tls


def diff(old: RoutingConfig, new: RoutingConfig) -> ConfigDiff:
    """What `new` has otherwise than `old`: `apply(old, diff(old, new)) == new`."""
    backends = _list_diff(old.backends, new.backends)
    return ConfigDiff(
        backends=backends,
        models=_list_diff(old.models, new.models),
        fields=tuple(
            FieldChange(name, getattr(old, name), getattr(new, name))
            for name in RoutingConfig.model_fields
            if name not in _LISTS and getattr(old, name) != getattr(new, name)
        ),
        renamed=_renamed(backends.removed, backends.added),
        service=service_diff(old, new),
    )


def apply(old: RoutingConfig, change: ConfigDiff) -> RoutingConfig:
    """The config that follows `old`; raises ValueError when `change` was not taken from it."""
    values: dict[str, Any] = {field.name: field.new for field in change.fields}
    return old.model_copy(
        update={
            **values,
            "backends": _apply_list(old.backends, change.backends),
            "models": _apply_list(old.models, change.models),
        }
    )


def _apply_list(old: Sequence[R], change: ListDiff[R]) -> tuple[R, ...]:
    pool = [*_staying(old, change.removed, change.changed), *change.added]
    if change.order is None:
        return tuple(pool)
    if sorted(change.order) != list(range(len(pool))):
        raise ValueError("this is not the config that the difference was taken from")
    return tuple(pool[index] for index in change.order)


def _list_diff(old: Sequence[R], new: Sequence[R]) -> ListDiff[R]:
    before, after = _by_name(old), _by_name(new)
    added: list[R] = []
    removed: list[R] = []
    changed: list[Changed[R]] = []
    for name in dict.fromkeys([*before, *after]):
        pairs, gone, came = _paired(before.get(name, []), after.get(name, []))
        changed += (Changed(one, other, _differing(one, other)) for one, other in pairs)
        removed += gone
        added += came
    pool = [*_staying(old, removed, changed), *added]
    return ListDiff(tuple(added), tuple(removed), tuple(changed), _order(pool, new))


def _by_name(entries: Sequence[R]) -> dict[str, list[R]]:
    """Entries by name; disabled models may share theirs, and stand behind the enabled one."""
    found: dict[str, list[R]] = {}
    for entry in sorted(entries, key=lambda entry: not entry.enabled):
        found.setdefault(entry.name, []).append(entry)
    return {entry.name: found[entry.name] for entry in entries}


def _paired(old: list[R], new: list[R]) -> tuple[list[tuple[R, R]], list[R], list[R]]:
    """Entries of one name: those that changed, with what they became, the gone, the new ones."""
    left: list[R] = [*old]
    came: list[R] = []
    for entry in new:
        if entry in left:
            left.remove(entry)
        else:
            came.append(entry)
    both = min(len(left), len(came))
    return list(zip(left[:both], came[:both], strict=True)), left[both:], came[both:]


def _differing(old: R, new: R) -> tuple[str, ...]:
    names = type(old).model_fields
    return tuple(name for name in names if getattr(old, name) != getattr(new, name))


def _staying(old: Sequence[R], removed: Sequence[R], changed: Iterable[Changed[R]]) -> list[R]:
    """The old list without what was removed, with what was changed in its place."""
    gone = _by_name(removed)
    swaps: dict[str, list[Changed[R]]] = {}
    for change in changed:
        swaps.setdefault(change.old.name, []).append(change)
    stay: list[R] = []
    for entry in old:
        going, changing = gone.get(entry.name, []), swaps.get(entry.name, [])
        swap = next((change for change in changing if change.old == entry), None)
        if entry in going:
            going.remove(entry)
        elif swap is not None:
            changing.remove(swap)
            stay.append(swap.new)
        else:
            stay.append(entry)
    if any(gone.values()) or any(swaps.values()):
        raise ValueError("this is not the config that the difference was taken from")
    return stay


def _order(pool: Sequence[R], new: Sequence[R]) -> tuple[int, ...] | None:
    places: dict[str, list[int]] = {}
    for index, entry in enumerate(pool):
        places.setdefault(entry.name, []).append(index)
    order: list[int] = []
    for entry in new:
        mine = places[entry.name]
        index = next(index for index in mine if pool[index] == entry)
        mine.remove(index)
        order.append(index)
    return None if order == list(range(len(pool))) else tuple(order)


def _renamed(
    removed: Iterable[BackendConfig], added: Iterable[BackendConfig]
) -> tuple[Renamed, ...]:
    """Each removed backend with the added one at its address; an address has one enabled one."""
    came = {backend.base_url: backend for backend in added if backend.enabled}
    pairs = ((old, came.pop(old.base_url, None)) for old in removed if old.enabled)
    return tuple(Renamed(old, new) for old, new in pairs if new is not None)
