"""Which `$(...)` are harmless enough to be carried out, and what one command of them prints."""

from gateway.adoption.shell.expansion.expand import Expansion
from gateway.adoption.shell.reader.redirect_reader import is_here_text
from gateway.adoption.shell.syntax import Block, Item, Node, Simple, Word
from gateway.adoption.shell.walk.outputs import PRINTERS
from gateway.adoption.shell.walk.streams import Plumber, Streams


def is_harmless(block: Block) -> bool:
    """Whether all of it is known without running it. What stands behind `||` is not reached."""
    return bool(block.items) and all(
        item.link == "||" or (_is_alone(item) and prints_known(item.stages[0]))
        for item in block.items
    )


def _is_alone(item: Item) -> bool:
    return len(item.stages) == 1 and not item.is_background


def prints_known(node: Node) -> bool:
    """Whether it is a command whose output can be told, or an assignment."""
    if not isinstance(node, Simple):
        return False
    names = [word.plain for word in node.words if isinstance(word, Word)]
    if len(names) != len(node.words):
        return False
    if names[:1] == ["cat"]:
        return set(names[1:]) <= {"-"} and any(map(is_here_text, node.redirects))
    return not names or names[0] in PRINTERS


def printed(
    node: Simple, expansion: Expansion, plumber: Plumber, directory: str
) -> tuple[list[str], str | None]:
    """The words of a command that `prints_known`, and what it prints; None if that is not known."""
    words = [
        text for word in node.words if isinstance(word, Word) for text in expansion.fields(word)
    ]
    streams = plumber.redirected(Streams(), node.redirects)
    if not words or not streams.out.is_terminal:
        return words, ""
    if words[0] == "cat":
        return words, streams.stdin
    printer = PRINTERS.get(words[0])
    return words, printer(words[1:], directory) if printer else None
