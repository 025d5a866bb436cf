"""Rules: what a client can send means one model."""

import unicodedata
from collections.abc import Iterator

from gateway.config.draft import Draft
from gateway.config.problems import Code, Finding, Path
from gateway.words import Words


def name_collision(draft: Draft) -> Iterator[Finding]:
    """Among enabled models, a name or alias means one model."""
    owners: dict[str, Words] = {}
    for name, path, what in _names(draft):
        if name in owners:
            yield Finding(
                Code.NAME_COLLISION,
                path,
                Words(
                    f"{name!r} is already {owners[name].en}", f"{name!r} 已经是{owners[name].zh}"
                ),
                Words(
                    "Rename or remove one of the two; a name must mean one model.",
                    "请重命名或删除其中一个；一个名称只能对应一个模型。",
                ),
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
                Words(
                    f"{name!r} differs from {other!r} only in letter case or form",
                    f"{name!r} 与 {other!r} 仅大小写或字形不同",
                ),
                Words(
                    "Both work, each exactly as written. Rename one if people may mix them up.",
                    "两者都按原样生效。若容易混淆，请重命名其中一个。",
                ),
            )


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _names(draft: Draft) -> Iterator[tuple[str, Path, Words]]:
    """All names of models, then all aliases, with what each is."""
    for entry in draft.enabled_models:
        path: Path = ("models", entry.index, "name")
        index = entry.index
        yield (
            entry.record.name,
            path,
            Words(f"the name of models[{index}]", f"models[{index}] 的名称"),
        )
    for entry in draft.enabled_models:
        for position, alias in enumerate(entry.record.aliases):
            path = ("models", entry.index, "aliases", position)
            name = entry.record.name
            yield alias, path, Words(f"an alias of model {name!r}", f"模型 {name!r} 的别名")
