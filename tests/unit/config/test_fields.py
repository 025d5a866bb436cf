"""Each kind of value and what it refuses: the message names the value and the remedy mends it."""

import pytest

from gateway.config.load import load_text

BACKEND = """version: 1
models: [{{name: m, backends: [a]}}]
backends:
- name: a
  url: http://a:1
  served_name: x
  tier: eager
  {line}
"""
MODEL = """version: 1
backends: [{{name: a, url: "http://a:1", served_name: x, tier: eager}}]
models:
- name: m
  backends: [a]
  {line}
"""
TOP = """version: 1
backends: [{{name: a, url: "http://a:1", served_name: x, tier: eager}}]
models: [{{name: m, backends: [a]}}]
{line}
"""

CASES = [
    # file, line, code, path, part of message or remedy
    (BACKEND, "max_num_seqs: 0", "bad_number", "backends[0].max_num_seqs", "greater than 0"),
    (BACKEND, "max_num_seqs: -8", "bad_number", "backends[0].max_num_seqs", "-8"),
    (BACKEND, f"max_num_seqs: 1{'0' * 400}", "bad_number", "backends[0].max_num_seqs", "or less"),
    (BACKEND, f"max_model_len: {2**53 + 1}", "bad_number", "backends[0].max_model_len", "or less"),
    (BACKEND, f"npus: [{2**53 + 1}]", "bad_number", "backends[0].npus[0]", "or less"),
    (BACKEND, "max_num_seqs: 2.5", "wrong_type", "backends[0].max_num_seqs", "a whole number"),
    (BACKEND, "max_num_seqs: true", "wrong_type", "backends[0].max_num_seqs", "not true"),
    (BACKEND, "max_num_seqs: '8'", "wrong_type", "backends[0].max_num_seqs", "without quotes"),
    (BACKEND, "tensor_parallel: 0", "bad_number", "backends[0].tensor_parallel", "0 is"),
    (BACKEND, "max_model_len: 0", "bad_number", "backends[0].max_model_len", "0 is"),
    (BACKEND, "max_num_batched_tokens: -1", "bad_number", "backends[0].max_num_batched_tokens", ""),
    (BACKEND, "npus: [0, -1]", "bad_number", "backends[0].npus[1]", "0 or greater"),
    (BACKEND, "npus: 0,1", "wrong_type", "backends[0].npus", "a list"),
    (BACKEND, "weight: 0", "bad_number", "backends[0].weight", "greater than 0"),
    (BACKEND, "weight: -0.5", "bad_number", "backends[0].weight", "-0.5"),
    (BACKEND, "weight: .nan", "bad_number", "backends[0].weight", ""),
    (BACKEND, "weight: .inf", "bad_number", "backends[0].weight", "finite"),
    (BACKEND, "enabled: 'no'", "wrong_type", "backends[0].enabled", "true or false"),
    (BACKEND, "chip: 910B", "bad_choice", "backends[0].chip", "A2, A3"),
    (BACKEND, "labels: [a]", "wrong_type", "backends[0].labels", "a mapping, not a list"),
    (BACKEND, "labels: {site: 1}", "wrong_type", "backends[0].labels.site", "in quotes"),
    (BACKEND, "labels: {site: ''}", "bad_text", "backends[0].labels.site", "empty"),
    (BACKEND, 'labels: {site: " a"}', "bad_text", "backends[0].labels.site", "white space"),
    (BACKEND, 'labels: {site: "\\e[31m"}', "bad_text", "backends[0].labels.site", "control"),
    (BACKEND, "root: ''", "bad_text", "backends[0].root", "empty"),
    (BACKEND, 'container: "a "', "bad_text", "backends[0].container", "white space"),
    (BACKEND, 'card: "a\\u0007"', "bad_text", "backends[0].card", "control"),
    (BACKEND, 'card: "a\\x9b31m"', "bad_text", "backends[0].card", "control"),
    (BACKEND, "node: 7", "wrong_type", "backends[0].node", "in quotes"),
    (BACKEND, "api_key: sk-1", "inline_api_key", "backends[0].api_key", "api_key_env"),
    (BACKEND, "api_key_env: sk-1", "bad_variable_name", "backends[0].api_key_env", "never"),
    (BACKEND, "max_num_seq: 1", "unknown_field", "backends[0].max_num_seq", "'max_num_seqs'?"),
    (BACKEND, "tp: 1", "unknown_field", "backends[0].tp", "'tensor_parallel'?"),
    (BACKEND, "xyzzy: 1", "unknown_field", "backends[0].xyzzy", "Remove it"),
    (BACKEND, "tls: {ca_fle: x}", "unknown_field", "backends[0].tls.ca_fle", "'ca_file'?"),
    (BACKEND, "tls: on", "wrong_type", "backends[0].tls", "a mapping, not true"),
    (MODEL, "aliases: gpt-4o", "wrong_type", "models[0].aliases", "a list"),
    (MODEL, "aliases: [1]", "wrong_type", "models[0].aliases[0]", "in quotes"),
    (MODEL, "aliases: ['']", "bad_text", "models[0].aliases[0]", "empty"),
    (MODEL, f"aliases: [{'x' * 513}]", "bad_model_name", "models[0].aliases[0]", "at most 512"),
    (MODEL, "endpoints: [chta]", "bad_choice", "models[0].endpoints[0]", "'chat'?"),
    (MODEL, "limits: {max_body_bytes: 0}", "bad_number", "models[0].limits.max_body_bytes", ""),
    (MODEL, "limits: {max_body: 1}", "unknown_field", "models[0].limits.max_body", "max_body_b"),
    (MODEL, "timeouts: {connect: 1}", "unknown_field", "models[0].timeouts.connect", "connect_s"),
    (MODEL, "timeouts: {total_s: 0}", "bad_number", "models[0].timeouts.total_s", ""),
    (MODEL, "fallback: [m]", "unknown_field", "models[0].fallback", "'fallback_models'?"),
    (TOP, "endpoints: {tokenise: true}", "unknown_field", "endpoints.tokenise", "'tokenize'?"),
    (TOP, "endpoints: {chat: 1}", "wrong_type", "endpoints.chat", "true or false"),
    (TOP, "list_aliases: 1", "wrong_type", "list_aliases", "true or false"),
    (TOP, "modles: []", "unknown_field", "modles", "'models'?"),
    (TOP, "'strange key': 1", "unknown_field", "['strange key']", ""),
]


@pytest.mark.parametrize(("file", "line", "code", "path", "part"), CASES)
def test_refused(file, line, code, path, part):
    text = file.format(line=line)
    (problem,) = load_text(text, "f.yaml").problems
    number = text.splitlines().index(line if file is TOP else f"  {line}") + 1
    assert (problem.line, problem.code.value, problem.path) == (number, code, path)
    assert part in f"{problem.message} {problem.remedy}"


def test_a_key_in_the_file_is_not_repeated():
    rendered = load_text(BACKEND.format(line="api_key: sk-very-secret"), "f").render()
    assert "sk-very-secret" not in rendered
    rendered = load_text(BACKEND.format(line="api_key_env: sk-very-secret"), "f").render()
    assert "sk-very-secret" not in rendered
    rendered = load_text(BACKEND.format(line="api_key_env: 31415926"), "f").render()
    assert "31415926" not in rendered
    rendered = load_text(BACKEND.format(line="api_key_file: 31415926"), "f").render()
    assert "31415926" not in rendered


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("2", "bad_choice"),
        ("0", "bad_choice"),
        ("'1'", "wrong_type"),
        ("1.0", "wrong_type"),
        ("true", "wrong_type"),
        ("one", "wrong_type"),
        ("[1]", "wrong_type"),
        ("", "missing_field"),
    ],
)
def test_version(version, code):
    text = TOP.format(line="").replace("version: 1", f"version: {version}")
    assert [(p.line, p.code.value) for p in load_text(text, "f").problems] == [(1, code)]


MISSING = """version: 2 # <- bad_choice
backends:
- name: a # <- missing_field missing_field
- just a word # <- wrong_type
- url: http://b:1 # <- missing_field
  served_name: # <- missing_field
- {name: c, url: "http://c:1", served_name: x, tier: eager}
models:
- {backends: [c]} # <- missing_field
- name: m
  backends:
  - c
  - served_name: x # <- missing_field
"""


def test_missing_fields_hide_nothing(load_marked):
    loaded = load_marked(MISSING)
    assert {p.path for p in loaded.errors if p.code == "missing_field"} == {
        "backends[0].url",
        "backends[0].served_name",
        "backends[2].name",
        "backends[2].served_name",
        "models[0].name",
        "models[1].backends[1].backend",
    }


def test_missing_parts_of_the_file(load_marked):
    load_marked("list_aliases: true # <- missing_field missing_field missing_field\n")


def test_lists_that_are_none(load_marked):
    load_marked("version: 1\nbackends: {} # <- wrong_type\nmodels: 7 # <- wrong_type\n")


BLANKS = """version: 1
default_model:
backends:
- name: a
  url: http://a:1
  served_name: x
  tier: eager
  card:
  npus:
  labels:
  weight:
models:
- {name: m, backends: [a], selector: , limits: , timeouts: {total_s: }}
"""


def test_an_empty_field_counts_as_not_given(load_marked):
    backend = load_marked(BLANKS).config.backends[0]
    assert (backend.card, backend.npus, backend.weight) == (None, (), 1.0)
    assert dict(backend.labels) == {}
