"""Backends are called by what they serve, and no two alike."""

import pytest

from gateway.adoption.naming import Served, names_for


@pytest.mark.parametrize(
    ("served", "path", "name"),
    [
        ("qwen3.5-9b", "/m/x", "qwen3.5-9b"),
        ("/models/Qwen3.5-9B/", "", "Qwen3.5-9B"),
        ("Qwen/Qwen3-8B", "", "Qwen3-8B"),
        ("", "/m/Qwen3-8B", "Qwen3-8B"),
        ("通义 9b", "/m/x", "9b"),
        ("通义", "/m/通义", "backend"),
        ("a b:c", "", "a-b-c"),
        ("--a--", "", "a"),
        ("x" * 100, "", "x" * 60),
        ("", "", "backend"),
    ],
)
def test_a_name(served: str, path: str, name: str) -> None:
    assert names_for([Served(served, path, False)]) == (name,)


def test_names_differ_beyond_case() -> None:
    served = [Served(name, "", False) for name in ("a", "A", "a-2", "a")]
    assert names_for(served) == ("a", "A-2", "a-2-2", "a-3")


def test_an_eager_twin_is_called_so_whichever_comes_first() -> None:
    graph, eager = Served("nine", "", False), Served("nine", "", True)
    assert names_for([eager, graph]) == ("nine-eager", "nine")
    assert names_for([graph, eager, eager]) == ("nine", "nine-eager", "nine-eager-2")
    assert names_for([eager]) == ("nine",)
