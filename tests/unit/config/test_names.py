import pytest

HEAD = """version: 1
backends: [{name: a, url: "http://a:1", served_name: x, tier: eager}]
models:
"""

CASES = {
    "two models": """
- {name: m, backends: [a]}
- {name: m, backends: [a]} # <- name_collision
""",
    "alias and model, whichever comes first": """
- name: one
  aliases: [two] # <- name_collision
  backends: [a]
- {name: two, backends: [a]}
""",
    "alias and alias": """
- {name: one, aliases: [x], backends: [a]}
- {name: two, aliases: [y, x], backends: [a]} # <- name_collision
""",
    "alias twice, and alias like the own name": """
- {name: one, aliases: [x, x], backends: [a]} # <- name_collision
- {name: two, aliases: [two], backends: [a]} # <- name_collision
""",
    "a disabled model collides with nobody": """
- {name: m, aliases: [x], backends: [a]}
- {name: m, aliases: [x], backends: [a], enabled: false}
""",
    "names that differ in case coexist": """
- {name: DeepSeek-V3, backends: [a]}
- {name: deepseek-v3, backends: [a]} # <- names_differ_in_case
""",
    "full-width letters are the same in form": """
- {name: qwen, aliases: ["\uff51wen"], backends: [a]} # <- names_differ_in_case
""",
    "any text is a name": """
- {name: "通义千问-7B", aliases: ["acme/qwen3:8b", "50%", "a b"], backends: [a]}
""",
}


@pytest.mark.parametrize("models", CASES.values(), ids=CASES)
def test_names(models, load_marked):
    load_marked(HEAD + models.lstrip("\n"))
