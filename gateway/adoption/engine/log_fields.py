"""Values out of what an engine prints of its arguments and of its configuration.

Both are printed in several ways, by release: `Namespace(port=8000, ...)`, `{'port': 8000, ...}`,
`model='/m', enforce_eager=False, ...` and `"cudagraph_capture_sizes":[4,2,1]`. One reader for a
field's name takes them all. From vllm 0.8 to 0.32, entrypoints/utils.py and config.
"""

import re
from collections.abc import Mapping
from typing import Final

from gateway.adoption.engine.graphs import GRAPH_MODES

_NAMES: Final = (
    "model",
    "model_tag",
    "served_model_name",
    "port",
    "tensor_parallel_size",
    "max_num_seqs",
    "max_num_batched_tokens",
    "max_model_len",
    "max_seq_len",
    "enforce_eager",
    "cudagraph_capture_sizes",
    "cudagraph_mode",
)
_STARTS: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(rf"(?<!\w){name}['\"]?\s{{0,4}}[:=]\s{{0,4}}") for name in _NAMES
}
_NUMBER: Final = re.compile(r"(?<!\d)\d{1,12}(?!\d)")
_SIZES: Final = re.compile(r"\[([\d,\s]*)\]")
_STRINGS: Final = re.compile(r"\[([^]\[]*)\]")
_STRING: Final = re.compile(r"""'([^']*)'|"([^"]*)\"""")
_BARE: Final = re.compile(r"[^,'\"\[\](){}\s]+")
_MODE: Final = re.compile(
    r"<?CUDAGraphMode\.(?P<name>\w+)|['\"](?P<word>\w+)['\"]"
    r"|[\[(](?P<decode>\d),\s?(?P<mixed>\d)[\])]|(?P<number>[0-2])\b"
)
_MODE_PAIRS: Final = (("2", "0", "FULL_DECODE_ONLY"), ("2", "1", "FULL_AND_PIECEWISE"))


def number_in(text: str, name: str) -> int | None:
    """The whole number of the field."""
    match = _value(text, name, _NUMBER)
    return int(match.group()) if match else None


def truth_in(text: str, name: str) -> bool | None:
    """The True or False of the field."""
    match = _value(text, name, _BARE)
    return {"True": True, "False": False}.get(match.group()) if match else None


def word_in(text: str, name: str) -> str | None:
    """The string of the field, in quotes or without."""
    quoted = _value(text, name, _STRING)
    if quoted:
        return quoted[1] or quoted[2] or None
    bare = _value(text, name, _BARE)
    return None if bare is None or bare.group() == "None" else bare.group()


def words_in(text: str, name: str) -> tuple[str, ...]:
    """The strings of the field, which may be a list or a single one."""
    listed = _value(text, name, _STRINGS)
    if listed is None:
        word = word_in(text, name)
        return (word,) if word else ()
    return tuple(one or other for one, other in _STRING.findall(listed[1]) if one or other)


def sizes_in(text: str, name: str) -> tuple[int, ...] | None:
    """The whole numbers of the field's list, sorted, each once."""
    match = _value(text, name, _SIZES)
    return sorted_sizes(match[1]) if match else None


def sorted_sizes(text: str) -> tuple[int, ...]:
    """Whole numbers with anything between them, sorted, each once."""
    return tuple(sorted({int(number) for number in _NUMBER.findall(text)}))


def graph_mode_in(text: str) -> str | None:
    """The cudagraph_mode, which is printed as a name, a number or a pair of them."""
    match = _value(text, "cudagraph_mode", _MODE)
    if match is None:
        return None
    if match["number"]:
        return GRAPH_MODES[int(match["number"])]
    for decode, mixed, mode in _MODE_PAIRS:
        if (match["decode"], match["mixed"]) == (decode, mixed):
            return mode
    name = (match["name"] or match["word"] or "").upper()
    return name if name in GRAPH_MODES else None


def _value(text: str, name: str, wanted: re.Pattern[str]) -> re.Match[str] | None:
    start = _STARTS[name].search(text)
    return wanted.match(text, start.end()) if start else None
