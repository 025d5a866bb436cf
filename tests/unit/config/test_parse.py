import pytest

from gateway.config.load import load_text
from gateway.config.parse import MAX_DEPTH, Place, parse


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "empty_file", 1),
        ("# only a comment\n\n", "empty_file", 1),
        ("- a\n- b\n", "not_a_mapping", 1),
        ("just words", "not_a_mapping", 1),
        ("version: 1\nmodels: [a\nx: 1\n", "yaml_syntax", 3),
        ("version: 1\nname: 'open\n", "yaml_syntax", 3),
        ("version: 1\na: b: c\n", "yaml_syntax", 2),
        ("version: 1\n---\nversion: 1\n", "yaml_syntax", 2),
        ("version: 1\nx: *nobody\n", "yaml_syntax", 2),
        ("version: 1\nx: \x07\n", "yaml_syntax", 2),
        ("version: 1\nmodels:\n\t- name: x\n", "yaml_tab", 3),
        ("a: &a [*a]\n", "yaml_too_large", 1),
        ("a: &a {<<: *a}\n", "yaml_too_large", 1),
        ("a: &a {<<: [*a, *a], b: 1}\n", "yaml_too_large", 1),
        ("[" * 2000, "yaml_too_large", 1),
        ("a: " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "yaml_too_large", 1),
    ],
)
def test_text_that_gives_no_tree(text, code, line):
    loaded = load_text(text, "f.yaml")
    assert [(p.line, p.code.value) for p in loaded.problems] == [(line, code)]
    assert loaded.config is None
    assert loaded.problems[0].remedy


def test_a_growing_alias_is_stopped():
    lines = ["a: &a0 [1,1,1,1,1,1,1,1,1,1]"]
    lines += [f"b{i}: &a{i + 1} [{','.join([f'*a{i}'] * 10)}]" for i in range(8)]
    assert [f.code.value for f in parse("\n".join(lines)).findings] == ["yaml_too_large"]


FILE = """version: 1
version: 1 # <- duplicate_key
backends:
- name: a
  url: http://a:1
  served_name: x
  tier: eager
  labels:
    x: a
    x: b # <- duplicate_key
  card: !house 1 # <- yaml_unsupported
models:
- {name: m, backends: [a]}
"""


def test_duplicates_and_tags_are_found_beside_each_other(load_marked):
    loaded = load_marked(FILE)
    assert "first in line 9" in loaded.errors[1].message


def test_a_key_that_is_no_word():
    assert [f.code.value for f in parse("? [a]\n: b\nversion: 1\n").findings] == [
        "yaml_unsupported"
    ]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2024-01-02", "2024-01-02"),
        ("12:30", "12:30"),
        ("0x", "0x"),
        ("1" * 5000, "1" * 5000),
        ("'7'", "7"),
        ("7", 7),
        ("7.5", 7.5),
        ("yes", True),
        ("~", None),
        ("", None),
    ],
)
def test_scalars(written, value):
    assert parse(f"x: {written}\n").tree == {"x": value}


def test_keys_are_texts():
    assert parse("on: 1\n7: 2\n").tree == {"on": 1, "7": 2}


def test_byte_order_mark_and_crlf():
    parsed = parse("\ufeffa: 1\r\nb:\r\n- c\r\n")
    assert parsed.tree == {"a": 1, "b": ["c"]}
    assert parsed.marks.of(("b", 0)) == Place(3, 3)


def test_merge_keys_and_anchors():
    text = "base: &base {tier: eager, weight: 2}\na:\n  <<: *base\n  weight: 3\n"
    assert parse(text).tree == {
        "base": {"tier": "eager", "weight": 2},
        "a": {"tier": "eager", "weight": 3},
    }
    listed = "x: &x {a: 1, b: 1}\ny: &y {b: 2}\nz: {<<: [*x, *y], c: 3}\n"
    assert parse(listed).tree["z"] == {"a": 1, "b": 1, "c": 3}
    assert [f.code.value for f in parse("a: {<<: 7}\n").findings] == ["yaml_unsupported"]


def test_a_merged_key_is_placed_where_its_value_stands():
    parsed = parse("x: &x\n  a: 1\n  b: 1\ny: &y\n  b: 2\nz:\n  a: 0\n  <<: [*x, *y]\n")
    assert parsed.tree["z"] == {"a": 0, "b": 1}
    assert parsed.marks.of(("z", "a")) == Place(7, 3)
    assert parsed.marks.of(("z", "b")) == Place(3, 3)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("a",), Place(1, 1)),
        (("a", 0), Place(2, 3)),
        (("a", 0, "b"), Place(3, 3)),
        (("a", 0, "missing"), Place(2, 3)),
        (("a", 9), Place(1, 1)),
        (("nowhere",), Place(1, 1)),
    ],
)
def test_places(path, place):
    assert parse("a:\n- c: 1\n  b: 2\n").marks.of(path) == place
