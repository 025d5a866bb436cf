"""What a difference of two routing files means for the backends, in words."""

from collections.abc import Iterator, Mapping
from typing import Final

from gateway.config import diff_texts as texts
from gateway.config.diff import Changed, ConfigDiff, Renamed, is_same_server
from gateway.config.diff_texts import draining, say, with_parts
from gateway.config.diff_values import value_changes
from gateway.config.schema import BackendConfig
from gateway.words import Words

_TOLD_APART: Final = frozenset({"name", "enabled"})


def backend_words(change: ConfigDiff, in_flight: Mapping[str, int]) -> Iterator[Words]:
    """A sentence for each backend that goes, comes or changes; `in_flight` is by backend.

    Requests that will drain are told here unless a model is said to lose the backend.
    """
    renamed = {pair.old.name: pair for pair in change.renamed}
    lost = {membership.backend for membership in change.service.lost}
    count = {name: number for name, number in in_flight.items() if name not in lost}
    for backend in change.backends.removed:
        if backend.name in renamed:
            yield _renamed(renamed[backend.name], in_flight)
        elif backend.enabled:
            told = _placed(texts.BACKEND_REMOVED, backend)
            yield with_parts(told, draining(count.get(backend.name, 0)))
        else:
            yield say(texts.BACKEND_OFF_REMOVED, backend=backend.name)
    for changed in change.backends.changed:
        yield _changed(changed, in_flight, count)
    new_names = {pair.new.name for pair in change.renamed}
    for backend in change.backends.added:
        if backend.name not in new_names:
            text = texts.BACKEND_ADDED if backend.enabled else texts.BACKEND_OFF_ADDED
            yield _placed(text, backend)


def _placed(text: Words, backend: BackendConfig) -> Words:
    return say(text, backend=backend.name, address=backend.base_url)


def _renamed(pair: Renamed, in_flight: Mapping[str, int]) -> Words:
    old, new = pair.old, pair.new
    head = say(texts.BACKEND_RENAMED, backend=old.name, new=new.name, address=new.base_url)
    fields = tuple(type(old).model_fields)
    parts = [*_field_parts(Changed(old, new, fields)), *draining(in_flight.get(old.name, 0))]
    return with_parts(head, parts)


def _changed(
    changed: Changed[BackendConfig], in_flight: Mapping[str, int], count: Mapping[str, int]
) -> Words:
    old, new = changed.old, changed.new
    parts = [*_field_parts(changed)]
    if old.enabled and not new.enabled:
        told = say(texts.BACKEND_DISABLED, backend=new.name)
        return with_parts(told, [*parts, *draining(count.get(new.name, 0))])
    if new.enabled and not old.enabled:
        return with_parts(_placed(texts.BACKEND_ENABLED, new), parts)
    if not new.enabled:
        return with_parts(say(texts.BACKEND_OFF, backend=new.name), parts)
    if not is_same_server(old, new):
        parts += draining(in_flight.get(new.name, 0))
    return with_parts(say(texts.BACKEND, backend=new.name), parts)


def _field_parts(changed: Changed[BackendConfig]) -> Iterator[Words]:
    old, new = changed.old, changed.new
    for field in changed.fields:
        if field in _TOLD_APART:
            continue
        if field != "url":
            yield from value_changes(field, getattr(old, field), getattr(new, field))
        elif old.base_url != new.base_url:
            yield from value_changes(field, old.base_url, new.base_url)
        elif old.url != new.url:
            yield say(texts.SAME_ADDRESS, address=new.base_url)
