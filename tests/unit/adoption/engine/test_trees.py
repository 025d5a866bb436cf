import pytest

from gateway.adoption.engine.trees import Tree, merge, nested, read_tree


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a":\n  [1,\n4]}', {"a": [1, 4]}),
        ("[1,4]", [1, 4]),
        ("3", 3),
        ('{"bytes": 80g, "name": "80g"}', {"bytes": 80_000_000_000, "name": "80g"}),
    ],
)
def test_json_is_read(text: str, value: object) -> None:
    assert read_tree(text) == Tree(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': True, 'b': [1, 4]}", {"a": True, "b": [1, 4]}),
        (r"{\"a\": [1,4]}", {"a": [1, 4]}),
        ("'{\"a\": 1}'", {"a": 1}),
        ("{mode: FULL, sizes: [1, 4]}", {"mode": "FULL", "sizes": [1, 4]}),
        ('{"a": 1,}', {"a": 1}),
    ],
)
def test_usual_faults_are_read_as_meant(text: str, value: object) -> None:
    assert read_tree(text) == Tree(value, is_sloppy=True)


@pytest.mark.parametrize(
    "text",
    ["", "x", "{", "{a:1}", "{a: [}", "[" * 100_000, '{"a":' * 5_000, "{" * 50 + "}" * 50],
)
def test_no_meaning(text: str) -> None:
    assert read_tree(text) is None


def test_a_tree_of_hostile_depth_or_size_is_not_read() -> None:
    assert read_tree("[" * 30 + "]" * 30) is not None
    assert read_tree("[" * 60 + "]" * 60) is None
    assert read_tree('"' + "x" * 100_000 + '"') is None


def test_fields_are_joined_and_lists_add_up() -> None:
    tree: dict[str, object] = {}
    for path, value in (
        (("a", "b"), 1),
        (("a", "c"), [1]),
        (("a", "c"), [4]),
        (("a", "b"), 2),
        (("d",), "x"),
    ):
        merge(tree, nested(path, value))
    assert tree == {"a": {"b": 2, "c": [1, 4]}, "d": "x"}
