"""Routing files whose lines say which problems they must give."""

import re
from collections.abc import Callable

import pytest

from gateway.config.load import Loaded, load_text

_MARK = re.compile(r"# <-(.*)$")


def _load_marked(text: str) -> Loaded:
    """Load `text` and compare all problems with its marks `# <- code code`, line by line."""
    expected = sorted(
        (number, code)
        for number, line in enumerate(text.splitlines(), start=1)
        if (mark := _MARK.search(line))
        for code in mark[1].split()
    )
    loaded = load_text(text, "routes.yaml")
    found = sorted((problem.line, problem.code.value) for problem in loaded.problems)
    assert found == expected, loaded.render()
    assert all(problem.message and problem.remedy for problem in loaded.problems)
    assert all(problem.file == "routes.yaml" for problem in loaded.problems)
    assert (loaded.config is None) == bool(loaded.errors)
    return loaded


@pytest.fixture
def load_marked() -> Callable[[str], Loaded]:
    return _load_marked
