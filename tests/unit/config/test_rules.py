"""Every rule of the routing file: one file that breaks it, where it is told, and how badly."""

from pathlib import Path

import pytest

from gateway.config.codes import AT_RUN_TIME, Code, Severity
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
BROKEN: list[tuple[Code, str | bytes, int, str]] = [
    (Code.NOT_UTF8, GOOD.replace("public", "模型").encode("gb18030"), 21, ""),
    (Code.YAML_TOO_LARGE, "a: &a [*a]\n", 1, ""),
    (Code.YAML_TOO_LARGE, "a: &a {<<: *a}\n", 1, ""),
    (Code.EMPTY_FILE, "", 1, ""),
    (Code.EMPTY_FILE, "# only a comment\n", 1, ""),
    (Code.YAML_SYNTAX, changed("npus: [0, 1]", "npus: [0, 1"), 8, ""),
    (Code.YAML_TAB, changed("    npus: [0, 1]", "\tnpus: [0, 1]"), 7, ""),
    (
        Code.YAML_UNSUPPORTED,
        changed("node: n", "node: !!python/name:os.system"),
        6,
        "backends[0].node",
    ),
    (Code.DUPLICATE_KEY, after_a("node: other"), 13, "backends[0].node"),
    (Code.NOT_A_MAPPING, "- a\n- b\n", 1, ""),
    (Code.UNKNOWN_FIELD, after_a("max_num_seq: 4"), 13, "backends[0].max_num_seq"),
    (Code.UNKNOWN_FIELD, GOOD + "model: x\n", 23, "model"),
    (Code.MISSING_FIELD, changed("    served_name: m\n", ""), 3, "backends[0].served_name"),
    (Code.WRONG_TYPE, changed("served_name: m", "served_name: 5"), 5, "backends[0].served_name"),
    (
        Code.WRONG_TYPE,
        changed("max_num_seqs: 4", "max_num_seqs: four"),
        10,
        "backends[0].max_num_seqs",
    ),
    (
        Code.BAD_NUMBER,
        changed("max_num_seqs: 4", "max_num_seqs: 0"),
        10,
        "backends[0].max_num_seqs",
    ),
    (Code.BAD_NUMBER, changed("npus: [0, 1]", "npus: [-1, 1]"), 7, "backends[0].npus[0]"),
    (Code.BAD_NUMBER, after_a("weight: 0"), 13, "backends[0].weight"),
    (Code.BAD_CHOICE, changed("chip: 310P", "chip: 910B"), 8, "backends[0].chip"),
    (Code.BAD_CHOICE, changed("tier: eager", "tier: turbo"), 18, "backends[1].tier"),
    (Code.BAD_TEXT, changed("served_name: m", "served_name: ' m'"), 5, "backends[0].served_name"),
    (Code.BAD_BACKEND_NAME, changed("name: a", "name: a b"), 3, "backends[0].name"),
    (Code.BAD_MODEL_NAME, changed("name: public", f"name: {'x' * 5000}"), 21, "models[0].name"),
    (Code.BAD_URL, changed("http://h:1", "h:1"), 4, "backends[0].url"),
    (Code.BAD_URL, changed("http://h:1", "ftp://h:1"), 4, "backends[0].url"),
    (Code.BAD_URL, changed("http://h:1", "http://u:p@h:1"), 4, "backends[0].url"),
    (Code.BAD_URL, changed("http://h:1", "http://h:1?x=1"), 4, "backends[0].url"),
    (Code.BAD_URL, changed("http://h:1", "http://h:99999"), 4, "backends[0].url"),
    (Code.BAD_VARIABLE_NAME, after_a("api_key_env: sk-123"), 13, "backends[0].api_key_env"),
    (Code.INLINE_API_KEY, after_a("api_key: sk-123"), 13, "backends[0].api_key"),
    (
        Code.API_KEY_TWICE,
        after_a("api_key_env: A\n    api_key_file: f"),
        14,
        "backends[0].api_key_file",
    ),
    (Code.BACKEND_NAME_TWICE, changed("name: b\n", "name: a\n"), 13, "backends[1].name"),
    (Code.NPU_SHARED, changed("npus: [2, 3]", "npus: [1, 2]"), 17, "backends[1].npus"),
    (Code.NPU_TWICE, changed("npus: [2, 3]", "npus: [2, 2]"), 17, "backends[1].npus[1]"),
    (Code.ADDRESS_TWICE, changed("http://h:2", "http://h:1/v1"), 14, "backends[1].url"),
    (Code.ADDRESS_SHARED, changed("http://h:2", "http://h:1/other"), 14, "backends[1].url"),
    (
        Code.TENSOR_PARALLEL_MISMATCH,
        changed("tensor_parallel: 2", "tensor_parallel: 4"),
        9,
        "backends[0].tensor_parallel",
    ),
    (
        Code.BATCHED_TOKENS_TOO_FEW,
        after_a("max_num_batched_tokens: 2"),
        13,
        "backends[0].max_num_batched_tokens",
    ),
    (
        Code.TLS_KEY_WITHOUT_CERTIFICATE,
        after_a("tls: {key_file: k}"),
        13,
        "backends[0].tls.key_file",
    ),
    (Code.TLS_WITHOUT_HTTPS, after_a("tls: {ca_file: c}"), 13, "backends[0].tls"),
    (
        Code.TLS_UNVERIFIED,
        changed("http://h:1", "https://h:1").replace(
            "max_model_len: 4096\n", "max_model_len: 4096\n    tls: {verify: false}\n", 1
        ),
        13,
        "backends[0].tls.verify",
    ),
    (Code.CAPTURE_NOT_ASCENDING, changed("[1, 4]", "[4, 1]"), 11, "backends[0].capture_sizes[1]"),
    (
        Code.CAPTURE_NOT_ASCENDING,
        changed("[1, 4]", "[1, 1, 4]"),
        11,
        "backends[0].capture_sizes[1]",
    ),
    (Code.CAPTURE_UNKNOWN, changed("    capture_sizes: [1, 4]\n", ""), 3, "backends[0]"),
    (
        Code.CAPTURE_ON_EAGER,
        changed("tier: eager", "tier: eager\n    capture_sizes: [8]"),
        19,
        "backends[1].capture_sizes",
    ),
    (Code.CAPTURE_UNREACHABLE, changed("[1, 4]", "[4, 8]"), 11, "backends[0].capture_sizes"),
    (Code.CAPTURE_TOO_MANY, changed("[1, 4]", "[1, 2, 4]"), 11, "backends[0].capture_sizes"),
    (
        Code.SEQS_ABOVE_CAPTURE,
        changed("max_num_seqs: 4", "max_num_seqs: 8"),
        10,
        "backends[0].max_num_seqs",
    ),
    (
        Code.SEQS_OFF_GRID,
        changed("    capture_sizes: [1, 4]\n", "").replace("max_num_seqs: 4", "max_num_seqs: 12"),
        10,
        "backends[0].max_num_seqs",
    ),
    (Code.NAME_COLLISION, with_model("    aliases: [public]\n"), 23, "models[0].aliases[0]"),
    (
        Code.NAME_COLLISION,
        with_model("  - name: public\n    backends: [a]\n"),
        23,
        "models[1].name",
    ),
    (
        Code.NAME_COLLISION,
        with_model("    aliases: [x]\n  - {name: y, aliases: [x], backends: [a]}\n"),
        24,
        "models[1].aliases[0]",
    ),
    (
        Code.NAMES_DIFFER_IN_CASE,
        with_model("  - {name: Public, backends: [a]}\n"),
        23,
        "models[1].name",
    ),
    (Code.UNKNOWN_BACKEND, changed("[a, b]", "[a, c]"), 22, "models[0].backends[1]"),
    (
        Code.UNKNOWN_MODEL,
        with_model("    fallback_models: [none]\n"),
        23,
        "models[0].fallback_models[0]",
    ),
    (Code.UNKNOWN_MODEL, GOOD + "default_model: none\n", 23, "default_model"),
    (
        Code.FALLBACK_TO_ITSELF,
        with_model("    fallback_models: [public]\n"),
        23,
        "models[0].fallback_models[0]",
    ),
    (
        Code.FALLBACK_TWICE,
        with_model("    fallback_models: [x, x]\n  - {name: x, backends: [b]}\n"),
        23,
        "models[0].fallback_models[1]",
    ),
    (
        Code.FALLBACK_DISABLED,
        with_model("    fallback_models: [x]\n  - {name: x, backends: [b], enabled: false}\n"),
        23,
        "models[0].fallback_models[0]",
    ),
    (
        Code.DEFAULT_MODEL_DISABLED,
        with_model("  - {name: x, backends: [b], enabled: false}\ndefault_model: x\n"),
        24,
        "default_model",
    ),
    (Code.MODEL_WITHOUT_BACKENDS, changed("    backends: [a, b]\n", ""), 21, "models[0]"),
    (
        Code.BACKENDS_AND_SELECTOR,
        with_model("    selector: {tier: eager}\n"),
        23,
        "models[0].selector",
    ),
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
        22,
        "models[0]",
    ),
    (Code.NOTHING_SERVED, with_model("    enabled: false\n"), 20, "models"),
    (Code.BACKEND_UNUSED, changed("[a, b]", "[a]"), 13, "backends[1]"),
    (
        Code.ROOTS_DIFFER,
        after_a("root: /models/A").replace("tier: eager", "tier: eager\n    root: /models/B"),
        23,
        "models[0]",
    ),
    (
        Code.LIMIT_ABOVE_CONTEXT,
        with_model("    limits: {max_context_tokens: 9999}\n"),
        23,
        "models[0].limits.max_context_tokens",
    ),
    (
        Code.TIMEOUT_TOO_SHORT,
        with_model("    timeouts: {first_byte_s: 1}\n"),
        23,
        "models[0].timeouts.first_byte_s",
    ),
    (
        Code.TIMEOUT_TOO_SHORT,
        with_model("    timeouts: {total_s: 20}\n"),
        23,
        "models[0].timeouts.total_s",
    ),
    (
        Code.TIMEOUT_TOO_SHORT,
        with_model("    timeouts: {between_events_s: 2}\n"),
        23,
        "models[0].timeouts.between_events_s",
    ),
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


# All other codes are errors.
WARNINGS = {
    Code.ADDRESS_SHARED,
    Code.BACKEND_UNUSED,
    Code.BATCHED_TOKENS_TOO_FEW,
    Code.CAPTURE_ON_EAGER,
    Code.CAPTURE_TOO_MANY,
    Code.CAPTURE_UNKNOWN,
    Code.CAPTURE_UNREACHABLE,
    Code.CONTAINER_MISLEADS,
    Code.FALLBACK_DISABLED,
    Code.FALLBACK_TWICE,
    Code.LIMIT_ABOVE_CONTEXT,
    Code.MODEL_ALL_DISABLED,
    Code.NAMES_DIFFER_IN_CASE,
    Code.NOTHING_SERVED,
    Code.ROOTS_DIFFER,
    Code.SEQS_ABOVE_CAPTURE,
    Code.SEQS_OFF_GRID,
    Code.TENSOR_PARALLEL_MISMATCH,
    Code.TIMEOUT_NEVER_REACHED,
    Code.TIMEOUT_TOO_SHORT,
    Code.TLS_UNVERIFIED,
    Code.TLS_WITHOUT_HTTPS,
}
# What else is true of such a file.
ALSO = {
    Code.BAD_BACKEND_NAME: [Code.UNKNOWN_BACKEND],
    Code.BACKEND_NAME_TWICE: [Code.UNKNOWN_BACKEND],
    Code.TLS_KEY_WITHOUT_CERTIFICATE: [Code.TLS_WITHOUT_HTTPS],
    Code.SEQS_OFF_GRID: [Code.CAPTURE_UNKNOWN],
    Code.UNKNOWN_BACKEND: [Code.BACKEND_UNUSED],
    Code.MODEL_WITHOUT_BACKENDS: [Code.BACKEND_UNUSED, Code.BACKEND_UNUSED],
    Code.SELECTOR_MATCHES_NOTHING: [Code.BACKEND_UNUSED, Code.BACKEND_UNUSED],
    Code.MODEL_ALL_DISABLED: [Code.BACKEND_UNUSED],
}


def test_the_good_file_has_no_problem() -> None:
    loaded = load_text(GOOD, "f.yaml")
    assert loaded.render() == ""
    assert loaded.config is not None


@pytest.mark.parametrize(
    ("code", "text", "line", "path"), BROKEN, ids=[f"{i}-{b[0]}" for i, b in enumerate(BROKEN)]
)
def test_a_broken_rule_is_told(
    code: Code, text: str | bytes, line: int, path: str, tmp_path: Path
) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    loaded = load_file(file)
    severity = Severity.WARNING if code in WARNINGS else Severity.ERROR
    assert sorted(p.code for p in loaded.problems) == sorted([code, *ALSO.get(code, [])])
    (problem,) = (p for p in loaded.problems if p.code is code)
    assert (problem.severity, problem.line, problem.path) == (severity, line, path)
    assert problem.message
    assert problem.remedy.endswith((".", "?"))
    assert problem.render().startswith(f"{file}:{line}: {severity}: ")
    is_refused = any(p.code not in WARNINGS for p in loaded.problems)
    assert (loaded.config is None) == is_refused


def test_every_code_is_in_the_table() -> None:
    assert {code for code, *_ in BROKEN} == set(Code) - AT_RUN_TIME
