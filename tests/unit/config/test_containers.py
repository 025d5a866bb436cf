import pytest

from gateway.config.load import load_text

FILE = """version: 1
models:
- {{name: one, aliases: [gpt-4o-mini], backends: [a]}}
- {{name: two, aliases: [gpt-4o], selector: {{site: south}}}}
backends:
- name: a
  url: http://a:1
  tier: eager
  served_name: {served}
  root: {root}
  container: {container}
- {{name: b, url: "http://b:1", served_name: qwen3.5, tier: eager, labels: {{site: south}}}}
"""


@pytest.mark.parametrize(
    ("container", "served", "root", "reads_as"),
    [
        # the reference fleet
        ("vllm-ascend-qwen3", "qwen3.5-27b", "/models/qwen3.5-27B-w8a8", "qwen version 3"),
        ("vllm-ascend-qwen3.5-9b", "qwen3.5-27b", "/models/qwen3.5-27B-w8a8", "9B"),
        ("vllm-ascend-qwen3.5", "qwen3.5-9b", "/models/Qwen3.5-9B", "the other model 'qwen3.5'"),
        ("vllm-ascend-qwen3.5-9b", "qwen3.5-9b", "/models/Qwen3.5-9B", None),
        ("vllm-ascend-qwen3.5-27b", "qwen3.5-27b", "/models/qwen3.5-27B-w8a8", None),
        # names and aliases of other models
        ("gpt-4o", "qwen3.5-9b", "/m", "the other model 'gpt-4o'"),
        ("vllm-gpt-4o-mini", "qwen3.5-9b", "/m", None),
        ("one", "qwen3.5-9b", "/m", None),
        # families and versions
        ("llama3-server", "qwen3.5-9b", "/m", "family llama"),
        ("deepseek_v3", "deepseek-v3.1", "/m", "deepseek version 3"),
        ("Qwen3-8B", "qwen3-8b", "/x/Qwen3-8B-w8a8sc-310-vllm-tp2", None),
        ("qwen-8b", "qwen3-8b", "/m", None),
        ("qwen3.5-35b", "qwen3.5-35B-A3B-w8a8", "/m", None),
        ("qwen", "house-model", "/models/Qwen3.5-9B/", None),
        ("llama", "house-model", "/models/Qwen3.5-9B/", "family llama"),
        # nothing said, nothing wrong
        ("gw-1", "qwen3.5-9b", "/m", None),
        ("vllm-ascend", "qwen3.5-9b", "/m", None),
        ("qwen3.5-9b", "house-model", "/m", None),
    ],
)
def test_container_misleads(container, served, root, reads_as):
    text = FILE.format(container=container, served=served, root=root)
    found = [(p.line, p.code.value, p.message) for p in load_text(text, "f").problems]
    if reads_as is None:
        assert found == []
    else:
        assert [entry[:2] for entry in found] == [(11, "container_misleads")]
        assert reads_as in found[0][2]
        assert repr(served) in found[0][2]


MARKED = """version: 1
models: [{name: m, backends: [a]}]
backends:
- name: a
  url: http://a:1
  tier: eager
  served_name: qwen3.5-27b
  container: vllm-ascend-qwen3 # <- container_misleads
"""


def test_place(load_marked):
    assert load_marked(MARKED).warnings[0].path == "backends[0].container"
