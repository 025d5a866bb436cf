"""Every rule of the routing file: one file that breaks it, where it is told, and how badly."""

import pytest

from gateway.config.codes import Code, Severity
from gateway.config.kinds import KINDS
from gateway.config.load import load_file, load_text

GOOD = """version: 1
backends:
  - name: a
    url: http://h:1
    served_name: m
    node: n
    npus: [0, 1]
    chip: 310P
    tensor_parallel: 2
    max_num_seqs: 4
    capture_sizes: [1, 4]
    max_model_len: 4096
  - name: b
    url: http://h:2
    served_name: m
    node: n
    npus: [2, 3]
    tier: eager
    max_num_seqs: 8
models:
  - name: public
    backends: [a, b]
"""


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def after_a(line: str) -> str:
    """GOOD with one more field at backend a."""
    return changed("    max_model_len: 4096\n", f"    max_model_len: 4096\n    {line}\n")


def with_model(lines: str) -> str:
    """GOOD with more fields at the model, or with more models."""
    return GOOD + lines


# code, text of the file, line, path
BROKEN = [
    (Code.EMPTY_FILE, "", 1, ""),
    (Code.EMPTY_FILE, "# only a comment\n", 1, ""),
    (Code.YAML_SYNTAX, changed("npus: [0, 1]", "npus: [0, 1"), 8, None),
    (Code.YAML_TAB, changed("    npus: [0, 1]", "\tnpus: [0, 1]"), 7, None),
    (Code.YAML_UNSUPPORTED, changed("node: n", "node: !!python/name:os.system"), 6, None),
    (Code.DUPLICATE_KEY, after_a("node: other"), 13, "backends[0].node"),
    (Code.NOT_A_MAPPING, "- a\n- b\n", 1, ""),
    (Code.UNKNOWN_FIELD, after_a("max_num_seq: 4"), 13, "backends[0].max_num_seq"),
    (Code.UNKNOWN_FIELD, GOOD + "model: x\n", 23, "model"),
    (Code.MISSING_FIELD, changed("    served_name: m\n", ""), 3, "backends[0].served_name"),
    (Code.WRONG_TYPE, changed("served_name: m", "served_name: 5"), 5, "backends[0].served_name"),
    (Code.WRONG_TYPE, changed("max_num_seqs: 4", "max_num_seqs: four"), 10, None),
    (Code.BAD_NUMBER, changed("max_num_seqs: 4", "max_num_seqs: 0"), 10, None),
    (Code.BAD_NUMBER, changed("npus: [0, 1]", "npus: [-1, 1]"), 7, "backends[0].npus[0]"),
    (Code.BAD_NUMBER, after_a("weight: 0"), 13, "backends[0].weight"),
    (Code.BAD_CHOICE, changed("chip: 310P", "chip: 910B"), 8, "backends[0].chip"),
    (Code.BAD_CHOICE, changed("tier: eager", "tier: turbo"), 18, "backends[1].tier"),
    (Code.BAD_TEXT, changed("served_name: m", "served_name: ' m'"), 5, None),
    (Code.BAD_BACKEND_NAME, changed("name: a", "name: a b"), 3, "backends[0].name"),
    (Code.BAD_MODEL_NAME, changed("name: public", f"name: {'x' * 5000}"), 21, "models[0].name"),
    (Code.BAD_URL, changed("http://h:1", "h:1"), 4, "backends[0].url"),
    (Code.BAD_URL, changed("http://h:1", "ftp://h:1"), 4, "backends[0].url"),
    (Code.BAD_URL, changed("http://h:1", "http://u:p@h:1"), 4, "backends[0].url"),
    (Code.BAD_URL, changed("http://h:1", "http://h:1?x=1"), 4, "backends[0].url"),
    (Code.BAD_URL, changed("http://h:1", "http://h:99999"), 4, "backends[0].url"),
    (Code.BAD_VARIABLE_NAME, after_a("api_key_env: sk-123"), 13, "backends[0].api_key_env"),
    (Code.INLINE_API_KEY, after_a("api_key: sk-123"), 13, "backends[0].api_key"),
    (Code.API_KEY_TWICE, after_a("api_key_env: A\n    api_key_file: f"), None, None),
    (Code.BACKEND_NAME_TWICE, changed("name: b\n", "name: a\n"), 13, "backends[1].name"),
    (Code.NPU_SHARED, changed("npus: [2, 3]", "npus: [1, 2]"), 17, None),
    (Code.NPU_TWICE, changed("npus: [2, 3]", "npus: [2, 2]"), 17, None),
    (Code.ADDRESS_TWICE, changed("http://h:2", "http://h:1/v1"), 14, "backends[1].url"),
    (Code.ADDRESS_SHARED, changed("http://h:2", "http://h:1/other"), 14, "backends[1].url"),
    (Code.TENSOR_PARALLEL_MISMATCH, changed("tensor_parallel: 2", "tensor_parallel: 4"), 9, None),
    (Code.BATCHED_TOKENS_TOO_FEW, after_a("max_num_batched_tokens: 2"), 13, None),
    (Code.TLS_KEY_WITHOUT_CERTIFICATE, after_a("tls: {key_file: k}"), 13, None),
    (Code.TLS_WITHOUT_HTTPS, after_a("tls: {ca_file: c}"), 13, "backends[0].tls"),
    (
        Code.TLS_UNVERIFIED,
        changed("http://h:1", "https://h:1").replace(
            "max_model_len: 4096\n", "max_model_len: 4096\n    tls: {verify: false}\n", 1
        ),
        13,
        "backends[0].tls.verify",
    ),
    (Code.CAPTURE_NOT_ASCENDING, changed("[1, 4]", "[4, 1]"), 11, None),
    (Code.CAPTURE_NOT_ASCENDING, changed("[1, 4]", "[1, 1, 4]"), 11, None),
    (Code.CAPTURE_UNKNOWN, changed("    capture_sizes: [1, 4]\n", ""), None, None),
    (
        Code.CAPTURE_ON_EAGER,
        changed("tier: eager", "tier: eager\n    capture_sizes: [8]"),
        19,
        None,
    ),
    (Code.CAPTURE_UNREACHABLE, changed("[1, 4]", "[4, 8]"), 11, None),
    (Code.CAPTURE_TOO_MANY, changed("[1, 4]", "[1, 2, 4]"), 11, "backends[0].capture_sizes"),
    (Code.SEQS_ABOVE_CAPTURE, changed("max_num_seqs: 4", "max_num_seqs: 8"), 10, None),
    (
        Code.SEQS_OFF_GRID,
        changed("    capture_sizes: [1, 4]\n", "").replace("max_num_seqs: 4", "max_num_seqs: 12"),
        10,
        "backends[0].max_num_seqs",
    ),
    (Code.NAME_COLLISION, with_model("    aliases: [public]\n"), 23, None),
    (Code.NAME_COLLISION, with_model("  - name: public\n    backends: [a]\n"), 23, None),
    (
        Code.NAME_COLLISION,
        with_model("    aliases: [x]\n  - {name: y, aliases: [x], backends: [a]}\n"),
        24,
        "models[1].aliases[0]",
    ),
    (Code.NAMES_DIFFER_IN_CASE, with_model("  - {name: Public, backends: [a]}\n"), 23, None),
    (Code.UNKNOWN_BACKEND, changed("[a, b]", "[a, c]"), 22, "models[0].backends[1]"),
    (Code.UNKNOWN_MODEL, with_model("    fallback_models: [none]\n"), 23, None),
    (Code.UNKNOWN_MODEL, GOOD + "default_model: none\n", 23, "default_model"),
    (Code.FALLBACK_TO_ITSELF, with_model("    fallback_models: [public]\n"), 23, None),
    (
        Code.FALLBACK_TWICE,
        with_model("    fallback_models: [x, x]\n  - {name: x, backends: [b]}\n"),
        23,
        None,
    ),
    (
        Code.FALLBACK_DISABLED,
        with_model("    fallback_models: [x]\n  - {name: x, backends: [b], enabled: false}\n"),
        23,
        None,
    ),
    (
        Code.DEFAULT_MODEL_DISABLED,
        with_model("  - {name: x, backends: [b], enabled: false}\ndefault_model: x\n"),
        24,
        "default_model",
    ),
    (Code.MODEL_WITHOUT_BACKENDS, changed("    backends: [a, b]\n", ""), 21, None),
    (Code.BACKENDS_AND_SELECTOR, with_model("    selector: {tier: eager}\n"), None, None),
    (
        Code.SELECTOR_MATCHES_NOTHING,
        changed("backends: [a, b]", "selector: {site: nowhere}"),
        22,
        "models[0].selector",
    ),
    (Code.BACKEND_TWICE_IN_MODEL, changed("[a, b]", "[a, a, b]"), 22, "models[0].backends[1]"),
    (
        Code.MODEL_ALL_DISABLED,
        changed("tier: eager", "tier: eager\n    enabled: false").replace("[a, b]", "[b]"),
        None,
        None,
    ),
    (Code.NOTHING_SERVED, with_model("    enabled: false\n"), None, None),
    (Code.BACKEND_UNUSED, changed("[a, b]", "[a]"), 13, None),
    (
        Code.ROOTS_DIFFER,
        after_a("root: /models/A").replace("tier: eager", "tier: eager\n    root: /models/B"),
        None,
        None,
    ),
    (Code.LIMIT_ABOVE_CONTEXT, with_model("    limits: {max_context_tokens: 9999}\n"), 23, None),
    (Code.TIMEOUT_TOO_SHORT, with_model("    timeouts: {first_byte_s: 1}\n"), 23, None),
    (Code.TIMEOUT_TOO_SHORT, with_model("    timeouts: {total_s: 20}\n"), 23, None),
    (Code.TIMEOUT_TOO_SHORT, with_model("    timeouts: {between_events_s: 2}\n"), 23, None),
    (
        Code.TIMEOUT_NEVER_REACHED,
        with_model("    timeouts: {total_s: 200, first_byte_s: 300}\n"),
        23,
        "models[0].timeouts.first_byte_s",
    ),
    (
        Code.CONTAINER_MISLEADS,
        after_a("container: vllm-ascend-qwen3").replace(
            "served_name: m", "served_name: qwen3.5-27b", 1
        ),
        13,
        "backends[0].container",
    ),
]


def test_the_good_file_has_no_problem() -> None:
    loaded = load_text(GOOD, "f.yaml")
    assert loaded.render() == ""
    assert loaded.config is not None


@pytest.mark.parametrize(
    ("code", "text", "line", "path"), BROKEN, ids=[f"{i}-{b[0]}" for i, b in enumerate(BROKEN)]
)
def test_a_broken_rule_is_told(code: Code, text: str, line: int | None, path: str | None) -> None:
    loaded = load_text(text, "f.yaml")
    found = [p for p in loaded.problems if p.code is code]
    assert found, loaded.render()
    problem = found[0]
    assert problem.severity is KINDS[code].severity
    assert (loaded.config is None) == bool(loaded.errors)
    if problem.severity is Severity.ERROR:
        assert loaded.config is None
    if line is not None:
        assert problem.line == line, loaded.render()
    if path is not None:
        assert problem.path == path
    assert problem.message
    assert problem.remedy
    assert problem.render().startswith(f"f.yaml:{problem.line}: {problem.severity}: ")


def test_the_rest_of_the_codes() -> None:
    assert set(Code) - {b[0] for b in BROKEN} == {
        Code.NOT_UTF8,
        Code.YAML_TOO_LARGE,
    }


def test_a_file_that_is_not_utf8(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "f.yaml"
    file.write_bytes(GOOD.replace("public", "模型").encode("gb18030"))
    loaded = load_file(file)
    assert [(p.code, p.line) for p in loaded.problems] == [(Code.NOT_UTF8, 21)]


def test_a_looping_anchor_is_stopped() -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}, *a{i - 1}]" for i in range(1, 30)]
    loaded = load_text("\n".join(lines), "f.yaml")
    assert Code.YAML_TOO_LARGE in [p.code for p in loaded.problems]


def test_all_problems_are_told_at_once() -> None:
    text = (
        GOOD.replace("http://h:2", "http://h:1")
        .replace("npus: [2, 3]", "npus: [1, 2]")
        .replace("max_num_seqs: 4", "max_num_seqs: 0")
        .replace("chip: 310P", "chip: X9")
        .replace("[a, b]", "[a, nobody]")
    )
    codes = {p.code for p in load_text(text, "f.yaml").problems}
    assert {
        Code.BAD_NUMBER,
        Code.BAD_CHOICE,
        Code.UNKNOWN_BACKEND,
        Code.ADDRESS_TWICE,
        Code.NPU_SHARED,
    } <= codes


def test_disabled_backends_are_part_of_no_conflict() -> None:
    text = GOOD.replace("http://h:2", "http://h:1").replace("npus: [2, 3]", "npus: [0, 1]")
    assert load_text(text, "f.yaml").config is None
    disabled = text.replace("tier: eager", "tier: eager\n    enabled: false")
    assert load_text(disabled, "f.yaml").config is not None


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_loopback_names_are_one_host(name: str) -> None:
    text = GOOD.replace("http://h:1", "http://127.0.0.1:5").replace(
        "http://h:2", f"http://{name}:5"
    )
    assert Code.ADDRESS_TWICE in [p.code for p in load_text(text, "f.yaml").problems]


def test_two_sizes_with_eight_sequences_load_with_a_warning() -> None:
    loaded = load_text(changed("max_num_seqs: 4", "max_num_seqs: 8"), "f.yaml")
    assert loaded.config is not None
    assert [p.code for p in loaded.problems] == [Code.SEQS_ABOVE_CAPTURE]


def test_a_misspelt_field_is_told_with_the_right_one() -> None:
    (problem,) = load_text(after_a("capture_size: [1]"), "f.yaml").errors
    assert "capture_sizes" in problem.message + problem.remedy
