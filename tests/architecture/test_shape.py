"""The shape of the code, read from its syntax trees: small files, small functions, no hidden state.

Who may import whom is checked by import-linter (see pyproject.toml); what cannot be said there
is said here.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "gateway"
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 60
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "managers", "manager", "common", "misc"}
MUTABLE_CALLS = {
    "bytearray",
    "Counter",
    "defaultdict",
    "deque",
    "dict",
    "list",
    "OrderedDict",
    "set",
    "WeakKeyDictionary",
    "WeakValueDictionary",
}
MUTABLE_LITERALS = (ast.List, ast.Set, ast.ListComp, ast.SetComp)
MAPPING_LITERALS = (ast.Dict, ast.DictComp)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the package."""

    name: str
    text: str
    tree: ast.Module


Rule = Callable[[Source], Iterator[str]]


def read(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    return Source(str(path.relative_to(PACKAGE.parent)), text, ast.parse(text))


SOURCES = tuple(read(path) for path in sorted(PACKAGE.rglob("*.py")))


def functions_of(source: Source) -> Iterator[Function]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def file_is_small(source: Source) -> Iterator[str]:
    lines = source.text.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{source.name}: {lines} lines, at most {MAX_FILE_LINES}; split it by concern"


def functions_are_small(source: Source) -> Iterator[str]:
    for function in functions_of(source):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines > MAX_FUNCTION_LINES:
            yield f"{source.name}:{function.lineno}: {function.name} has {lines} lines"


def file_says_what_it_owns(source: Source) -> Iterator[str]:
    path = Path(source.name)
    if VAGUE_NAMES & {path.stem, path.parent.name}:
        yield f"{source.name}: the name does not say what the file owns"
    if not ast.get_docstring(source.tree):
        yield f"{source.name}: no docstring that says what the file owns"


def nothing_is_global(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Global):
            yield f"{source.name}:{node.lineno}: global {', '.join(node.names)}"


def is_optional_dependency(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether the import stands in a `try` that handles its absence."""
    parent = parents.get(node)
    return isinstance(parent, ast.Try) and any(
        isinstance(h.type, ast.Name) and h.type.id in {"ImportError", "ModuleNotFoundError"}
        for h in parent.handlers
    )


def imports_stand_at_the_top(source: Source) -> Iterator[str]:
    for function in functions_of(source):
        parents = {c: p for p in ast.walk(function) for c in ast.iter_child_nodes(p)}
        for node in ast.walk(function):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            if not is_optional_dependency(node, parents):
                yield f"{source.name}:{node.lineno}: import inside {function.name}"


def module_level_assignments(source: Source) -> Iterator[tuple[str, ast.expr, str, int]]:
    """Name, value, annotation and line of what is assigned at module level."""
    for node in source.tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value, ast.unparse(node.annotation), node.lineno
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value, "", node.lineno


def called_name(value: ast.expr) -> str:
    if not isinstance(value, ast.Call):
        return ""
    return ast.unparse(value.func).rpartition(".")[2]


def no_module_state(source: Source) -> Iterator[str]:
    """Module-level values are constants.

    A mapping literal may stay one if its annotation is a read-only `Mapping`, since mypy then
    refuses to change it.
    """
    for name, value, annotation, line in module_level_assignments(source):
        where = f"{source.name}:{line}: {name}"
        if name == "__all__":
            continue
        if isinstance(value, MUTABLE_LITERALS) or called_name(value) in MUTABLE_CALLS:
            yield f"{where} can change; make it a tuple, a frozenset or a read-only mapping"
        elif isinstance(value, MAPPING_LITERALS) and "Mapping[" not in annotation:
            yield f"{where} can change; annotate it as a read-only Mapping[...]"
        elif isinstance(value, ast.Constant) and not name.isupper() and not name.startswith("__"):
            yield f"{where} is a constant and written like a variable"


def public_things_are_described(source: Source) -> Iterator[str]:
    for node in source.tree.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not node.name.startswith("_") and not ast.get_docstring(node):
            yield f"{source.name}:{node.lineno}: {node.name} has no docstring"


RULES: tuple[Rule, ...] = (
    file_is_small,
    functions_are_small,
    file_says_what_it_owns,
    nothing_is_global,
    imports_stand_at_the_top,
    no_module_state,
    public_things_are_described,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_file_keeps_the_rule(rule: Rule) -> None:
    broken = [message for source in SOURCES for message in rule(source)]
    assert not broken, "\n".join(broken)


BREAKERS: tuple[tuple[Rule, str], ...] = (
    (file_is_small, '"""Doc."""\n' + "X = 1\n" * MAX_FILE_LINES),
    (functions_are_small, "def f():\n" + "    f()\n" * MAX_FUNCTION_LINES),
    (file_says_what_it_owns, "X = 1\n"),
    (nothing_is_global, "def f():\n    global X\n    X = 1\n"),
    (imports_stand_at_the_top, "def f():\n    import json\n"),
    (imports_stand_at_the_top, "class A:\n    async def f(self):\n        from a import b\n"),
    (no_module_state, "SEEN = []\n"),
    (no_module_state, "SEEN: set[str] = set()\n"),
    (no_module_state, "import collections\nSEEN = collections.deque()\n"),
    (no_module_state, "TABLE = {1: 2}\n"),
    (no_module_state, "TABLE: dict[int, int] = {1: 2}\n"),
    (no_module_state, "current = 0\n"),
    (public_things_are_described, "def f():\n    return 1\n"),
    (public_things_are_described, "class A:\n    x = 1\n"),
)


@pytest.mark.parametrize(("rule", "text"), BREAKERS)
def test_each_rule_finds_its_breach(rule: Rule, text: str) -> None:
    assert list(rule(Source("gateway/example.py", text, ast.parse(text))))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            imports_stand_at_the_top,
            "def f():\n    try:\n        import a\n    except ImportError:\n        pass\n",
        ),
        (no_module_state, "TABLE: Final[Mapping[int, int]] = {1: 2}\n"),
        (no_module_state, "NAMES = frozenset({1})\nPAIR = (1, 2)\n__version__ = '1'\n"),
    ],
)
def test_what_the_rules_allow(rule: Rule, text: str) -> None:
    assert not list(rule(Source("gateway/example.py", text, ast.parse(text))))


def test_every_package_has_content() -> None:
    """A package that holds nothing is a promise, not code."""
    empty = [
        str(init.parent.relative_to(PACKAGE.parent))
        for init in PACKAGE.rglob("__init__.py")
        if len(list(init.parent.rglob("*.py"))) == 1 and len(read(init).tree.body) <= 1
    ]
    assert not empty
