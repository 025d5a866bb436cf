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
from typing import Final, NamedTuple

from gateway.config.draft import Draft
from gateway.config.members import all_members
from gateway.config.problems import Code, Finding
from gateway.config.schema import BackendConfig
from gateway.words import Words

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
class Reading:
    """What a name says about a model: families, their versions, and sizes without the B."""

    families: frozenset[str]
    versions: frozenset[str]
    sizes: frozenset[str]


class Misreading(NamedTuple):
    """What a container's name says instead of what is served: for people, and as it is written."""

    told: Words
    said: str


def read_model_name(text: str) -> Reading:
    """What a name or a path says about the model, in lower case."""
    text = text.lower()
    found = _FAMILY.findall(text)
    return Reading(
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
        foreign = _foreign_names(draft, backend)
        other = misreading(backend.container, backend.served_name, backend.root or "", foreign)
        if other is not None:
            short = short_name(backend.served_name)
            yield Finding(
                Code.CONTAINER_MISLEADS,
                ("backends", entry.index, "container"),
                Words(
                    f"the container's name {backend.container!r} reads as {other.told.en}, but "
                    f"the backend serves {backend.served_name!r}",
                    f"容器名 {backend.container!r} 看上去是{other.told.zh}，后端提供的却是 "
                    f"{backend.served_name!r}",
                ),
                Words(
                    "Check that the address is really that of this model. If so, rename the "
                    f"container, for instance to vllm-ascend-{short}; clients who send its name "
                    "are told the right one.",
                    "请确认这个地址确实是该模型的。如果是，建议给容器改名，例如 "
                    f"vllm-ascend-{short}；用容器名发请求的客户端会被告知正确的模型名。",
                ),
            )


def misreading(
    container: str, served_name: str, root: str, foreign: frozenset[str]
) -> Misreading | None:
    """How a container's name misleads about the model, None where it does not.

    `root` is the path of the model, "" if it is not known; `foreign` are short names of others.
    """
    bare = _FRAME.sub("", container.lower())
    if bare in foreign:
        return Misreading(Words(f"the other model {bare!r}", f"另一个模型 {bare!r}"), bare)
    said = read_model_name(bare)
    own = read_model_name(f"{served_name} {short_name(root)}")
    families, versions, sizes = (_listed(w) for w in (said.families, said.versions, said.sizes))
    if _differs(said.families, own.families):
        return Misreading(Words(f"the family {families}", f" {families} 系列"), families)
    if _differs(said.versions, own.versions):
        told = Words(f"{families} version {versions}", f" {families} 的 {versions} 版本")
        return Misreading(told, f"{families}{versions}")
    if _differs(said.sizes, own.sizes):
        return Misreading(Words(f"a model of {sizes}B", f" {sizes}B 的模型"), f"{sizes}B")
    return None


def _differs(said: frozenset[str], own: frozenset[str]) -> bool:
    return bool(said) and bool(own) and not said & own


def _listed(words: frozenset[str]) -> str:
    return "/".join(sorted(words))


def short_name(name: str) -> str:
    """The last part of a path or of a name with slashes, in lower case."""
    return name.rstrip("/").rsplit("/", 1)[-1].lower()


def _foreign_names(draft: Draft, backend: BackendConfig) -> frozenset[str]:
    """Names of other models: served by other backends, or public without this backend."""
    own = {short_name(backend.served_name), short_name(backend.root or "")}
    foreign: set[str] = set()
    for entry in draft.backends:
        if entry.record.served_name != backend.served_name:
            foreign.add(short_name(entry.record.served_name))
    for model in draft.models:
        names = {short_name(name) for name in (model.record.name, *model.record.aliases)}
        if any(member.backend is backend for member in all_members((backend,), model.record)):
            own |= names
        else:
            foreign |= names
    return frozenset(foreign - own)
