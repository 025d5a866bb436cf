"""Which backends serve a model, and by which name each of them knows it."""

from collections.abc import Iterable
from dataclasses import dataclass

from gateway.config.labels import Labels
from gateway.config.schema import BackendConfig, ModelConfig, RoutingConfig


@dataclass(frozen=True, slots=True)
class Member:
    """A backend of a model and the name to ask it for."""

    backend: BackendConfig
    served_name: str


def members(config: RoutingConfig, model: ModelConfig) -> tuple[Member, ...]:
    """The enabled backends of the model, in the order of the file."""
    return members_among(config.backends, model)


def members_among(backends: Iterable[BackendConfig], model: ModelConfig) -> tuple[Member, ...]:
    """The enabled backends of the model among the given ones; unknown references are left out."""
    return tuple(member for member in all_members(backends, model) if member.backend.enabled)


def all_members(backends: Iterable[BackendConfig], model: ModelConfig) -> tuple[Member, ...]:
    """The same with the disabled ones."""
    if model.selector is not None:
        return tuple(
            Member(backend, backend.served_name)
            for backend in backends
            if matches(backend, model.selector)
        )
    by_name = {backend.name: backend for backend in backends}
    return tuple(
        Member(by_name[ref.backend], ref.served_name or by_name[ref.backend].served_name)
        for ref in model.backends
        if ref.backend in by_name
    )


def matches(backend: BackendConfig, selector: Labels) -> bool:
    """Whether the backend has every label, or pseudo-label, that the selector asks for."""
    has = backend.selectable
    return all(has.get(name) == value for name, value in selector.items())
