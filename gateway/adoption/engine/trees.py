"""Values that are trees (JSON on a command line), read as vLLM does and, failing that, as meant."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gateway.adoption.engine.numbers import human_number
from gateway.config.parse import parse

_LONGEST: Final = 65_536
_LONGEST_SLOPPY: Final = 8_192
_DEEPEST: Final = 40
_QUOTED: Final = re.compile(r'("(?:[^"\\]|\\.)*")')
_BRACKET: Final = re.compile(r"[][{}]")
_HUMAN: Final = re.compile(r"\b\d+(?:\.\d+)?[kKmMgGtT]\b")


class Tree(NamedTuple):
    """What a text holds; `is_sloppy` where it is no JSON and was read as it was meant."""

    value: object
    is_sloppy: bool = False


def read_tree(text: str) -> Tree | None:
    """The value of a JSON text, or of one with the usual faults; None where it has no meaning.

    Numbers outside of strings may be human (`80g`), as in vLLM from 0.20 on. Read as meant are
    Python's single quotes and True, quotes that were escaped once too often, a pair of quotes
    around the whole, and names without quotes.
    """
    if len(text) > _LONGEST or _depth(text) > _DEEPEST:
        return None
    for candidate in (text, _expanded(text)):
        try:
            return Tree(json.loads(candidate))
        except (ValueError, RecursionError):
            continue
    return _as_meant(text)


def _depth(text: str) -> int:
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket in "{[" else -1
        deepest = max(depth, deepest)
    return deepest


def _expanded(text: str) -> str:
    parts = _QUOTED.split(text)
    parts[::2] = [_HUMAN.sub(_spelled_out, part) for part in parts[::2]]
    return "".join(parts)


def _spelled_out(match: re.Match[str]) -> str:
    number = human_number(match.group())
    return match.group() if number is None else str(number)


def _as_meant(text: str) -> Tree | None:
    text = text.strip().replace('\\"', '"').replace("\n", " ")
    for quote in "'\"":
        if len(text) > 1 and text[0] == text[-1] == quote:
            text = text[1:-1].strip()
    # A flow mapping of YAML is JSON with fewer quotes, and its reader is bounded.
    if len(text) > _LONGEST_SLOPPY or text[:1] not in "{[" or text[-1:] not in "}]":
        return None
    tree = parse(f"value: {text}").tree
    if tree is None:
        return None
    value = tree.get("value")
    return Tree(value, is_sloppy=True) if _is_likely(value) else None


def _is_likely(value: object) -> bool:
    """Whether braces without quotes gave names with values, not `{a:1}` as one long name."""
    if isinstance(value, Mapping):
        return bool(value) and all(inner is not None for inner in value.values())
    return isinstance(value, list)


def nested(path: Sequence[str], value: object) -> dict[str, object]:
    """`value` below the names of `path`, the outermost first."""
    *outer, last = path
    tree = {last: value}
    for name in reversed(outer):
        tree = {name: tree}
    return tree


def merge(into: dict[str, object], tree: Mapping[str, object]) -> None:
    """Add `tree` to `into`: mappings are joined, lists added up, of other values the last wins."""
    for name, value in tree.items():
        held = into.get(name)
        if isinstance(value, Mapping) and isinstance(held, dict):
            merge(held, value)
        elif isinstance(value, list) and isinstance(held, list):
            into[name] = [*held, *value]
        else:
            into[name] = value
