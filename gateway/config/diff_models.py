"""What a difference of two routing files means for the models, in words."""

from collections.abc import Iterator, Mapping
from typing import Final

from gateway.config import diff_texts as texts
from gateway.config.diff import Changed, ConfigDiff
from gateway.config.diff_texts import listed, say, waiting_for_it, with_parts
from gateway.config.diff_values import value_changes
from gateway.config.schema import ModelConfig
from gateway.config.service import Membership, OtherServedName
from gateway.words import Words

_TOLD_APART: Final = frozenset({"name", "enabled"})


def model_words(change: ConfigDiff, waiting: Mapping[str, int]) -> Iterator[Words]:
    """A sentence for each model that goes, comes or changes; `waiting` is requests by model."""
    for model in change.models.removed:
        if model.enabled:
            head = say(texts.MODEL_REMOVED, model=model.name)
            yield with_parts(head, _gone_parts(change, model.name, waiting))
        else:
            yield say(texts.MODEL_OFF_REMOVED, model=model.name)
    for changed in change.models.changed:
        yield from _changed(change, changed, waiting)
    told = {changed.new.name for changed in change.models.changed if changed.new.enabled}
    # Models whose own entry is as it was can change with their backends.
    others = [*change.service.unserved, *(o.model for o in _asked_otherwise(change))]
    for name in dict.fromkeys(others):
        if name not in told:
            yield with_parts(say(texts.MODEL, model=name), _serving_parts(change, name))
    for model in change.models.added:
        yield from _added(change, model)


def membership_words(change: ConfigDiff, in_flight: Mapping[str, int]) -> Iterator[Words]:
    """Who loses and who gains which backend; a backend that is only renamed is not told."""
    old_names = {renamed.old.name: renamed.new.name for renamed in change.renamed}
    new_names = {new: old for old, new in old_names.items()}
    lost = {membership.backend: membership.models for membership in change.service.lost}
    gained = {membership.backend: membership.models for membership in change.service.gained}
    # Of a renamed one the requests are told with its new name.
    leaving = {backend.name for backend in change.leaving} - set(old_names)
    for membership in change.service.lost:
        backend = membership.backend
        count = in_flight.get(backend, 0) if backend in leaving else 0
        still = gained.get(old_names.get(backend, ""), ())
        told = _membership(membership, still, texts.LOSES, texts.LOSE)
        if told is not None:
            yield with_parts(told, texts.draining(count))
    for membership in change.service.gained:
        already = lost.get(new_names.get(membership.backend, ""), ())
        told = _membership(membership, already, texts.GAINS, texts.GAIN)
        if told is not None:
            yield told


def _membership(
    membership: Membership, others: tuple[str, ...], one: Words, many: Words
) -> Words | None:
    models = tuple(model for model in membership.models if model not in others)
    if not models:
        return None
    text = one if len(models) == 1 else many
    return say(text, models=listed(models), backend=membership.backend)


def _changed(
    change: ConfigDiff, changed: Changed[ModelConfig], waiting: Mapping[str, int]
) -> Iterator[Words]:
    name, is_on = changed.new.name, changed.new.enabled
    if changed.old.enabled and not is_on:
        head = say(texts.MODEL_DISABLED, model=name)
        parts = [*_gone_parts(change, name, waiting)]
    elif is_on and not changed.old.enabled:
        head = say(texts.MODEL_ENABLED, model=name)
        parts = [*_name_parts(change, name)]
    elif is_on:
        head = say(texts.MODEL, model=name)
        parts = [*_name_parts(change, name), *_serving_parts(change, name)]
    else:
        head, parts = say(texts.MODEL_OFF, model=name), []
    explained = _TOLD_APART | _explained(change, name) if is_on else _TOLD_APART
    for field in changed.fields:
        if field not in explained:
            parts += value_changes(field, getattr(changed.old, field), getattr(changed.new, field))
    if parts or changed.old.enabled != is_on:
        yield with_parts(head, parts)


def _added(change: ConfigDiff, model: ModelConfig) -> Iterator[Words]:
    if not model.enabled:
        yield say(texts.MODEL_OFF_ADDED, model=model.name)
        return
    yield with_parts(say(texts.MODEL_ADDED, model=model.name), _name_parts(change, model.name))


def _explained(change: ConfigDiff, model: str) -> frozenset[str]:
    """The fields of a model whose change is told as what it means."""
    service = change.service
    found = set()
    if any(model in (name.old, name.new) and name.name != model for name in service.names):
        found.add("aliases")
    members = any(model in one.models for one in (*service.lost, *service.gained))
    if members or any(one.model == model for one in service.served_names):
        found.add("backends")
    return frozenset(found)


def _gone_parts(change: ConfigDiff, model: str, waiting: Mapping[str, int]) -> Iterator[Words]:
    """What it means that a model is not served any more."""
    yield from _lost_name_parts(change, model)
    yield from waiting_for_it(waiting.get(model, 0))


def _name_parts(change: ConfigDiff, model: str) -> Iterator[Words]:
    """What it means for clients that a model has other names."""
    names = change.service.names
    came = [name.name for name in names if name.new == model and name.name != model]
    if came:
        yield say(texts.ALSO_CALLED, names=listed(came))
    yield from _lost_name_parts(change, model)


def _lost_name_parts(change: ConfigDiff, model: str) -> Iterator[Words]:
    moved: dict[str | None, list[str]] = {}
    for name in change.service.names:
        if name.old == model:
            moved.setdefault(name.new, []).append(name.name)
    unknown = moved.pop(None, [])
    if unknown == [model]:
        yield texts.GET_404
    elif unknown:
        yield say(texts.GET_404_FOR, names=listed(unknown))
    for other, names in moved.items():
        text = texts.NOW_MEANS if len(names) == 1 else texts.NOW_MEAN
        yield say(text, names=listed(names), model=str(other))


def _serving_parts(change: ConfigDiff, model: str) -> Iterator[Words]:
    for other in _asked_otherwise(change):
        if other.model == model:
            yield say(texts.ASKS_FOR, backend=other.backend, old=other.old, new=other.new)
    if model in change.service.unserved:
        yield texts.NO_BACKEND_LEFT


def _asked_otherwise(change: ConfigDiff) -> Iterator[OtherServedName]:
    """Served names that a model changed; those that a backend changed are told of the backend."""
    of_backend = {
        (changed.new.name, changed.old.served_name, changed.new.served_name)
        for changed in change.backends.changed
    }
    for other in change.service.served_names:
        if (other.backend, other.old, other.new) not in of_backend:
            yield other
