"""YAML text -> plain tree, with the place of every key and value, and all faults of the text."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from gateway.config.problems import Code, Finding, Path
from gateway.words import Words

MAX_NODES: Final = 200_000
MAX_DEPTH: Final = 40

_STRING_TAG: Final = "tag:yaml.org,2002:str"
_TIME_TAG: Final = "tag:yaml.org,2002:timestamp"
_MERGE_TAG: Final = "tag:yaml.org,2002:merge"
_NUMBER_TAGS: Final = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
_SCALAR_TAGS: Final = _NUMBER_TAGS | {"tag:yaml.org,2002:null", "tag:yaml.org,2002:bool"}

_FROM_MINIMAL: Final = Words("Start from config/minimal.yaml.", "可从 config/minimal.yaml 开始。")
_REMOVE_IT: Final = Words("Remove it.", "删掉它。")
_MEND_IT: Final = Words("Mend it.", "请改正。")


@dataclass(frozen=True, slots=True)
class Place:
    """A position in the text; line and column count from 1."""

    line: int
    column: int


_TOP: Final = Place(1, 1)


@dataclass(frozen=True, slots=True)
class Marks:
    """Where keys and values stand."""

    keys: dict[Path, Place] = field(default_factory=dict)
    values: dict[Path, Place] = field(default_factory=dict)

    def of(self, path: Path) -> Place:
        """The place of the key at `path`, of the list item, or of what encloses it."""
        while path:
            place = self.keys.get(path) or self.values.get(path)
            if place is not None:
                return place
            path = path[:-1]
        return self.values.get((), _TOP)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree (None when the text gives none), where everything stands, and what is wrong.

    A finding about the text itself has its place in `syntax`, since it has no path.
    """

    tree: dict[str, Any] | None
    marks: Marks
    findings: tuple[Finding, ...]
    syntax: Place | None = None


class _TooLarge(Exception):  # noqa: N818 - never leaves this file
    """The document has too many nodes or nests too deeply."""


def parse(text: str) -> Parsed:
    """Read a routing file's text; never raises for what the text holds."""
    text = text.removeprefix("\ufeff")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        return _broken(error, text)
    except RecursionError:
        return _failed(_too_large())
    if root is None:
        return _failed(
            Finding(
                Code.EMPTY_FILE,
                (),
                Words("the file holds nothing", "文件是空的"),
                _FROM_MINIMAL,
            )
        )
    reader = _TreeReader()
    try:
        tree = reader.read(root, ())
    except (_TooLarge, RecursionError):  # a mapping that merges itself has no end
        return _failed(_too_large())
    marks = Marks(reader.keys, reader.values)
    if not isinstance(tree, dict):
        finding = Finding(
            Code.NOT_A_MAPPING,
            (),
            Words(
                "the top of the file is not a mapping of keys to values",
                "文件顶层不是“键: 值”的映射",
            ),
            Words(
                "It needs at least version, backends and models; start from config/minimal.yaml.",
                "至少需要 version、backends 和 models；可从 config/minimal.yaml 开始。",
            ),
        )
        return Parsed(None, marks, (finding, *reader.findings))
    return Parsed(tree, marks, tuple(reader.findings))


def _failed(finding: Finding, place: Place = _TOP) -> Parsed:
    return Parsed(None, Marks(), (finding,), place)


def _too_large() -> Finding:
    return Finding(
        Code.YAML_TOO_LARGE,
        (),
        Words(
            f"the file has more than {MAX_NODES} values or nests deeper than {MAX_DEPTH} levels",
            f"文件中的值超过 {MAX_NODES} 个，或嵌套超过 {MAX_DEPTH} 层",
        ),
        Words(
            "Look for an anchor (&name) that contains its own alias (*name), or split the fleet.",
            "检查是否有锚点（&name）包含了它自己的别名（*name），或者把集群拆成几个文件。",
        ),
    )


def _broken(error: yaml.YAMLError, text: str) -> Parsed:
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position]
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        number = f"U+{ord(text[error.position]):04X}"
        told = Words(
            f"character {number} may not stand in a YAML file",
            f"YAML 文件中不允许出现字符 {number}",
        )
        return _failed(Finding(Code.YAML_SYNTAX, (), told, _REMOVE_IT), place)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = _TOP if mark is None else Place(mark.line + 1, mark.column + 1)
    problem = str(getattr(error, "problem", None) or error)
    if _has_tab(text, place):
        finding = Finding(
            Code.YAML_TAB,
            (),
            Words("a tab stands where YAML wants spaces", "YAML 要求空格的地方出现了制表符"),
            Words(
                "Replace the tabs by spaces; most editors can do it for the whole file.",
                "把制表符换成空格；多数编辑器可以一次替换整个文件。",
            ),
        )
        return _failed(finding, place)
    context = getattr(error, "context", None)
    # PyYAML explains in English only.
    message = f"{problem} ({context})" if context else problem
    finding = Finding(
        Code.YAML_SYNTAX,
        (),
        Words(f"column {place.column}: {message}", f"第 {place.column} 列：{message}"),
        Words(
            "Mend this line or the one above: indentation, a missing colon or blank after it, or a "
            "missing quote or bracket.",
            "检查本行或上一行：缩进、缺少冒号或冒号后的空格、引号或括号没有成对。",
        ),
    )
    return _failed(finding, place)


def _has_tab(text: str, place: Place) -> bool:
    lines = text.splitlines()
    if place.line > len(lines):
        return False
    return lines[place.line - 1][place.column - 1 : place.column] == "\t"


class _TreeReader:
    """Turns nodes into plain values and notes where each stands."""

    __slots__ = ("_constructor", "_nodes", "findings", "keys", "values")

    def __init__(self) -> None:
        self.keys: dict[Path, Place] = {}
        self.values: dict[Path, Place] = {}
        self.findings: list[Finding] = []
        self._constructor = SafeConstructor()
        self._nodes = 0

    def read(self, node: Node, path: Path) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES or len(path) > MAX_DEPTH:
            raise _TooLarge
        self.values[path] = _place(node)
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.read(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        # The winner is read last, so that its place is the one that is noted.
        for source in reversed(list(self._sources(node, path))):
            merged.update(self._mapping(source, path))
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE_TAG:
                continue
            key = key_node.value if isinstance(key_node, ScalarNode) else None
            if key is None:
                told = Words("a key is not a plain word", "键不是普通的单词")
                self._note(Code.YAML_UNSUPPORTED, path, told, _MEND_IT)
                continue
            place = (*path, key)
            if key in own:
                self._duplicate(key, place, _place(key_node))
                continue
            self.keys[place] = _place(key_node)
            own[key] = self.read(value_node, place)
        return {**merged, **own}

    def _sources(self, node: MappingNode, path: Path) -> Iterator[MappingNode]:
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE_TAG:
                yield from self._merge_sources(value_node, path)

    def _merge_sources(self, node: Node, path: Path) -> Iterator[MappingNode]:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _TooLarge
        if isinstance(node, MappingNode):
            yield node
        elif isinstance(node, SequenceNode):
            for item in node.value:
                yield from self._merge_sources(item, path)
        else:
            told = Words("<< merges something that is no mapping", "<< 合并的内容不是映射")
            self._note(Code.YAML_UNSUPPORTED, path, told, _MEND_IT)

    def _duplicate(self, key: str, path: Path, second: Place) -> None:
        first = self.keys[path]
        self.keys[path] = second
        self._note(
            Code.DUPLICATE_KEY,
            path,
            Words(
                f"{key!r} is given twice, first in line {first.line}",
                f"{key!r} 重复出现，第一次在第 {first.line} 行",
            ),
            Words("Keep one of the two.", "只保留其中一个。"),
        )

    def _scalar(self, node: Node, path: Path) -> Any:
        if node.tag in (_STRING_TAG, _TIME_TAG):
            return node.value
        if node.tag in _NUMBER_TAGS and ":" in node.value:
            return node.value  # YAML 1.1 would read 12:30 as 750
        if node.tag in _SCALAR_TAGS:
            try:
                return self._constructor.construct_object(node)
            except ValueError:  # digits without end, or 0x without any
                return node.value
        self._note(
            Code.YAML_UNSUPPORTED,
            path,
            Words(
                f"the tag {node.tag!r} is not supported in a routing file",
                f"路由文件不支持标签 {node.tag!r}",
            ),
            Words("Write a plain value.", "写成普通的值。"),
        )
        return None

    def _note(self, code: Code, path: Path, told: Words, remedy: Words) -> None:
        self.findings.append(Finding(code, path, told, remedy))


def _place(node: Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)
