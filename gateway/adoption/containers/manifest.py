"""YAML and JSON of manifests: plain trees of text, with the line of every key and item."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MAX_CHARS: Final = 1_000_000
MAX_NODES: Final = 100_000
MAX_DEPTH: Final = 60
MAX_DOCUMENTS: Final = 2000

Tree = None | str | list["Tree"] | dict[str, "Tree"]
"""Every scalar is its text as written, so that `22:22`, `0123` and `yes` stay what they are."""

Path = tuple[str | int, ...]

# Compose's !reset takes away what a file before has given.
_NOTHING: Final = frozenset({"tag:yaml.org,2002:null", "!reset"})
_MERGE: Final = "tag:yaml.org,2002:merge"
_START: Final = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_IDLE_LINE: Final = re.compile(r"^\s*(?:#.*|%.*|---|\.\.\.)?\s*$")


class ManifestError(ValueError):
    """The text is no YAML or JSON that can be read; `line` counts from 1, 0 where not known.

    `is_too_large` tells a limit of this file from a mistake in the text.
    """

    def __init__(self, message: str, line: int = 0, *, is_too_large: bool = False) -> None:
        super().__init__(message)
        self.line = line
        self.is_too_large = is_too_large


@dataclass(frozen=True, slots=True)
class Document:
    """One document, where its keys and items stand, and the keys that are given twice.

    `blocks` says where the text of a `|` or `>` begins. `is_template` says that braces such as
    `{{ name }}` were read as mappings.
    """

    tree: Tree
    lines: Mapping[Path, int] = field(default_factory=dict)
    blocks: Mapping[Path, int] = field(default_factory=dict)
    twice: tuple[tuple[str, int], ...] = ()
    is_template: bool = False

    def line(self, path: Path) -> int:
        """The line of the key or item at `path`, or of what encloses it; 0 where not known."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 0)

    def is_block(self, path: Path) -> bool:
        """Whether the text at `path` is written as a `|` or `>`."""
        return path in self.blocks

    def text_line(self, path: Path) -> int:
        """The line on which the text at `path` begins."""
        return self.blocks.get(path) or self.line(path)


def read_documents(text: str) -> tuple[tuple[Document, ...], tuple[ManifestError, ...]]:
    """All documents of a YAML text, each by itself, so that one mistake hides no other document."""
    if len(text) > MAX_CHARS:
        return (), (_too_large(f"more than {MAX_CHARS} characters"),)
    documents: list[Document] = []
    errors: list[ManifestError] = []
    for number, (piece, before) in enumerate(_pieces(text)):
        if number >= MAX_DOCUMENTS:
            errors.append(_too_large(f"more than {MAX_DOCUMENTS} documents", before + 1))
            break
        try:
            documents.append(_read_piece(piece, before))
        except ManifestError as error:
            errors.append(error)
    return tuple(documents), tuple(errors)


def read_json(text: str) -> Document:
    """The document of a JSON text, with numbers and booleans as text; lines are not known.

    ManifestError where it is no JSON.
    """
    try:
        value = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
        return Document(_from_json(value, 0))
    except RecursionError:
        raise _too_large(f"deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        if isinstance(error, ManifestError):
            raise
        raise ManifestError(str(error)) from None


def _from_json(value: object, depth: int) -> Tree:
    if depth > MAX_DEPTH:
        raise _too_large(f"deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return {str(key): _from_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_from_json(item, depth + 1) for item in value]
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _too_large(limit: str, line: int = 0) -> ManifestError:
    return ManifestError(limit, line, is_too_large=True)


def _pieces(text: str) -> Iterator[tuple[str, int]]:
    """The text of each document, and how many lines stand before it."""
    starts = [match.start() for match in _START.finditer(text)]
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        piece = text[start:end]
        if not all(_IDLE_LINE.match(line) for line in piece.splitlines()):
            yield piece, text.count("\n", 0, start)


def _read_piece(piece: str, before: int) -> Document:
    try:
        root = yaml.compose(piece, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        line = piece.count("\n", 0, error.position) + before + 1
        raise ManifestError("a character that may not stand in YAML", line) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or error
        line = mark.line + before + 1 if mark else before + 1
        raise ManifestError(str(problem), line) from None
    except RecursionError:
        raise _too_large(f"deeper than {MAX_DEPTH} levels", before + 1) from None
    reader = _TreeReader(before)
    try:
        tree = reader.read(root, ()) if root is not None else None
    except RecursionError:
        raise _too_large("a mapping that contains itself", before + 1) from None
    return Document(tree, reader.lines, reader.blocks, tuple(reader.twice), reader.is_template)


class _TreeReader:
    """Turns nodes into plain values and notes where each stands."""

    __slots__ = ("_before", "_nodes", "blocks", "is_template", "lines", "twice")

    def __init__(self, before: int) -> None:
        self.lines: dict[Path, int] = {}
        self.blocks: dict[Path, int] = {}
        self.twice: list[tuple[str, int]] = []
        self.is_template = False
        self._before = before
        self._nodes = 0

    def __repr__(self) -> str:
        return f"<_TreeReader after {self._nodes} nodes>"

    def read(self, node: Node, path: Path) -> Tree:
        self._count(node, path)
        if node.tag in _NOTHING:
            return None
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self._item(item, (*path, index)) for index, item in enumerate(node.value)]
        if getattr(node, "style", None) in ("|", ">"):
            self.blocks[path] = self._line(node) + 1
        return str(node.value)

    def _item(self, node: Node, path: Path) -> Tree:
        self.lines[path] = self._line(node)
        return self.read(node, path)

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Tree]:
        merged: dict[str, Tree] = {}
        own: dict[str, Tree] = {}
        # The winner is read last, so that its lines are the ones that are noted.
        for source in reversed(list(self._sources(node))):
            self._count(source, path)
            merged.update(self._mapping(source, path))
        for key, value in node.value:
            if key.tag == _MERGE:
                continue
            if not isinstance(key, ScalarNode):
                self.is_template = True
                continue
            if key.value in own:
                self.twice.append((key.value, self._line(key)))
            self.lines[*path, key.value] = self._line(key)
            own[key.value] = self.read(value, (*path, key.value))
        return {**merged, **own}

    def _sources(self, node: MappingNode) -> Iterator[MappingNode]:
        for key, value in node.value:
            if key.tag == _MERGE:
                items = value.value if isinstance(value, SequenceNode) else (value,)
                yield from (item for item in items if isinstance(item, MappingNode))

    def _count(self, node: Node, path: Path) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _too_large(f"more than {MAX_NODES} values", self._line(node))
        if len(path) > MAX_DEPTH:
            raise _too_large(f"deeper than {MAX_DEPTH} levels", self._line(node))

    def _line(self, node: Node) -> int:
        return int(node.start_mark.line) + self._before + 1
