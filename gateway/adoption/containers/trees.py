"""Looking into the trees of manifests, where anything may be of another kind than it should."""

from collections.abc import Mapping
from typing import Final

from gateway.adoption.containers.manifest import Tree

_ON: Final = frozenset({"true", "yes", "on", "y"})


def mapping(tree: Tree) -> dict[str, Tree]:
    """The tree if it is a mapping, an empty one otherwise."""
    return tree if isinstance(tree, dict) else {}


def items(tree: Tree) -> list[Tree]:
    """The tree if it is a list, an empty one otherwise."""
    return tree if isinstance(tree, list) else []


def text(tree: Tree) -> str:
    """The tree if it is a text, "" otherwise."""
    return tree if isinstance(tree, str) else ""


def texts(tree: Tree) -> list[str]:
    """The texts of a list, or the text itself as the only one."""
    if isinstance(tree, str):
        return [tree]
    return [item for item in items(tree) if isinstance(item, str)]


def at(tree: Tree, *path: str) -> Tree:
    """What stands below a path of keys; None where there is nothing."""
    for key in path:
        tree = mapping(tree).get(key)
    return tree


def whole(tree: Tree, default: int) -> int:
    """The tree as a number that is not negative, or the default."""
    given = text(tree)
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else default


def is_on(tree: Tree) -> bool:
    """Whether the tree is a `true` of YAML 1.1, or one in quotes."""
    return text(tree).lower() in _ON


def pairs(tree: Tree) -> Mapping[str, str | None]:
    """Variables as a mapping or as a list of `A=b`; None for those that are only named."""
    if isinstance(tree, dict):
        return {
            key: value for key, value in tree.items() if value is None or isinstance(value, str)
        }
    found: dict[str, str | None] = {}
    for item in texts(tree):
        name, equals, value = item.partition("=")
        found[name] = value if equals else None
    return found
