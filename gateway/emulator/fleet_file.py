"""The file of an emulated fleet: YAML in, specs out, with all problems told."""

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import yaml

from gateway.emulator.faults import Fault, parse_fault
from gateway.emulator.presets import DEFAULT_PRESET, preset
from gateway.emulator.spec import BackendSpec, EngineSpec, Task

_ENGINE_FIELDS: Final = frozenset(f.name for f in fields(EngineSpec)) - {"costs"}
_OWN_FIELDS: Final = frozenset(f.name for f in fields(BackendSpec)) - {"engine", "labels"}
_EXTRA_FIELDS: Final = frozenset({"preset", "fault"})


class FleetFileError(ValueError):
    """The file can't be used; the text has every problem, a line each."""


def load_fleet(path: Path) -> list[tuple[BackendSpec, Fault | None]]:
    """Each backend with the fault it starts with; raises FleetFileError or OSError."""
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except yaml.YAMLError as error:
        raise FleetFileError(f"{path} is not YAML: {error}") from error
    entries = tree.get("backends") if isinstance(tree, dict) else None
    if not isinstance(entries, list) or not entries:
        raise FleetFileError(f"{path} needs a list `backends` with at least one entry")
    problems: list[str] = []
    found: list[tuple[BackendSpec, Fault | None]] = []
    for index, entry in enumerate(entries):
        try:
            found.append(_backend(entry))
        except (ValueError, TypeError) as error:
            problems.append(f"{path}: backends[{index}]: {error}")
    problems += _twice([spec for spec, _ in found], path)
    if problems:
        raise FleetFileError("\n".join(problems))
    return found


def _backend(entry: Any) -> tuple[BackendSpec, Fault | None]:
    if not isinstance(entry, dict):
        raise TypeError("must be a mapping of fields")
    known = _ENGINE_FIELDS | _OWN_FIELDS | _EXTRA_FIELDS
    unknown = sorted(set(entry) - known)
    if unknown:
        raise ValueError(f"unknown fields {unknown}; there are {sorted(known)}")
    engine = preset(entry.get("preset", DEFAULT_PRESET))
    changed = {k: _frozen(v) for k, v in entry.items() if k in _ENGINE_FIELDS}
    own = {k: _frozen(v) for k, v in entry.items() if k in _OWN_FIELDS}
    if "task" in own:
        own["task"] = Task(own["task"])
    fault = parse_fault(entry["fault"]) if isinstance(entry.get("fault"), Mapping) else None
    return BackendSpec(engine=replace(engine, **changed), **own), fault


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _twice(specs: list[BackendSpec], path: Path) -> list[str]:
    names = [spec.name for spec in specs]
    places = [f"{spec.host}:{spec.port}" for spec in specs if spec.port]
    return [
        f"{path}: {what} is used twice"
        for items in (names, places)
        for what in sorted({item for item in items if items.count(item) > 1})
    ]
