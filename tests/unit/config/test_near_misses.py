"""What comes near each problem without being it, and what several mistakes give together."""

import pytest

from gateway.config.codes import AT_RUN_TIME, Code
from gateway.config.load import load_text

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
- {name: b, url: "http://h:2", served_name: m, node: n, npus: [2, 3], tier: eager}
models:
- name: public
  backends: [a, b]
"""
SECOND = "- {name: other, backends: [b]}\n"


def changed(*pairs: tuple[str, str]) -> str:
    text = GOOD
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def field(line: str) -> str:
    """GOOD with one more field at backend a."""
    return changed(("  max_model_len: 4096\n", f"  max_model_len: 4096\n  {line}\n"))


OFF = ("tier: eager", "tier: eager, enabled: false")

FINE = {
    Code.NOT_UTF8: [changed(("public", "模型-é"))],
    Code.EMPTY_FILE: ["# a comment first\n" + GOOD],
    Code.YAML_SYNTAX: [changed(("served_name: m\n", 'served_name: "m: [x"\n'))],
    Code.YAML_TAB: [changed(("version: 1", "version: 1 # a tab\tbetween"))],
    Code.YAML_TOO_LARGE: [field("labels: &x {a: b}") + "- {name: x, selector: *x}\n"],
    Code.YAML_UNSUPPORTED: [changed(("served_name: m\n", "served_name: !!str 7\n"))],
    Code.DUPLICATE_KEY: [field("labels: {name: a, url: b}")],
    Code.NOT_A_MAPPING: ["---\n" + GOOD, "{" + 'version: 1, backends: [], "models": []}'],
    Code.UNKNOWN_FIELD: [field("labels: {max_num_seq: any}")],
    Code.MISSING_FIELD: [changed(("  chip: 310P\n", "  chip:\n"))],
    Code.WRONG_TYPE: [field("weight: 2"), field("labels: {a: '1'}"), field("tls: ~")],
    Code.BAD_NUMBER: [field("weight: 0.001"), changed(("npus: [0, 1]", "npus: [9, 10]"))],
    Code.BAD_CHOICE: [changed(("chip: 310P", "chip: A3")), GOOD + "  endpoints: [chat]\n"],
    Code.BAD_TEXT: [changed(("served_name: m\n", "served_name: 'm  m'\n"))],
    Code.BAD_BACKEND_NAME: [changed(("name: a", "name: A.b_c-9"), ("[a, b]", "[A.b_c-9, b]"))],
    Code.BAD_MODEL_NAME: [changed(("name: public", f"name: {'x' * 512}"))],
    Code.BAD_URL: [changed(("http://h:1", "HTTPS://[::1]:65535/pre/v1/"))],
    Code.BAD_VARIABLE_NAME: [field("api_key_env: _Key9")],
    Code.INLINE_API_KEY: [field("api_key:"), field("api_key_env: KEY")],
    Code.API_KEY_TWICE: [field("api_key_file: /run/key")],
    Code.BACKEND_NAME_TWICE: [changed(("name: b", "name: A"), ("[a, b]", "[a, A]"))],
    Code.NPU_SHARED: [
        changed(("npus: [2, 3]", "npus: [0, 1]"), ("{name: b", "{card: c, name: b"), OFF),
        changed(
            ("npus: [2, 3]", "npus: [0, 1]"),
            ('"http://h:2", served_name: m, node: n', '"http://h:2", served_name: m, node: o'),
        ),
    ],
    Code.NPU_TWICE: [changed(("npus: [0, 1]", "npus: [1, 0]"))],
    Code.ADDRESS_TWICE: [
        changed(("http://h:2", "http://g:1")),
        changed(("http://h:2", "http://h:1"), OFF),
    ],
    Code.ADDRESS_SHARED: [changed(("http://h:2", "http://h:2/other"))],
    Code.TENSOR_PARALLEL_MISMATCH: [changed(("  npus: [0, 1]\n", ""))],
    Code.BATCHED_TOKENS_TOO_FEW: [field("max_num_batched_tokens: 4")],
    Code.CONTAINER_MISLEADS: [field("container: vllm-ascend-m"), field("container: gw-1")],
    Code.TLS_KEY_WITHOUT_CERTIFICATE: [
        changed(("http://h:1\n", "https://h:1\n  tls: {key_file: k, cert_file: c}\n"))
    ],
    Code.TLS_WITHOUT_HTTPS: [changed(("http://h:1\n", "https://h:1\n  tls: {ca_file: c}\n"))],
    Code.TLS_UNVERIFIED: [changed(("http://h:1\n", "https://h:1\n  tls: {verify: true}\n"))],
    Code.CAPTURE_NOT_ASCENDING: [changed(("[1, 4]", "[4]"))],
    Code.CAPTURE_UNKNOWN: [GOOD],
    Code.CAPTURE_ON_EAGER: [changed(("tier: eager", "tier: eager, capture_sizes: []"))],
    Code.CAPTURE_UNREACHABLE: [changed(("[1, 4]", "[2, 4]"))],
    Code.CAPTURE_TOO_MANY: [
        changed(("[1, 4]", "[1, 2, 4]"), ("chip: 310P", "chip: A2")),
        changed(("[1, 4]", "[1, 2, 4]"), ("parallel: 2", "parallel: 1"), ("[0, 1]", "[0]")),
    ],
    Code.SEQS_ABOVE_CAPTURE: [changed(("[1, 4]", "[1, 8]"), ("seqs: 4", "seqs: 8"))],
    Code.SEQS_OFF_GRID: [changed(("[1, 4]", "[1, 12]"), ("seqs: 4", "seqs: 12"))],
    Code.NAME_COLLISION: [
        GOOD + "  aliases: [x]\n- {name: y, enabled: false, aliases: [x], backends: [a]}\n"
    ],
    Code.NAMES_DIFFER_IN_CASE: [GOOD + "- {name: publics, backends: [b]}\n"],
    Code.UNKNOWN_BACKEND: [changed(OFF)],
    Code.UNKNOWN_MODEL: [GOOD + SECOND + "default_model: other\n"],
    Code.FALLBACK_TO_ITSELF: [GOOD + "  fallback_models: [other]\n" + SECOND],
    Code.FALLBACK_TWICE: [
        GOOD + "  fallback_models: [other, third]\n" + SECOND + "- {name: third, backends: [a]}\n"
    ],
    Code.FALLBACK_DISABLED: [
        GOOD + "  fallback_models: [other]\n" + SECOND.replace("[b]}", "[b], enabled: true}")
    ],
    Code.DEFAULT_MODEL_DISABLED: [GOOD + "default_model: public\n"],
    Code.MODEL_WITHOUT_BACKENDS: [changed(("backends: [a, b]", "selector: {node: n}"))],
    Code.BACKENDS_AND_SELECTOR: [GOOD + "  selector:\n"],
    Code.SELECTOR_MATCHES_NOTHING: [
        changed(("backends: [a, b]", "backends: [a]")) + "- {name: x, selector: {tier: eager}}\n"
    ],
    Code.BACKEND_TWICE_IN_MODEL: [
        GOOD + "- {name: x, backends: [{backend: a, served_name: lora}]}\n"
    ],
    Code.MODEL_ALL_DISABLED: [changed(OFF)],
    Code.NOTHING_SERVED: [GOOD + "- {name: x, backends: [a], enabled: false}\n"],
    Code.BACKEND_UNUSED: [changed(OFF, ("[a, b]", "[a]"))],
    Code.ROOTS_DIFFER: [field("root: /models/A")],
    Code.LIMIT_ABOVE_CONTEXT: [GOOD + "  limits: {max_context_tokens: 4096}\n"],
    Code.TIMEOUT_TOO_SHORT: [
        GOOD + "  timeouts: {first_byte_s: 66, between_events_s: 10, total_s: 89}\n"
    ],
    Code.TIMEOUT_NEVER_REACHED: [GOOD + "  timeouts: {total_s: 200, first_byte_s: 200}\n"],
}
# What a near miss may be told all the same.
SAID = {Code.NOT_A_MAPPING: {Code.NOTHING_SERVED}}


@pytest.mark.parametrize(
    ("code", "text"),
    [(code, text) for code, texts in FINE.items() for text in texts],
    ids=lambda value: value.value if isinstance(value, Code) else "",
)
def test_a_near_miss_is_fine(code: Code, text: str) -> None:
    loaded = load_text(text, "f.yaml")
    assert {p.code for p in loaded.problems} <= SAID.get(code, set()), loaded.render()
    assert loaded.config is not None


def test_every_code_has_a_near_miss() -> None:
    assert set(FINE) == set(Code) - AT_RUN_TIME


def test_all_problems_are_told_at_once() -> None:
    """Also what the wrong fields hide: rules run on whatever could be read."""
    text = """version: 1
version: 1
extra: 1
backends:
- name: a
  url: http://h:1
  served_name: m
  chip: X9
  npus: [0, 0]
  max_num_seqs: 0
  api_key: sk-1
- name: a
  url: http://h:1/v1
  npus: [0, -1]
- just a word
- {name: c, url: "h:1", served_name: m, tls: {verify: maybe}}
- {name: d, url: "http://h:1/v1/", served_name: m, npus: [0], capture_sizes: [4, 1]}
models:
- {name: x, aliases: [x], backends: [a, nobody], fallback_models: [x, gone]}
- {name: X, selector: {site: nowhere}, backends: [d]}
- {aliases: 7, backends: [a, a]}
default_model: none
"""
    loaded = load_text(text, "f.yaml")
    assert loaded.config is None
    assert [(p.line, p.code.value) for p in loaded.problems] == [
        (2, "duplicate_key"),
        (3, "unknown_field"),
        (5, "capture_unknown"),
        (8, "bad_choice"),
        (9, "npu_twice"),
        (10, "bad_number"),
        (11, "inline_api_key"),
        (12, "backend_name_twice"),
        (12, "missing_field"),
        (14, "bad_number"),
        (15, "wrong_type"),
        (16, "bad_url"),
        (16, "wrong_type"),
        (17, "address_twice"),
        (17, "npu_shared"),
        (17, "capture_not_ascending"),
        (19, "name_collision"),
        (19, "unknown_backend"),
        (19, "fallback_to_itself"),
        (19, "unknown_model"),
        (20, "names_differ_in_case"),
        (20, "backends_and_selector"),
        (21, "missing_field"),
        (21, "wrong_type"),
        (22, "unknown_model"),
    ], loaded.render()
    assert "sk-1" not in loaded.render()


def test_disabled_backends_are_part_of_no_conflict() -> None:
    clash = ("http://h:2", "http://h:1"), ("npus: [2, 3]", "npus: [0, 1]")
    assert load_text(changed(*clash), "f.yaml").config is None
    assert load_text(changed(*clash, OFF), "f.yaml").config is not None


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST.", "[0:0::1]"])
def test_loopback_names_are_one_host(name: str) -> None:
    text = changed(("http://h:1", "http://127.0.0.1:5"), ("http://h:2", f"http://{name}:5"))
    assert [p.code for p in load_text(text, "f.yaml").problems] == [Code.ADDRESS_TWICE]


def test_two_sizes_with_eight_sequences_load_with_a_warning() -> None:
    loaded = load_text(changed(("max_num_seqs: 4", "max_num_seqs: 8")), "f.yaml")
    assert loaded.config is not None
    assert [p.code for p in loaded.problems] == [Code.SEQS_ABOVE_CAPTURE]
