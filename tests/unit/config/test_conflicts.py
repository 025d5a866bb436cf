import pytest

HEAD = """version: 1
models:
- {name: m, selector: {tier: eager}}
backends:
"""

CASES = {
    "name twice, also when one is disabled": """
- {name: a, url: "http://a:1", served_name: x, tier: eager}
- name: a # <- backend_name_twice
  url: http://a:2
  served_name: x
  tier: eager
  enabled: false
""",
    "name twice although the first entry can't be read": """
- {name: a, url: "nowhere", served_name: x, tier: eager} # <- bad_url
- {name: a, url: "http://a:2", served_name: x, tier: eager} # <- backend_name_twice
""",
    "npu twice in one backend": """
- name: a
  url: http://a:1
  served_name: x
  tier: eager
  npus:
  - 2
  - 2 # <- npu_twice
""",
    "npu shared on a named node": """
- {name: a, url: "http://a:1", served_name: x, tier: eager, node: n, npus: [0, 1]}
- name: b
  url: http://b:1
  served_name: x
  tier: eager
  node: N
  npus: [1, 2] # <- npu_shared
""",
    "npu shared on the host of the url": """
- {name: a, url: "http://127.0.0.1:1", served_name: x, tier: eager, npus: [0]}
- {name: b, url: "http://localhost:2", served_name: x, tier: eager, npus: [0]} # <- npu_shared
""",
    "three on one npu": """
- {name: a, url: "http://h:1", served_name: x, tier: eager, npus: [0]}
- {name: b, url: "http://h:2", served_name: x, tier: eager, npus: [0]} # <- npu_shared
- {name: c, url: "http://h:3", served_name: x, tier: eager, npus: [0]} # <- npu_shared npu_shared
""",
    "npus of other nodes, other npus and disabled backends are fine": """
- {name: a, url: "http://a:1", served_name: x, tier: eager, npus: [0, 1]}
- {name: b, url: "http://b:1", served_name: x, tier: eager, npus: [0, 1]}
- {name: c, url: "http://a:2", served_name: x, tier: eager, npus: [2, 3]}
- {name: d, url: "http://a:1", served_name: x, tier: eager, npus: [0, 1], enabled: false}
""",
    "address twice in other spellings": """
- {name: a, url: "http://localhost:1", served_name: x, tier: eager}
- {name: b, url: "http://127.0.0.1:1/v1/", served_name: x, tier: eager} # <- address_twice
""",
    "address twice: default port, upper case, ipv6 loopback": """
- {name: a, url: "http://H", served_name: x, tier: eager}
- {name: b, url: "http://h:80/", served_name: x, tier: eager} # <- address_twice
- {name: c, url: "http://[::1]:9", served_name: x, tier: eager}
- {name: d, url: "https://localhost:9", served_name: x, tier: eager} # <- address_twice
""",
    "address shared behind a reverse proxy": """
- {name: a, url: "http://h:1/one/v1", served_name: x, tier: eager}
- {name: b, url: "http://h:1/two", served_name: x, tier: eager} # <- address_shared
""",
    "other ports and disabled backends are fine": """
- {name: a, url: "http://h:1", served_name: x, tier: eager}
- {name: b, url: "http://h:2", served_name: x, tier: eager}
- {name: c, url: "http://h:1", served_name: x, tier: eager, enabled: false}
""",
    "a backend whose `enabled` can't be read is in no conflict": """
- {name: a, url: "http://h:1", served_name: x, tier: eager}
- {name: b, url: "http://h:1", served_name: x, tier: eager, enabled: maybe} # <- wrong_type
""",
}


@pytest.mark.parametrize("backends", CASES.values(), ids=CASES)
def test_conflicts(backends, load_marked):
    load_marked(HEAD + backends.lstrip("\n"))


def test_says_with_whom(load_marked):
    loaded = load_marked(HEAD + CASES["npu shared on a named node"].lstrip("\n"))
    problem = loaded.errors[0]
    assert problem.path == "backends[1].npus"
    assert "NPU 1 " in problem.message
    assert "'a'" in problem.message
    assert "enabled: false" in problem.remedy
