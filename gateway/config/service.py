"""What clients notice when one routing file follows another: names, and who serves each model."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gateway.config.members import members
from gateway.config.schema import ModelConfig, RoutingConfig


@dataclass(frozen=True, slots=True)
class Membership:
    """The models, in the order of the file, that begin or cease to be served by a backend."""

    backend: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OtherServedName:
    """A backend that is asked by another name for a model that it keeps."""

    model: str
    backend: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Name:
    """A name that clients send, and the model that it means before and after; None: unknown."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class ServiceDiff:
    """The difference in service; `lost`, `gained` and `renamed` are about models of both files.

    `unserved` are models that keep no enabled backend at all. `names` has only those whose meaning
    changes.
    """

    lost: tuple[Membership, ...]
    gained: tuple[Membership, ...]
    served_names: tuple[OtherServedName, ...]
    unserved: tuple[str, ...]
    names: tuple[Name, ...]


def service_diff(old: RoutingConfig, new: RoutingConfig) -> ServiceDiff:
    """What clients notice when `new` follows `old`; disabled backends and models serve nobody."""
    before, after = _served(old), _served(new)
    kept = [name for name in after if name in before]
    return ServiceDiff(
        lost=_memberships((name, _only_in(before[name], after[name])) for name in kept),
        gained=_memberships((name, _only_in(after[name], before[name])) for name in kept),
        served_names=tuple(
            OtherServedName(name, backend, before[name][backend], served)
            for name in kept
            for backend, served in after[name].items()
            if before[name].get(backend, served) != served
        ),
        unserved=tuple(name for name in kept if before[name] and not after[name]),
        names=_names_diff(old, new),
    )


def enabled_models(config: RoutingConfig) -> Mapping[str, ModelConfig]:
    """The models that clients can ask for, by name."""
    return {model.name: model for model in config.models if model.enabled}


def meanings(config: RoutingConfig) -> Mapping[str, str]:
    """Each name or alias that clients may send, with the model that it means."""
    models = enabled_models(config)
    found = {name: name for name in models}
    for model in models.values():
        for alias in model.aliases:
            found.setdefault(alias, model.name)
    return found


def _served(config: RoutingConfig) -> dict[str, dict[str, str]]:
    """For each enabled model its enabled backends, with the name each is asked for."""
    return {
        name: {member.backend.name: member.served_name for member in members(config, model)}
        for name, model in enabled_models(config).items()
    }


def _only_in(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    return [name for name in one if name not in other]


def _memberships(found: Iterator[tuple[str, list[str]]]) -> tuple[Membership, ...]:
    """The same by backend, so that one that many models share is told once."""
    models: dict[str, list[str]] = {}
    for model, backends in found:
        for backend in backends:
            models.setdefault(backend, []).append(model)
    return tuple(Membership(backend, tuple(names)) for backend, names in models.items())


def _names_diff(old: RoutingConfig, new: RoutingConfig) -> tuple[Name, ...]:
    before, after = meanings(old), meanings(new)
    every = dict.fromkeys([*before, *after])
    changes = (Name(name, before.get(name), after.get(name)) for name in every)
    return tuple(change for change in changes if change.old != change.new)
