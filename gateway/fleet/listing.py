"""What /v1/models says, from the routing file and what backends were last seen to serve."""

from collections.abc import Callable

from gateway.fleet.live import LiveBackend
from gateway.fleet.names import Model
from gateway.fleet.registry import Registry
from gateway.protocol.listing import ListedModel


def listed_models(
    registry: Registry, is_permitted: Callable[[str], bool], created_s: int, now: float
) -> list[ListedModel]:
    """Every enabled model that the caller may use, and aliases where the file says so."""
    found: list[ListedModel] = []
    for model in registry.names.models.values():
        if not is_permitted(model.name):
            continue
        found.append(_listed(registry, model, model.name, created_s, now))
        if _lists_aliases(registry, model):
            found += [_listed(registry, model, a, created_s, now) for a in model.config.aliases]
    return found


def listed_model(
    registry: Registry, name: str, is_permitted: Callable[[str], bool], created_s: int, now: float
) -> ListedModel:
    """One model by name or alias; raises `Refusal` with MODEL_NOT_FOUND."""
    model = registry.names.resolve(name, is_permitted)
    return _listed(registry, model, name, created_s, now)


def _lists_aliases(registry: Registry, model: Model) -> bool:
    own = model.config.list_aliases
    return registry.config.list_aliases if own is None else own


def _listed(
    registry: Registry, model: Model, shown: str, created_s: int, now: float
) -> ListedModel:
    pairs = [(registry.backends[m.backend.name], m.served_name) for m in model.members]
    lengths = [n for b, served in pairs if (n := b.served.max_model_len(served)) is not None]
    cards = [card for b, served in pairs if (card := b.served.card(served)) is not None]
    parents = [c.parent for c in cards if c.parent is not None]
    is_usable = any(_serves(b, served, now) for b, served in pairs)
    own_limit = model.config.limits.max_context_tokens
    if own_limit is not None:
        lengths.append(own_limit)
    return ListedModel(
        id=shown,
        created_s=created_s,
        owned_by=next((c.owned_by for c in cards if c.owned_by), "vllm"),
        max_model_len=min(lengths, default=None),
        parent=_public_name(registry, parents[0]) if parents else None,
        status="available" if is_usable else "unavailable",
    )


def _serves(backend: LiveBackend, served_name: str, now: float) -> bool:
    return backend.may_serve and not backend.served.misses(served_name, now)


def _public_name(registry: Registry, served_name: str) -> str | None:
    """The public name of a base model; a served name that is a path is never shown."""
    for model in registry.names.models.values():
        if any(m.served_name == served_name for m in model.members):
            return model.name
    return None if "/" in served_name else served_name
