"""Every public report is either a test here or owed by named later work, never both."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

TESTS = Path(__file__).parents[1]
HANDED = Path(__file__).with_name("handed.yaml")

# What is not built yet, and the part of the gateway that will answer the report.
OWED: dict[str, str] = {}


def handed_ids() -> list[str]:
    return [case["id"] for case in yaml.safe_load(HANDED.read_text(encoding="utf-8"))]


def case_marks(source: str) -> Iterator[str]:
    """The ids of `pytest.mark.case("id")` over tests of one file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.case":
                    identity = ast.literal_eval(mark.args[0])
                    assert node.name.startswith("test_" + identity.replace("-", "_")), node.name
                    yield identity


@pytest.fixture(scope="module")
def marked() -> set[str]:
    """All ids that a test in the tree is marked with."""
    files = TESTS.rglob("test_*.py")
    return {one for file in files for one in case_marks(file.read_text(encoding="utf-8"))}


def test_the_ids_are_unique() -> None:
    assert [one for one, times in Counter(handed_ids()).items() if times > 1] == []


@pytest.mark.parametrize("identity", handed_ids())
def test_each_report_is_tested_or_owed(identity: str, marked: set[str]) -> None:
    is_tested = identity in marked
    assert is_tested != (identity in OWED), "tested and owed" if is_tested else "neither"


def test_nothing_else_is_marked_or_owed(marked: set[str]) -> None:
    known = set(handed_ids())
    assert marked <= known
    assert set(OWED) <= known
    assert all(OWED.values())
