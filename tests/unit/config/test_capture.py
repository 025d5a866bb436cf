import pytest

from gateway.config.capture import concurrency_cap, default_capture_sizes
from gateway.config.schema import BackendConfig

HEAD = """version: 1
models: [{name: m, backends: [a]}]
backends:
- name: a
  url: http://a:1
  served_name: x
"""

CASES = {
    "[1,4] with 8 loads with a warning": """
  max_num_seqs: 8 # <- seqs_above_capture
  capture_sizes: [1, 4]
""",
    "largest size is max_num_seqs": """
  max_num_seqs: 8
  capture_sizes: [4, 8]
""",
    "sizes above max_num_seqs": """
  max_num_seqs: 12
  capture_sizes: [1, 8, 16] # <- capture_unreachable
""",
    "sizes without max_num_seqs": """
  capture_sizes: [1, 8, 16]
""",
    "unsorted": """
  capture_sizes:
  - 1
  - 8
  - 4 # <- capture_not_ascending
""",
    "repeated": """
  capture_sizes: [1, 4, 4] # <- capture_not_ascending
""",
    "zero": """
  capture_sizes: [0, 4] # <- bad_number
""",
    "three sizes on 310P with TP 2": """
  chip: 310P
  tensor_parallel: 2
  capture_sizes: [1, 2, 4] # <- capture_too_many
""",
    "three sizes on 310P with two NPUs": """
  chip: 310P
  npus: [0, 1]
  capture_sizes: [1, 2, 4] # <- capture_too_many
""",
    "two sizes on 310P with TP 2": """
  chip: 310P
  tensor_parallel: 2
  capture_sizes: [1, 4]
""",
    "many sizes on 310P with TP 1": """
  chip: 310P
  tensor_parallel: 1
  capture_sizes: [1, 2, 4, 8, 16]
""",
    "many sizes on A2 with TP 2": """
  chip: A2
  tensor_parallel: 2
  capture_sizes: [1, 2, 4]
""",
    "eager with sizes": """
  tier: eager
  max_num_seqs: 8
  capture_sizes: [1, 4] # <- capture_on_eager
""",
    "eager without sizes, off the grid": """
  tier: eager
  max_num_seqs: 12
""",
}

UNKNOWN = HEAD.replace("- name: a", "- name: a # <- capture_unknown")

UNKNOWN_CASES = {
    "graph without sizes, on the grid": """
  max_num_seqs: 16
""",
    "graph without sizes and max_num_seqs": """
  tier: graph
""",
    "off the grid by a few": """
  max_num_seqs: 12 # <- seqs_off_grid
""",
    "off the grid above 256": """
  max_num_seqs: 260 # <- seqs_off_grid
""",
    "above the largest default": """
  max_num_seqs: 600 # <- seqs_off_grid
""",
}


@pytest.mark.parametrize("fields", CASES.values(), ids=CASES)
def test_capture_rules(fields, load_marked):
    load_marked(HEAD + fields.lstrip("\n"))


@pytest.mark.parametrize("fields", UNKNOWN_CASES.values(), ids=UNKNOWN_CASES)
def test_capture_rules_without_sizes(fields, load_marked):
    load_marked(UNKNOWN + fields.lstrip("\n"))


def test_off_grid_says_what_to_use(load_marked):
    loaded = load_marked(UNKNOWN + UNKNOWN_CASES["off the grid by a few"].lstrip("\n"))
    problem = next(p for p in loaded.warnings if p.code == "seqs_off_grid")
    assert "9 to 12" in problem.message
    assert "Use 16 or 8" in problem.remedy


@pytest.mark.parametrize(
    ("seqs", "count", "tail"),
    [
        (1, 1, (1,)),
        (2, 2, (1, 2)),
        (3, 2, (1, 2)),
        (4, 3, (1, 2, 4)),
        (7, 3, (1, 2, 4)),
        (8, 4, (1, 2, 4, 8)),
        (12, 4, (1, 2, 4, 8)),
        (20, 5, (1, 2, 4, 8, 16)),
        (77, 12, (56, 64, 72)),
        (255, 34, (240, 248)),
        (256, 35, (240, 248, 256)),
        (271, 35, (248, 256)),
        (272, 36, (256, 272)),
        (300, 37, (272, 288)),
        (512, 51, (496, 512)),
        (9999, 51, (496, 512)),
    ],
)
def test_default_capture_sizes(seqs, count, tail):
    sizes = default_capture_sizes(seqs)
    assert sizes[-len(tail) :] == tail
    assert len(sizes) == count
    assert list(sizes) == sorted(set(sizes))


@pytest.mark.parametrize(
    ("fields", "cap"),
    [
        ({"capture_sizes": [1, 4], "max_num_seqs": 8}, (4, 8)),
        ({"capture_sizes": [1, 2, 4, 8], "max_num_seqs": 40}, (8, 40)),
        ({"capture_sizes": [1, 2, 4, 8, 16]}, (16, 256)),
        ({"capture_sizes": [1, 8, 16], "max_num_seqs": 12}, (8, 12)),
        ({"capture_sizes": [1, 4], "max_num_seqs": 4}, (4, 4)),
        ({"capture_sizes": [16], "max_num_seqs": 8}, (8, 8)),
        ({"max_num_seqs": 8}, (8, 8)),
        ({}, (256, 256)),
        ({"tier": "eager", "max_num_seqs": 8}, (8, 8)),
        ({"tier": "eager", "max_num_seqs": 8, "capture_sizes": [1, 4]}, (8, 8)),
        ({"tier": "eager"}, (256, 256)),
    ],
)
def test_concurrency_cap(fields, cap):
    backend = BackendConfig.model_validate(
        {"name": "a", "url": "http://a:1", "served_name": "x", **fields}
    )
    assert concurrency_cap(backend) == cap
