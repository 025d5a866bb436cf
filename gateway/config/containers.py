"""Rule: a container's name does not read as another model than the backend serves.

A name misleads when it says
- exactly the name of another model of the file (vllm-ascend-qwen3.5, when qwen3.5 is the 2B),
- another size than the backend serves (...-9b on the 27B),
- another version of the family (vllm-ascend-qwen3 on qwen3.5-27b),
- another family (llama on a qwen).
A name that says none of these, such as gw-1, is fine.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gateway.config.draft import Draft
from gateway.config.members import all_members
from gateway.config.problems import Code, Finding
from gateway.config.schema import BackendConfig

_FAMILIES: Final = (
    "baichuan",
    "chatglm",
    "deepseek",
    "gemma",
    "glm",
    "internlm",
    "internvl",
    "kimi",
    "llama",
    "minicpm",
    "minimax",
    "mistral",
    "mixtral",
    "pangu",
    "phi",
    "qwen",
    "qwq",
)
_FRAME: Final = re.compile(r"^(?:(?:vllm|ascend|npu|llm|openai|server|serve|docker)[-_.]?)+")
_FAMILY: Final = re.compile(
    rf"(?<![a-z])({'|'.join(_FAMILIES)})(?![a-z])[-_ ]?v?(\d+(?:\.\d+)*(?![\d.]*b(?![a-z0-9])))?"
)
_SIZE: Final = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)b(?![a-z0-9])")


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a name says about a model."""

    families: frozenset[str]
    versions: frozenset[str]
    sizes: frozenset[str]


def _read(text: str) -> _Reading:
    text = text.lower()
    found = _FAMILY.findall(text)
    return _Reading(
        families=frozenset(family for family, _ in found),
        versions=frozenset(version for _, version in found if version),
        sizes=frozenset(_SIZE.findall(text)),
    )


def container_misleads(draft: Draft) -> Iterator[Finding]:
    """Each container's name agrees with what its backend serves."""
    for entry in draft.backends:
        backend = entry.record
        if backend.container is None:
            continue
        other = _reads_as(backend, _foreign_names(draft, backend))
        if other is not None:
            yield Finding(
                Code.CONTAINER_MISLEADS,
                ("backends", entry.index, "container"),
                f"the container's name {backend.container!r} reads as {other}, but the backend "
                f"serves {backend.served_name!r}",
                "Check that the address is really that of this model. If so, rename the "
                f"container, for instance to vllm-ascend-{_short(backend.served_name)}; clients "
                "who send its name are told the right one.",
            )


def _reads_as(backend: BackendConfig, foreign: frozenset[str]) -> str | None:
    bare = _FRAME.sub("", (backend.container or "").lower())
    if bare in foreign:
        return f"the other model {bare!r}"
    said = _read(bare)
    own = _read(f"{backend.served_name} {_short(backend.root or '')}")
    if _differs(said.families, own.families):
        return f"the family {_listed(said.families)}"
    if _differs(said.versions, own.versions):
        return f"{_listed(said.families)} version {_listed(said.versions)}"
    if _differs(said.sizes, own.sizes):
        return f"a model of {_listed(said.sizes)}B"
    return None


def _differs(said: frozenset[str], own: frozenset[str]) -> bool:
    return bool(said) and bool(own) and not said & own


def _listed(words: frozenset[str]) -> str:
    return "/".join(sorted(words))


def _short(name: str) -> str:
    return name.rstrip("/").rsplit("/", 1)[-1].lower()


def _foreign_names(draft: Draft, backend: BackendConfig) -> frozenset[str]:
    """Names of other models: served by other backends, or public without this backend."""
    own = {_short(backend.served_name), _short(backend.root or "")}
    foreign: set[str] = set()
    for entry in draft.backends:
        if entry.record.served_name != backend.served_name:
            foreign.add(_short(entry.record.served_name))
    for model in draft.models:
        names = {_short(name) for name in (model.record.name, *model.record.aliases)}
        if any(member.backend is backend for member in all_members((backend,), model.record)):
            own |= names
        else:
            foreign |= names
    return frozenset(foreign - own)
