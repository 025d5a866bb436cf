"""Rules: what a client can send means one model."""

import unicodedata
from collections.abc import Iterator

from gateway.config.draft import Draft
from gateway.config.problems import Code, Finding, Path


def name_collision(draft: Draft) -> Iterator[Finding]:
    """Among enabled models, a name or alias means one model."""
    owners: dict[str, str] = {}
    for name, path, what in _names(draft):
        if name in owners:
            yield Finding(
                Code.NAME_COLLISION,
                path,
                f"{name!r} is already {owners[name]}",
                "Rename or remove one of the two; a name must mean one model.",
            )
        owners.setdefault(name, what)


def names_differ_in_case(draft: Draft) -> Iterator[Finding]:
    """Names that people could take for the same are pointed out."""
    first: dict[str, str] = {}
    for name, path, _ in _names(draft):
        form = _folded(name)
        other = first.setdefault(form, name)
        if other != name:
            yield Finding(
                Code.NAMES_DIFFER_IN_CASE,
                path,
                f"{name!r} differs from {other!r} only in letter case or form",
                "Both work, each exactly as written. Rename one if people may mix them up.",
            )


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _names(draft: Draft) -> Iterator[tuple[str, Path, str]]:
    """All names of models, then all aliases, with what each is."""
    for entry in draft.enabled_models:
        path: Path = ("models", entry.index, "name")
        yield entry.record.name, path, f"the name of models[{entry.index}]"
    for entry in draft.enabled_models:
        for position, alias in enumerate(entry.record.aliases):
            path = ("models", entry.index, "aliases", position)
            yield alias, path, f"an alias of model {entry.record.name!r}"
