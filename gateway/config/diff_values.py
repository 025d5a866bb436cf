"""Which values of two records differ, field by field, and how a value is shown to people."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Final

from pydantic import BaseModel

from gateway.config.diff_texts import BECOMES, NOT_GIVEN, REORDERED, printable, say
from gateway.config.schema import BackendRef
from gateway.words import Words

_LONGEST_TEXT: Final = 80
_LONGEST_LIST: Final = 12


def value_changes(name: str, old: Any, new: Any) -> Iterator[Words]:
    """Each difference in or below a field, as `queue.max_requests 256 -> 100`."""
    if old == new:
        return
    if isinstance(old, BaseModel) and type(old) is type(new):
        for field in type(old).model_fields:
            yield from value_changes(f"{name}.{field}", getattr(old, field), getattr(new, field))
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            yield from value_changes(f"{name}.{key}", old.get(key), new.get(key))
    elif isinstance(old, tuple) and isinstance(new, tuple) and _is_long(old, new):
        yield _list_change(name, old, new)
    else:
        yield say(BECOMES, name=name, old=_shown(old), new=_shown(new))


def _shown(value: Any) -> Words | str:
    return NOT_GIVEN if value is None else _text(value)


def _text(value: Any) -> str:
    """A value as people write it in the file; a long one is cut."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, BackendRef) and value.served_name is None:
        return value.backend
    if isinstance(value, BaseModel):
        return _text(value.model_dump(exclude_defaults=True))
    if isinstance(value, Mapping):
        return _cut("{" + ", ".join(f"{key}: {_text(item)}" for key, item in value.items()) + "}")
    if isinstance(value, tuple | list):
        shown = ", ".join(_text(item) for item in value[:_LONGEST_LIST])
        return f"[{shown}{', ...' if len(value) > _LONGEST_LIST else ''}]"
    return _cut(str(value))


def _cut(text: str) -> str:
    plain = printable(text)
    return plain if len(plain) <= _LONGEST_TEXT else f"{plain[: _LONGEST_TEXT - 3]}..."


def _is_long(*lists: tuple[Any, ...]) -> bool:
    return any(len(one) > _LONGEST_LIST for one in lists)


def _list_change(name: str, old: tuple[Any, ...], new: tuple[Any, ...]) -> Words:
    """A long list is told by what comes and what goes."""
    before, after = frozenset(old), frozenset(new)
    came = tuple(item for item in new if item not in before)
    gone = tuple(item for item in old if item not in after)
    parts = [f"{sign} {_text(items)}" for sign, items in (("+", came), ("-", gone)) if items]
    if not parts:
        return say(REORDERED, name=name)
    text = f"{name} {', '.join(parts)}"
    return Words(text, text)
