"""The engine's configuration as /server_info gives it: nested JSON, or one long Python text.

Sources: vllm/entrypoints/serve/dev/server_info of 0.20 to 0.32 (`vllm_config` is the dump of
VllmConfig, or its text with config_format=text and in versions before 0.11.1), VllmConfig.__str__
and CUDAGraphMode of vllm/config. Values may be numbers, names, or the text of a Python object.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from gateway.fleet.account import EngineFacts

# vllm/config/compilation.py; a pair is (decode steps, mixed steps).
_MODES: Final[Mapping[tuple[int, ...], str]] = MappingProxyType(
    {
        (0,): "NONE",
        (1,): "PIECEWISE",
        (2,): "FULL",
        (2, 0): "FULL_DECODE_ONLY",
        (2, 1): "FULL_AND_PIECEWISE",
    }
)
_MODE_NAME: Final = re.compile(r"\b(FULL_AND_PIECEWISE|FULL_DECODE_ONLY|PIECEWISE|FULL|NONE)\b")
_SIZES_KEPT: Final = 1024
_MOST: Final = 2**53
_TEXT_KEPT: Final = 512
# Of a text of any length only this much is searched.
_SEARCHED: Final = 200_000
_QUOTED: Final = re.compile(r"['\"]([^'\"\n]{1,512})['\"]")


def engine_facts(info: object) -> EngineFacts | None:
    """The facts in a decoded /server_info; None if it holds no engine configuration.

    Never raises: what can't be read is left out.
    """
    config = info.get("vllm_config") if isinstance(info, Mapping) else None
    if not isinstance(config, (Mapping, str)) or not config:
        return None
    model, scheduler = _section(config, "model_config"), _section(config, "scheduler_config")
    parallel = _section(config, "parallel_config")
    compilation = _section(config, "compilation_config")
    graph_mode = _mode(_value(compilation, "cudagraph_mode"))
    sizes = _sizes(_value(compilation, "cudagraph_capture_sizes"))
    facts = EngineFacts(
        model=_text(_value(model, "model")),
        served_names=_names(_value(model, "served_model_name")),
        is_eager=_eager(_flag(_value(model, "enforce_eager")), graph_mode, sizes),
        graph_mode=graph_mode,
        capture_sizes=sizes,
        max_num_seqs=_count(_value(scheduler, "max_num_seqs")),
        max_model_len=_count(_value(model, "max_model_len", "max_seq_len")),
        max_num_batched_tokens=_count(_value(scheduler, "max_num_batched_tokens")),
        tensor_parallel=_count(_value(parallel, "tensor_parallel_size")),
        quantization=_text(_value(model, "quantization")),
    )
    return None if facts == EngineFacts() else facts


def _section(config: Mapping[str, Any] | str, name: str) -> Mapping[str, Any] | str:
    """A part of the configuration; the whole where it is not divided into parts."""
    part = config if isinstance(config, str) else config.get(name)
    return part if isinstance(part, (Mapping, str)) and part else config


def _value(section: Mapping[str, Any] | str, *names: str) -> Any:
    for name in names:
        found = _in_text(section, name) if isinstance(section, str) else section.get(name)
        if found is not None:
            return found
    return None


def _in_text(text: str, name: str) -> str | None:
    """The value of `name=value` or `'name': value` in the text of a Python object."""
    pattern = (
        rf"(?<![\w.])['\"]?{name}['\"]?\s{{0,4}}[=:]\s{{0,4}}"
        r"(\[[^\]]{0,20000}\]|\([^)]{0,200}\)|<[^>]{0,200}>|'[^'\n]{0,512}'|\"[^\"\n]{0,512}\""
        r"|[^\s,'\"{}()\[\]]{1,512})"
    )
    found = re.search(pattern, text[:_SEARCHED])
    return None if found is None else found[1]


def _eager(enforced: bool | None, mode: str | None, sizes: tuple[int, ...] | None) -> bool | None:
    """--enforce-eager wins over a mode; without it the mode says, else whether sizes are left."""
    if enforced or mode == "NONE":
        return True
    if mode is not None:
        return False
    return False if enforced is False and sizes else None


def _mode(value: object) -> str | None:
    if isinstance(value, (list, tuple)):
        return _MODES.get(tuple(part for part in value[:3] if type(part) is int))
    if type(value) is int:
        return _MODES.get((value,))
    if not isinstance(value, str):
        return None
    named = _MODE_NAME.search(value[:_TEXT_KEPT].upper())
    if named is not None:
        return named[1]
    numbers = re.findall(r"[0-9]+", value[:_TEXT_KEPT])[:3]
    return _MODES.get(tuple(int(number[:9]) for number in numbers))


def _sizes(value: object) -> tuple[int, ...] | None:
    if isinstance(value, str) and value.strip()[:1] in ("[", "("):
        value = [int(number) for number in re.findall(r"[0-9]{1,9}", value)]
    if not isinstance(value, (list, tuple)):
        return None
    counts = (_count(one) for one in value[:_SIZES_KEPT])
    return tuple(sorted({count for count in counts if count is not None}))


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        # The text of a list, or of one name.
        value = _QUOTED.findall(value[:20_000]) or [value]
    if not isinstance(value, (list, tuple)):
        return ()
    names = (_text(one) for one in value[:100])
    return tuple(name for name in names if name is not None)


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    text = value.strip().strip("'\"")
    return text if 0 < len(text) <= _TEXT_KEPT and text != "None" else None


def _flag(value: object) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _count(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 17:
        value = int(value)
    return value if type(value) is int and 0 < value <= _MOST else None
