"""The file that `vllm serve --config FILE` reads its options from."""

import json
from collections.abc import Iterator
from typing import Final

from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding, Origin
from gateway.config.parse import parse

_LARGEST: Final = 1_048_576


def read_config_file(text: str, file: str) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """The words that the file puts on the command line, to be handed to `read_arguments`.

    As vLLM does it (utils/argparse_utils.py of 0.20.2): true gives the bare option and false gives
    nothing, a list gives its items, a mapping JSON. Never raises.
    """
    parsed = parse(text) if len(text) <= _LARGEST else None
    if parsed is None or parsed.tree is None:
        line = parsed.syntax.line if parsed and parsed.syntax else 1
        values = {"file": file, "line": str(line)}
        return (), (Finding(Code.CONFIG_UNREADABLE, Origin(file, line), values),)
    return tuple(word for name, value in parsed.tree.items() for word in _words(name, value)), ()


def _words(name: str, value: object) -> Iterator[str]:
    option = f"--{name}"
    if isinstance(value, bool):
        if value:
            yield option
    elif isinstance(value, list):
        if value:
            yield option
            yield from map(str, value)
    elif isinstance(value, dict):
        yield option
        yield json.dumps(value, default=str)
    else:
        yield option
        yield str(value)
