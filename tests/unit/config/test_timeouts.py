import pytest

from gateway.config.schema import BackendConfig, Tier, Timeouts
from gateway.config.timeouts import (
    PhaseTimeouts,
    decode_speed,
    effective_timeouts,
    phase_defaults,
)

FILE = """version: 1
backends:
- name: fast
  url: http://a:1
  served_name: qwen3.5-9b
  chip: 310P
  capture_sizes: [1, 4]
  max_model_len: 53248
- name: slow
  url: http://a:2
  served_name: qwen3.5-27b
  chip: 310P
  capture_sizes: [1, 4]
  max_model_len: 40960
- {name: eager, url: "http://a:3", served_name: qwen3.5-9b, tier: eager}
- {name: a2, url: "http://a:4", served_name: qwen3.5-9b, chip: A2, capture_sizes: [8]}
models:
"""

CASES = {
    "all too short": """
- name: m
  backends: [fast, slow, eager, a2]
  timeouts:
    first_byte_s: 60 # <- timeout_too_short
    between_events_s: 5 # <- timeout_too_short
    total_s: 60 # <- timeout_too_short
""",
    "60 s is enough for the 9B's 512 tokens, not for the others": """
- {name: m, backends: [fast, a2], timeouts: {total_s: 60}}
- name: n
  backends: [slow]
  timeouts: {total_s: 60} # <- timeout_too_short
- name: o
  backends: [eager]
  timeouts: {total_s: 60} # <- timeout_too_short
""",
    "long enough": """
- name: m
  backends: [fast, slow, eager, a2]
  timeouts: {connect_s: 0.1, first_byte_s: 110, between_events_s: 10, total_s: 120}
""",
    "no figures for other chips": """
- {name: m, backends: [a2], timeouts: {first_byte_s: 1, between_events_s: 1, total_s: 1}}
- {name: n, backends: [fast, slow, eager]}
""",
    "just too short": """
- {name: all, backends: [fast, slow, eager, a2]}
- name: m # 32768 tokens, since max_model_len is not given: 65.5 s
  backends: [eager]
  timeouts:
    first_byte_s: 65 # <- timeout_too_short
    between_events_s: 9.9 # <- timeout_too_short
    total_s: 88 # <- timeout_too_short
""",
    "never reached": """
- name: m
  backends: [fast, slow, eager, a2]
  timeouts:
    total_s: 200
    first_byte_s: 300 # <- timeout_never_reached
    between_events_s: 201 # <- timeout_never_reached
""",
    "impossible": """
- name: m
  backends: [fast, slow, eager, a2]
  timeouts:
    connect_s: 0 # <- bad_number
    total_s: -1 # <- bad_number
    first_byte_s: .inf # <- bad_number
    between_events_s: "10" # <- wrong_type
""",
}


@pytest.mark.parametrize("models", CASES.values(), ids=CASES)
def test_timeout_rules(models, load_marked):
    load_marked(FILE + models.lstrip("\n"))


@pytest.mark.parametrize(
    ("tier", "is_stream", "expected"),
    [
        (Tier.GRAPH, True, PhaseTimeouts(5, 300, 60, 3600)),
        (Tier.EAGER, True, PhaseTimeouts(5, 300, 120, 3600)),
        (Tier.GRAPH, False, PhaseTimeouts(5, 3600, 60, 3600)),
    ],
)
def test_phase_defaults(tier, is_stream, expected):
    assert phase_defaults(tier, is_stream=is_stream) == expected


@pytest.mark.parametrize(
    ("given", "tier", "stream", "whole"),
    [
        # what holds for a stream, and for an answer that comes whole
        ({}, "graph", (5, 300, 60, 3600), (5, 3600, 60, 3600)),
        ({}, "eager", (5, 300, 120, 3600), (5, 3600, 120, 3600)),
        ({"connect_s": 1}, "graph", (1, 300, 60, 3600), (1, 3600, 60, 3600)),
        ({"between_events_s": 30}, "eager", (5, 300, 30, 3600), (5, 3600, 30, 3600)),
        # an explicit first_byte_s applies to both alike
        ({"first_byte_s": 7}, "graph", (5, 7, 60, 3600), (5, 7, 60, 3600)),
        ({"first_byte_s": 7, "total_s": 900}, "graph", (5, 7, 60, 900), (5, 7, 60, 900)),
        ({"first_byte_s": 900}, "eager", (5, 900, 120, 3600), (5, 900, 120, 3600)),
        # without one, the whole answer has total_s
        ({"total_s": 900}, "graph", (5, 300, 60, 900), (5, 900, 60, 900)),
        ({"total_s": 7200}, "eager", (5, 300, 120, 7200), (5, 7200, 120, 7200)),
        (
            {"connect_s": 1, "first_byte_s": 2, "between_events_s": 3, "total_s": 4},
            "eager",
            (1, 2, 3, 4),
            (1, 2, 3, 4),
        ),
    ],
)
def test_effective_timeouts(given, tier, stream, whole):
    limits = Timeouts(**given)
    assert effective_timeouts(limits, Tier(tier)) == PhaseTimeouts(*stream)
    assert effective_timeouts(limits, Tier(tier), is_stream=False) == PhaseTimeouts(*whole)


@pytest.mark.parametrize(
    ("served", "root", "tier", "speed"),
    [
        ("qwen3.5-9b", None, "graph", 17.0),
        ("qwen3.5-9b", None, "eager", 5.8),
        ("qwen3.5-27b", None, "graph", 4.5),
        ("qwen3.5-27b", None, "eager", 4.5),
        ("house", "/models/qwen3.5-27B-w8a8", "graph", 4.5),
        ("house", None, "graph", 17.0),
        ("qwen3.5-35B-A3B", None, "graph", 4.5),
    ],
)
def test_decode_speed(served, root, tier, speed):
    backend = BackendConfig(
        name="a", url="http://a:1", served_name=served, root=root, tier=Tier(tier)
    )
    assert decode_speed(backend) == speed
