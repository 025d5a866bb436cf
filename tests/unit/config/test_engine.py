import pytest

HEAD = """version: 1
models: [{name: m, backends: [a]}]
backends:
- name: a
  served_name: x
  tier: eager
"""

CASES = {
    "tp and npus differ": """
  url: http://a:1
  npus: [0, 1]
  tensor_parallel: 4 # <- tensor_parallel_mismatch
""",
    "tp and npus agree": """
  url: http://a:1
  npus: [0, 1]
  tensor_parallel: 2
""",
    "tp without npus": """
  url: http://a:1
  tensor_parallel: 2
""",
    "batched tokens below seqs": """
  url: http://a:1
  max_num_seqs: 64
  max_num_batched_tokens: 32 # <- batched_tokens_too_few
""",
    "batched tokens": """
  url: http://a:1
  max_num_seqs: 64
  max_num_batched_tokens: 64
""",
    "key twice": """
  url: http://a:1
  api_key_env: KEY
  api_key_file: /run/key # <- api_key_twice
""",
    "key from a variable": """
  url: http://a:1
  api_key_env: KEY
""",
    "tls key without certificate": """
  url: https://a:1
  tls:
    key_file: k.pem # <- tls_key_without_certificate
""",
    "tls on http": """
  url: http://a:1
  tls: {ca_file: ca.pem} # <- tls_without_https
""",
    "tls unverified": """
  url: https://a:1
  tls:
    verify: false # <- tls_unverified
""",
    "tls with everything": """
  url: https://a:1
  tls: {ca_file: ca.pem, cert_file: c.pem, key_file: k.pem, server_name: n, verify: true}
""",
    "tls with blanks": """
  url: https://a:1
  tls: {ca_file: , cert_file: , verify: }
""",
}


@pytest.mark.parametrize("fields", CASES.values(), ids=CASES)
def test_one_backend(fields, load_marked):
    load_marked(HEAD + fields.lstrip("\n"))


SEVERAL = {
    "roots differ": """
- {name: a, url: "http://a:1", served_name: x, tier: eager, root: /models/A}
- {name: b, url: "http://b:1", served_name: x, tier: eager, root: /models/B}
models:
- {name: m, backends: [a, b]} # <- roots_differ
""",
    "roots are the same but for a slash, unknown, or of a disabled backend": """
- {name: a, url: "http://a:1", served_name: x, tier: eager, root: /models/A}
- {name: b, url: "http://b:1", served_name: x, tier: eager, root: /models/A/}
- {name: c, url: "http://c:1", served_name: x, tier: eager}
- {name: d, url: "http://d:1", served_name: x, tier: eager, root: /models/D, enabled: false}
models:
- {name: m, backends: [a, b, c, d]}
""",
    "limit above the context of one": """
- {name: a, url: "http://a:1", served_name: x, tier: eager, max_model_len: 4096}
- {name: b, url: "http://b:1", served_name: x, tier: eager, max_model_len: 8192}
models:
- name: m
  backends: [a, b]
  limits:
    max_context_tokens: 8192 # <- limit_above_context
- {name: n, backends: [a, b], limits: {max_context_tokens: 4096}}
""",
}


@pytest.mark.parametrize("rest", SEVERAL.values(), ids=SEVERAL)
def test_backends_of_a_model(rest, load_marked):
    load_marked("version: 1\nbackends:\n" + rest.lstrip("\n"))
