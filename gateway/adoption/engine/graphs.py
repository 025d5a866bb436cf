"""What a command line says about graphs: eager or not, which mode, which sizes."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from gateway.adoption.codes import Code
from gateway.adoption.engine.values import Values

GRAPH_MODES: Final = ("NONE", "PIECEWISE", "FULL", "FULL_DECODE_ONLY", "FULL_AND_PIECEWISE")
"""Names of cudagraph_mode; the first three have their place as number. vLLM config/compilation.py.
"""

_NUMBERED_MODES: Final = 3
_COMPILATION_MODES: Final = ("NONE", "STOCK_TORCH_COMPILE", "DYNAMO_TRACE_ONCE", "VLLM_COMPILE")
_CONFIG: Final = "compilation-config"
_LEVELS: Final = ("0", "1", "2", "3")
_SIZES_OPTION: Final = "cudagraph-capture-sizes"
_SIZES_FIELD: Final = "cudagraph_capture_sizes"
_OLD_SIZES_OPTION: Final = "cuda-graph-sizes"
_LARGEST_OLD_SIZE: Final = 8_192


class Graphs(NamedTuple):
    """The options that decide about graphs; None where not given."""

    is_enforce_eager: bool = False
    has_config: bool = False
    compilation_mode: str | None = None
    cudagraph_mode: str | None = None
    optimization_level: int | None = None
    capture_sizes: tuple[int, ...] | None = None
    max_capture_size: int | None = None


def read_graphs(values: Values) -> Graphs:
    """What --enforce-eager, --compilation-config, -O and the options for sizes say together."""
    level = values.number("optimization-level", least=0)
    if level is not None and level >= len(_LEVELS):
        values.unreadable("optimization-level", str(level))
        level = None
    text = values.text(_CONFIG)
    tree: Mapping[str, object] | None = None
    if text in _LEVELS:  # -O 3, and the older way to say it
        level = int(text)
    else:
        tree = values.tree(_CONFIG)
    fields = {name: value for name, value in (tree or {}).items() if value is not None}
    return Graphs(
        is_enforce_eager=values.flag("enforce-eager") or False,
        has_config=tree is not None or text is not None,
        compilation_mode=_compilation_mode(values, fields),
        cudagraph_mode=_cudagraph_mode(values, fields),
        optimization_level=level,
        capture_sizes=_sizes(values, fields),
        max_capture_size=_largest(values, fields),
    )


def _compilation_mode(values: Values, fields: Mapping[str, object]) -> str | None:
    mode = fields.get("mode", fields.get("level"))
    return None if mode is None else _named(values, "mode", mode, _COMPILATION_MODES)


def _cudagraph_mode(values: Values, fields: Mapping[str, object]) -> str | None:
    mode = fields.get("cudagraph_mode")
    if mode is not None:
        return _named(values, "cudagraph_mode", mode, GRAPH_MODES[:_NUMBERED_MODES])
    # Until 0.11.
    if fields.get("use_cudagraph") is False:
        return "NONE"
    return "FULL" if fields.get("full_cuda_graph") is True else None


def _named(values: Values, field: str, value: object, numbered: tuple[str, ...]) -> str | None:
    """The name in capitals of a mode that may be given as a number."""
    names = _COMPILATION_MODES if field == "mode" else GRAPH_MODES
    if isinstance(value, str) and value.upper() in names:
        return value.upper()
    number = int(value) if isinstance(value, str) and value in _LEVELS else value
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(numbered):
        return numbered[number]
    values.unreadable(f"{_CONFIG}.{field}", str(value))
    return None


def _sizes(values: Values, fields: Mapping[str, object]) -> tuple[int, ...] | None:
    given = fields.get(_SIZES_FIELD)
    sizes = None
    if isinstance(given, list):
        sizes = values.sizes(f"{_CONFIG}.{_SIZES_FIELD}", given)
    elif given is not None:
        values.unreadable(f"{_CONFIG}.{_SIZES_FIELD}", str(given))
    listed = values.numbers(_SIZES_OPTION)
    if listed is None:
        return sizes if sizes is not None else _old_sizes(values)
    if given is not None:  # vLLM refuses to start with both
        told = " ".join(map(str, listed))
        values.note(Code.OPTION_TWICE, option=f"--{_SIZES_OPTION}", value=told)
    return listed


def _old_sizes(values: Values) -> tuple[int, ...] | None:
    """--cuda-graph-sizes: a single number stands for 1, 2, 4 and every 8 up to it (vLLM 0.10)."""
    listed = values.numbers(_OLD_SIZES_OPTION)
    if listed is None or len(listed) > 1:
        return listed
    if listed[0] > _LARGEST_OLD_SIZE:
        values.unreadable(_OLD_SIZES_OPTION, str(listed[0]))
        return None
    return (1, 2, 4, *range(8, listed[0] + 1, 8))


def _largest(values: Values, fields: Mapping[str, object]) -> int | None:
    name = "max_cudagraph_capture_size"
    given = fields.get(name)
    if given is not None:
        found = values.sizes(f"{_CONFIG}.{name}", (given,))
        return found[0] if found else None
    return values.number("max-cudagraph-capture-size")
