import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.adoption.containers.manifest import (
    MAX_CHARS,
    MAX_DEPTH,
    MAX_DOCUMENTS,
    ManifestError,
    Tree,
    read_documents,
    read_json,
)

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def trees(text: str) -> list[Tree]:
    documents, errors = read_documents(text)
    assert errors == ()
    return [document.tree for document in documents]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a: 22:22", {"a": "22:22"}),
        ("a: 0123", {"a": "0123"}),
        ("a: yes", {"a": "yes"}),
        ("a: 1.50", {"a": "1.50"}),
        ("a: 2024-01-01", {"a": "2024-01-01"}),
        ("a:", {"a": None}),
        ("a: ~", {"a": None}),
        ("a: 'null'", {"a": "null"}),
        ("a: [1, x, null]", {"a": ["1", "x", None]}),
        ("8000: x", {"8000": "x"}),
        ("a: !reset [1]", {"a": None}),
        ("a: !reset x", {"a": None}),
        ("a: !custom x", {"a": "x"}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}", {"a": {"b": "1"}, "c": {"b": "1", "d": "2"}}),
        ("a: &x {b: 1}\nc: {<<: *x, b: 2}", {"a": {"b": "1"}, "c": {"b": "2"}}),
        (
            "x: &x {b: 1}\ny: &y {b: 2, c: 3}\nz: {<<: [*x, *y]}",
            {"x": {"b": "1"}, "y": {"b": "2", "c": "3"}, "z": {"b": "1", "c": "3"}},
        ),
        ("a: {<<: 5, b: 1}", {"a": {"b": "1"}}),
        ("a: >\n  b\n  c\n", {"a": "b c\n"}),
        ("just words", "just words"),
        ("- 1\n- 2", ["1", "2"]),
    ],
)
def test_scalars_stay_as_written(text: str, tree: Tree) -> None:
    assert trees(text) == [tree]


def test_the_places_of_keys_items_and_texts() -> None:
    text = "# top\na:\n  b: 1\n  c:\n  - x\n  - |\n    one\n    two\n---\nd: 1\n"
    (first, second), _ = read_documents(text)
    assert first.line(("a",)) == 2
    assert first.line(("a", "c", 0)) == 5
    assert first.text_line(("a", "c", 0)) == 5
    assert first.text_line(("a", "c", 1)) == 7
    assert first.line(("a", "nowhere", "deep")) == 2
    assert first.line(("nowhere",)) == 0
    assert second.line(("d",)) == 10


def test_a_broken_document_hides_no_other() -> None:
    documents, errors = read_documents("a: 1\n---\nb: [\n---\nc: 3\n--- \n# nothing\n")
    assert [document.tree for document in documents] == [{"a": "1"}, {"c": "3"}]
    assert [(error.line, error.is_too_large) for error in errors] == [(4, False)]


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: b: c", 1), ("a: 'open", 1), ("x: *nobody", 1), ("a: 1\nx: \x07", 2), ("\ta: 1", 1)],
)
def test_mistakes_are_told_with_their_line(text: str, line: int) -> None:
    documents, (error,) = read_documents(text)
    assert documents == ()
    assert (error.line, error.is_too_large) == (line, False)
    assert str(error)


GROWING = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n" + "\n".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)
)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]",
        "a: &a {<<: *a}",
        "a: &a {<<: [*a, *a], b: 1}",
        "[" * 3000,
        "a: " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        GROWING,
        "a: " + "x" * MAX_CHARS,
    ],
)
def test_what_is_too_large_is_stopped(text: str) -> None:
    documents, (error,) = read_documents(text)
    assert documents == ()
    assert error.is_too_large


def test_documents_are_counted() -> None:
    documents, errors = read_documents("a: 1\n---\n" * (MAX_DOCUMENTS + 5))
    assert len(documents) == MAX_DOCUMENTS
    assert [error.is_too_large for error in errors] == [True]


def test_keys_given_twice_and_templates_are_told() -> None:
    (document,), _ = read_documents("a: 1\nb: 2\na: 3\n")
    assert document.tree == {"a": "3", "b": "2"}
    assert document.twice == (("a", 3),)
    (template,), _ = read_documents("image: {{ image }}\n")
    assert template.is_template


def test_json() -> None:
    document = read_json('{"a": [1, 2.50, true, null, "x"], "b": {"c": 1e3}}')
    assert document.tree == {"a": ["1", "2.50", "true", None, "x"], "b": {"c": "1e3"}}
    assert document.line(("a",)) == 0


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "[" * 100_000, "[" * 80 + "]" * 80])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ManifestError):
        read_json(text)


@UNHURRIED
@given(st.text(alphabet="ab:-[]{}&*<>|'\"#! \n\t", max_size=80))
def test_any_text_is_read_or_told(text: str) -> None:
    read_documents(text)
