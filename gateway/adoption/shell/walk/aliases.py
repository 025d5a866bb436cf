"""Aliases, which scripts use only after `shopt -s expand_aliases`."""

from dataclasses import replace
from typing import Final

from gateway.adoption.shell.reader.command_reader import new_reading, read_line
from gateway.adoption.shell.reader.reading import ShellSyntaxError
from gateway.adoption.shell.syntax import Simple, Word
from gateway.adoption.shell.walk.shell import Shell

_MAX_ALIASES: Final = 8


def without_aliases(node: Simple, shell: Shell) -> Simple:
    """The command with an alias at its beginning replaced.

    Only aliases that stand for the beginning of one command are followed.
    """
    seen: set[str] = set()
    while shell.expands_aliases and len(seen) < _MAX_ALIASES:
        first = node.words[0] if node.words else None
        name = first.plain if isinstance(first, Word) else ""
        text = None if name in seen else shell.aliases.get(name)
        meant = None if text is None else _command(text, node.line)
        if meant is None:
            break
        seen.add(name)
        node = replace(
            node,
            assignments=(*node.assignments, *meant.assignments),
            words=(*meant.words, *node.words[1:]),
            redirects=(*meant.redirects, *node.redirects),
        )
    return node


def _command(text: str, line: int) -> Simple | None:
    try:
        block = read_line(new_reading(text, line, []))
    except ShellSyntaxError:
        return None
    if block is None or len(block.items) != 1 or len(block.items[0].stages) != 1:
        return None
    node = block.items[0].stages[0]
    return node if isinstance(node, Simple) else None
