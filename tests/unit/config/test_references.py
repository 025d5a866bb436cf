import pytest

HEAD = """version: 1
backends:
- {name: 9b-graph, url: "http://a:1", served_name: x, tier: eager, labels: {site: north}}
- {name: 9b-off, url: "http://a:2", served_name: x, tier: eager, enabled: false}
"""

CASES = {
    "unknown backend": """
models:
- name: m
  backends:
  - 9b-graph
  - 9b-grahp # <- unknown_backend
""",
    "unknown backend in a disabled model": """
models:
- {name: m, backends: [9b-graph]}
- {name: n, backends: [nobody], enabled: false} # <- unknown_backend
""",
    "backend twice in a model": """
models:
- name: m
  backends:
  - 9b-graph
  - {backend: 9b-graph, served_name: other} # <- backend_twice_in_model
""",
    "neither backends nor selector": """
models:
- {name: m, backends: [9b-graph]}
- name: n # <- model_without_backends
- {name: o, backends: []} # <- model_without_backends
- {name: p, selector: {}} # <- model_without_backends
""",
    "damaged backends are not called absent": """
models:
- {name: m, backends: [9b-graph]}
- {name: n, backends: [7]} # <- wrong_type
""",
    "backends and selector": """
models:
- name: m
  backends: [9b-graph]
  selector: {site: north} # <- backends_and_selector
""",
    "selectors": """
models:
- {name: label, selector: {site: north}}
- {name: tier, selector: {tier: eager, site: north}}
- {name: node, selector: {node: a}}
- name: nothing
  selector: {site: south} # <- selector_matches_nothing
- name: half
  selector: {site: north, tier: graph} # <- selector_matches_nothing
""",
    "all disabled": """
models:
- {name: m, backends: [9b-graph]}
- {name: n, backends: [9b-off]} # <- model_all_disabled
- {name: o, backends: [9b-off], enabled: false}
""",
    "fallbacks": """
models:
- name: m
  aliases: [mm]
  backends: [9b-graph]
  fallback_models:
  - n
  - n # <- fallback_twice
  - m # <- fallback_to_itself
  - mm # <- fallback_to_itself
  - nn # <- unknown_model
  - nobody # <- unknown_model
  - resting # <- fallback_disabled
- {name: n, aliases: [nn], backends: [9b-graph], fallback_models: [m]}
- {name: resting, backends: [9b-graph], enabled: false}
""",
    "default model": """
default_model: m
models:
- {name: m, backends: [9b-graph]}
""",
    "default model unknown": """
default_model: n # <- unknown_model
models:
- {name: m, backends: [9b-graph]}
""",
    "default model by its alias": """
default_model: alias # <- unknown_model
models:
- {name: m, backends: [9b-graph], aliases: [alias]}
""",
    "default model disabled": """
default_model: n # <- default_model_disabled
models:
- {name: m, backends: [9b-graph]}
- {name: n, backends: [9b-graph], enabled: false}
""",
    "unused backend": """
- {name: idle, url: "http://a:3", served_name: x, tier: eager} # <- backend_unused
models:
- {name: m, backends: [9b-graph]}
""",
    "nothing served": """
models: # <- nothing_served
- {name: m, backends: [9b-graph], enabled: false}
""",
}


@pytest.mark.parametrize("rest", CASES.values(), ids=CASES)
def test_references(rest, load_marked):
    load_marked(HEAD + rest.lstrip("\n"))


def test_names_the_near_one(load_marked):
    loaded = load_marked(HEAD + CASES["unknown backend"].lstrip("\n"))
    assert loaded.errors[0].remedy == "Did you mean '9b-graph'?"
    assert loaded.errors[0].path == "models[0].backends[1]"


def test_says_whose_alias_it_is(load_marked):
    loaded = load_marked(HEAD + CASES["default model by its alias"].lstrip("\n"))
    assert loaded.errors[0].remedy == "Write 'm' here."


def test_selector_problem_lists_the_labels(load_marked):
    loaded = load_marked(HEAD + CASES["selectors"].lstrip("\n"))
    assert "site: north" in loaded.errors[0].remedy
    assert "tier: eager" in loaded.errors[0].remedy
