from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.config.codes import Code, Severity
from gateway.config.kinds import KINDS
from gateway.config.load import load_file, load_text
from gateway.config.problems import Finding, path_text
from gateway.config.schema import BackendConfig, ModelConfig

GOOD = """version: 1
backends: [{name: a, url: "http://a:1", served_name: x, tier: eager}]
models: [{name: m, backends: [a]}]
"""
BAD = """version: 1
backends:
- {name: a, url: "http://a:1", served_name: x, tier: eager, capture_sizes: [1]}
models:
- {name: m, backends: [b]}
"""


def test_every_code_is_explained():
    assert set(KINDS) == set(Code)
    for kind in KINDS.values():
        for words in (kind.meaning, kind.remedy):
            assert words.en.endswith(".")
            assert words.zh.endswith("。")


def test_problems_come_in_order_of_line_with_all_they_need():
    loaded = load_text(BAD, "routes.yaml")
    assert [p.line for p in loaded.problems] == [3, 3, 5]
    assert loaded.config is None
    error = loaded.errors[0]
    assert error.render() == (
        "routes.yaml:5: error: models[0].backends[0]: there is no backend 'b' [unknown_backend]\n"
        "    Add it below backends. Known: a."
    )
    assert error.as_dict() == {
        "severity": "error",
        "code": "unknown_backend",
        "file": "routes.yaml",
        "line": 5,
        "column": 24,
        "path": "models[0].backends[0]",
        "message": "there is no backend 'b'",
        "remedy": "Add it below backends. Known: a.",
    }
    assert {p.code.value for p in loaded.warnings} == {"capture_on_eager", "backend_unused"}


def test_version_is_the_same_for_files_that_mean_the_same():
    one = load_text(GOOD, "f")
    other = load_text("# a comment\n" + GOOD.replace("version: 1", "version:   1"), "g")
    changed = load_text(GOOD.replace("http://a:1", "http://a:2"), "f")
    assert one.config == other.config
    assert one.version_hash == other.version_hash != changed.version_hash
    assert len(one.version_hash) == 12


def test_load_file(tmp_path: Path):
    file = tmp_path / "routes.yaml"
    file.write_text("\ufeff" + GOOD, encoding="utf-8")
    assert load_file(file).config is not None
    file.write_bytes(b"version: 1\n# caf\xe9\n")
    (problem,) = load_file(file).problems
    assert (problem.line, problem.code, problem.severity) == (2, Code.NOT_UTF8, Severity.ERROR)
    with pytest.raises(FileNotFoundError):
        load_file(tmp_path / "nothing.yaml")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("backends", 1, "npus"), "backends[1].npus"),
        (("a", "b c", 0), "a['b c'][0]"),
        (("", "x"), "[''].x"),
    ],
)
def test_path_text(path, text):
    assert path_text(path) == text


def test_severity_belongs_to_the_code():
    assert Finding(Code.NPU_SHARED, (), "m", "r").severity is Severity.ERROR
    assert Finding(Code.BACKEND_UNUSED, (), "m", "r").severity is Severity.WARNING


def test_each_error_is_told_once_whatever_else_is_wrong():
    broken = GOOD.replace("served_name: x", "served_name: 1").replace("[a]", "[a, zz]")
    codes = [p.code.value for p in load_text(broken, "f").problems]
    assert codes == ["wrong_type", "unknown_backend"]


UNHURRIED = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
PIECES = st.sampled_from(
    ["version: 1\n", "backends:\n", "models:\n", "- ", "  ", "name: a\n", "url: http://a:1\n",
     "served_name: x\n", "backends: [a]\n", "npus: [0, 0]\n", "&a ", "*a", "<<: ", "{", "}", "[",
     "]", ": ", ",", "\t", "\n", "!!x ", "? ", "~", "1e400", ".nan", "-1", "9" * 400,
     '"\\ud800"', "'", "#", "\x00", "\ud800", "timeouts: {total_s: 1}\n",
     "selector: {tier: eager}\n", "tls: 1\n"]
)  # fmt: skip


@UNHURRIED
@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60))
def test_any_text_gives_a_config_or_errors(text):
    loaded = load_text(text, "f.yaml")
    assert (loaded.config is None) == bool(loaded.errors)
    assert all(
        problem.line <= text.count("\n") + text.count("\r") + 3 for problem in loaded.problems
    )


ODD = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
ODD_VALUES = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
)


@UNHURRIED
@given(
    st.sampled_from(sorted(BackendConfig.model_fields)),
    st.sampled_from(sorted(ModelConfig.model_fields)),
    ODD_VALUES,
    ODD_VALUES,
)
def test_any_value_of_a_field_is_taken_or_told(in_backend, in_model, one, other):
    tree = yaml.safe_load(GOOD)
    tree["backends"][0][in_backend] = one
    tree["models"][0][in_model] = other
    loaded = load_text(yaml.safe_dump(tree), "f.yaml")
    assert (loaded.config is None) == bool(loaded.errors)
    loaded.render().encode()


def test_a_known_name_is_shown_only_when_it_can_be():
    text = """version: 1
backends:
- {name: "\\e[31m", url: "http://a:1", served_name: x}
- {name: "\\ud800", url: "http://a:2", served_name: x}
- {url: "http://a:3", served_name: x}
- {name: good, url: "http://a:4", served_name: x}
models: [{name: m, backends: [zzz]}]
"""
    remedies = [p.remedy for p in load_text(text, "f").problems if p.code is Code.UNKNOWN_BACKEND]
    assert remedies == ["Add it below backends. Known: good."]


def test_a_large_fleet_is_checked_in_one_go():
    """Many backends that have nothing in common are not compared two by two."""
    count = 1000
    lines = [
        f'- {{name: b{i}, url: "http://h{i}:1", served_name: x, tier: eager, npus: [0]}}'
        for i in range(count)
    ]
    tail = "models: [{name: m, selector: {tier: eager}}]"
    loaded = load_text("\n".join(["version: 1", "backends:", *lines, tail]), "f")
    assert loaded.render() == ""
    assert len(loaded.config.backends) == count
