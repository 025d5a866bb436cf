"""A difference of two routing files in words: what happens to whom, a sentence each."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from gateway.config import diff_texts as texts
from gateway.config.diff import ConfigDiff, ListDiff
from gateway.config.diff_backends import backend_words
from gateway.config.diff_models import membership_words, model_words
from gateway.config.diff_texts import say
from gateway.config.diff_values import value_changes
from gateway.words import Words

_NONE: Final[Mapping[str, int]] = MappingProxyType({})
_MOST_SENTENCES: Final = 200


def describe(
    change: ConfigDiff,
    in_flight: Mapping[str, int] = _NONE,
    waiting: Mapping[str, int] = _NONE,
) -> tuple[Words, ...]:
    """The sentences, at most 200, models first; a single one where nothing changes.

    `in_flight` is the requests at each backend, `waiting` those that wait for each model.
    """
    if change.is_empty:
        return (texts.NOTHING,)
    found = (
        *model_words(change, waiting),
        *membership_words(change, in_flight),
        *backend_words(change, in_flight),
        *(told for f in change.fields for told in value_changes(f.name, f.old, f.new)),
        *_order("models", change.models),
        *_order("backends", change.backends),
    )
    if len(found) <= _MOST_SENTENCES:
        return found
    more = say(texts.MORE, count=len(found) - _MOST_SENTENCES)
    return (*found[:_MOST_SENTENCES], more)


def _order(name: str, change: ListDiff[Any]) -> Iterator[Words]:
    """Told only where entries that stay swap places; a new one in the middle is no news."""
    if change.order is None:
        return
    staying = len(change.order) - len(change.added)
    order = [index for index in change.order if index < staying]
    if order != sorted(order):
        yield say(texts.LIST_ORDER, name=name)
