"""What could be read of a routing file, also where parts of it are wrong.

The rules run on a draft, so that a mistake in one field hides no other problem.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError

from gateway.config.backend import Record
from gateway.config.problems import Finding, Path
from gateway.config.schema import BackendConfig, ModelConfig, RoutingConfig
from gateway.config.wording import refused

R = TypeVar("R", bound=Record)

_STAND_IN: Final[Mapping[str, object]] = MappingProxyType(
    {"version": 1, "backends": (), "models": ()}
)


@dataclass(frozen=True, slots=True)
class Entry(Generic[R]):
    """One backend or model with its index in the file.

    `damaged` holds the fields that were left out since they are wrong; a rule that complains
    about absence skips those.
    """

    index: int
    record: R
    damaged: frozenset[str]


@dataclass(frozen=True, slots=True)
class Draft:
    """The readable entries, and the names of all, readable or not.

    `unread` holds the fields at the top of the file that are missing or wrong.
    """

    top: RoutingConfig
    backends: tuple[Entry[BackendConfig], ...]
    models: tuple[Entry[ModelConfig], ...]
    backend_names: tuple[str, ...]
    model_names: tuple[str, ...]
    unread: frozenset[str]

    @property
    def enabled_backends(self) -> tuple[Entry[BackendConfig], ...]:
        """The backends that take part in conflicts."""
        return tuple(entry for entry in self.backends if _is_enabled(entry))

    @property
    def enabled_models(self) -> tuple[Entry[ModelConfig], ...]:
        """The models that clients can ask for."""
        return tuple(entry for entry in self.models if _is_enabled(entry))


def _is_enabled(entry: Entry[BackendConfig] | Entry[ModelConfig]) -> bool:
    return entry.record.enabled and "enabled" not in entry.damaged


def draft(tree: Mapping[str, Any]) -> tuple[Draft, list[Finding]]:
    """Read as much as possible of the tree; the findings say what could not be read."""
    given = _without_empty(tree)
    raw_backends, raw_models = _items(given, "backends"), _items(given, "models")
    emptied = {
        key: [] if key in ("backends", "models") and isinstance(value, list) else value
        for key, value in given.items()
    }
    top, findings, unread = _salvage(RoutingConfig, emptied, (), _STAND_IN)
    backends, more = _entries(BackendConfig, raw_backends, "backends")
    findings += more
    models, more = _entries(ModelConfig, raw_models, "models")
    findings += more
    return (
        Draft(
            top=top or RoutingConfig(version=1, backends=(), models=()),
            backends=backends,
            models=models,
            backend_names=_names(raw_backends),
            model_names=_names(raw_models),
            unread=unread,
        ),
        findings,
    )


def _without_empty(value: Any) -> Any:
    """A field with nothing behind the colon counts as not given."""
    if isinstance(value, Mapping):
        return {k: _without_empty(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value


def _items(tree: Mapping[str, Any], key: str) -> list[Any]:
    value = tree.get(key)
    return value if isinstance(value, list) else []


def _names(items: list[Any]) -> tuple[str, ...]:
    return tuple(
        str(item["name"]) if isinstance(item, dict) and "name" in item else "" for item in items
    )


def _entries(
    record: type[R], items: list[Any], key: str
) -> tuple[tuple[Entry[R], ...], list[Finding]]:
    entries: list[Entry[R]] = []
    findings: list[Finding] = []
    for index, item in enumerate(items):
        found, faults, damaged = _salvage(record, item, (key, index), {})
        findings += faults
        if found is not None:
            entries.append(Entry(index, found, damaged))
    return tuple(entries), findings


def _salvage(
    record: type[R], raw: Any, base: Path, stand_in: Mapping[str, object]
) -> tuple[R | None, list[Finding], frozenset[str]]:
    """Read a record; where fields are wrong, once more without them."""
    try:
        return record.model_validate(raw), [], frozenset()
    except ValidationError as error:
        findings = list(refused(error, record, base))
        wrong = {str(detail["loc"][0]) for detail in error.errors() if detail["loc"]}
    if not isinstance(raw, dict):
        return None, findings, frozenset()
    rest = {key: value for key, value in raw.items() if key not in wrong}
    for key, value in stand_in.items():
        rest.setdefault(key, value)
    try:
        return record.model_validate(rest), findings, frozenset(wrong)
    except ValidationError:
        return None, findings, frozenset(wrong)
