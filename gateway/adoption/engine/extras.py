"""Options whose values are small languages of their own: adapters, modalities, roles, drafts."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from gateway.adoption.engine.numbers import whole_number
from gateway.adoption.engine.values import Values

_ASCEND: Final = "ascend_compilation_config"
_LIMITS: Final = "limit-mm-per-prompt"
_LORAS: Final = "lora-modules"
_SPECULATION: Final = "speculative-config"


class Speculation(NamedTuple):
    """Whether and how tokens are guessed ahead; None where not said."""

    is_on: bool = False
    tokens: int | None = None
    method: str | None = None


class Transfer(NamedTuple):
    """Whether another engine computes part of the work, and which part is this one's."""

    is_on: bool = False
    role: str | None = None
    connector: str | None = None


class Ascend(NamedTuple):
    """--additional-config as it is, and what is asked of it most."""

    tree: Mapping[str, object]
    fuse_norm_quant: bool | None = None
    is_npugraph_ex: bool | None = None


def read_speculation(values: Values) -> Speculation:
    """--speculative-config, the options that stand for its fields, and the ones before it."""
    tree = values.tree(_SPECULATION)
    tokens = values.number("spec-tokens") or values.number("num-speculative-tokens")
    method = values.text("spec-method")
    model = values.text("spec-model") or values.text("speculative-model")
    fields = tree or {}
    return Speculation(
        is_on=values.text(_SPECULATION) is not None
        or tree is not None
        or any(given is not None for given in (tokens, method, model)),
        tokens=_whole(fields.get("num_speculative_tokens")) or tokens,
        method=_text(fields.get("method")) or method,
    )


def read_transfer(values: Values, name: str, prefix: str) -> Transfer:
    """--kv-transfer-config or --ec-transfer-config; `prefix` is that of its fields."""
    tree = values.tree(name)
    fields = tree or {}
    return Transfer(
        is_on=tree is not None or values.text(name) is not None,
        role=_text(fields.get(f"{prefix}_role")),
        connector=_text(fields.get(f"{prefix}_connector")),
    )


def read_ascend(values: Values) -> Ascend:
    """Ascend's own options. vllm-ascend ascend_config.py."""
    tree = values.tree("additional-config") or {}
    compilation = tree.get(_ASCEND)
    fields = compilation if isinstance(compilation, Mapping) else {}
    return Ascend(
        tree=MappingProxyType(dict(tree)),
        fuse_norm_quant=_switch(fields.get("fuse_norm_quant")),
        is_npugraph_ex=_switch(fields.get("enable_npugraph_ex")),
    )


def read_limits(values: Values) -> Mapping[str, int]:
    """How many items of each modality a request may hold.

    JSON, whose values may be objects with a count, or image=2,video=1 as until vLLM 0.9.
    """
    text = values.text(_LIMITS)
    if text is not None and "=" in text and not text.lstrip().startswith("{"):
        pairs = (part.partition("=") for part in text.split(","))
        given: dict[str, object] = {name.strip(): count.strip() for name, _, count in pairs}
    else:
        given = dict(values.tree(_LIMITS) or {})
    limits = {}
    for name, value in given.items():
        if isinstance(value, Mapping) and "count" not in value:
            continue  # says how large an item is taken to be, not how many there may be
        count = _whole(value["count"] if isinstance(value, Mapping) else value)
        if count is None:
            values.unreadable(_LIMITS, f"{name}={value}")
        else:
            limits[name] = count
    return MappingProxyType(limits)


def read_loras(values: Values) -> tuple[tuple[str, str], ...]:
    """Names and paths of adapters, each NAME=PATH or an object with name and path."""
    found = []
    for word in values.words(_LORAS):
        pair = _lora(word)
        if pair is None:
            values.unreadable(_LORAS, word)
        else:
            found.append(pair)
    return tuple(found)


def _lora(word: str) -> tuple[str, str] | None:
    if "=" in word and "," not in word:
        name, _, path = word.partition("=")
        return (name, path) if name and path else None
    try:
        fields = json.loads(word)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    given = (_text(fields.get("name")), _text(fields.get("path")))
    return (given[0], given[1]) if given[0] and given[1] else None


def _whole(value: object) -> int | None:
    if isinstance(value, str):
        value = whole_number(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _switch(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
