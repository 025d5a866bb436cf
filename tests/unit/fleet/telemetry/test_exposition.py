"""Reading Prometheus' text format."""

import math

import pytest

from gateway.fleet.telemetry.activity import read_activity
from gateway.fleet.telemetry.exposition import samples

TEXT = """# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="qwen3.5-9b"} 2.0
vllm:num_requests_running{engine="1",model_name="qwen3.5-9b"} 3.0
vllm:num_requests_waiting{engine="0",model_name="qwen3.5-9b"} 1.0
vllm:num_requests_waiting{engine="1",model_name="qwen3.5-9b"} 0.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 7.0
vllm:prompt_tokens_total{engine="0",model_name="qwen3.5-9b"} 1.5e+06
vllm:prompt_tokens_created{engine="0",model_name="qwen3.5-9b"} 1.796e+09
vllm:prompt_tokens_total{engine="1",model_name="qwen3.5-9b"} 0.0
vllm:generation_tokens_total{engine="0",model_name="qwen3.5-9b"} 4096.0
vllm:generation_tokens_total{engine="1",model_name="qwen3.5-9b"} 0.0
process_start_time_seconds 1.79e+09
"""


def test_activity_sums_engines_and_knows_its_families() -> None:
    activity = read_activity(TEXT)
    assert activity is not None
    assert (activity.running, activity.waiting) == (5.0, 1.0)
    assert (activity.prompt_tokens, activity.generation_tokens) == (1.5e6, 4096.0)
    assert not activity.is_idle


@pytest.mark.parametrize(
    "gone",
    [
        "vllm:num_requests_running{",
        "vllm:num_requests_waiting{",
        "vllm:prompt_tokens_total",
        "vllm:generation_tokens_total",
    ],
)
def test_a_missing_family_is_no_activity(gone: str) -> None:
    kept = [line for line in TEXT.splitlines() if not line.startswith(gone)]
    assert read_activity("\n".join(kept)) is None


@pytest.mark.parametrize(
    ("line", "labels", "value"),
    [
        ("a 1", {}, 1.0),
        ("a{} 1", {}, 1.0),
        ('a{x="1"} 2.5 1796000000000', {"x": "1"}, 2.5),
        ('a{x="1",} 2', {"x": "1"}, 2.0),
        ('a{x="a b}c",y="\\"q\\\\\\n"} 3', {"x": "a b}c", "y": '"q\\\n'}, 3.0),
        ("a +Inf", {}, math.inf),
        ("a -Inf", {}, -math.inf),
        ("a 1e-3", {}, 0.001),
        ("a\t1\t2", {}, 1.0),
        ("a 1\r", {}, 1.0),
        ('a{x=""} 1', {"x": ""}, 1.0),
        ('a{x="é,=}"} 1', {"x": "é,=}"}, 1.0),
        ('a{ x = "1" , y = "2" } 1', {"x": "1", "y": "2"}, 1.0),
        ("a:b_total 1", {}, 1.0),
        ('a{x="1"} 3 # {trace="t"} 0.5', {"x": "1"}, 3.0),
        ('a{x="1"} 3 1796000000.5 # {trace="} 9"} 0.5 1.0', {"x": "1"}, 3.0),
        ('a {x="1"}2', {"x": "1"}, 2.0),
        ('a{x="\\t\\\\n"} 1', {"x": "t\\n"}, 1.0),
        ("a .5", {}, 0.5),
        ("a 5.", {}, 5.0),
        ("a +1e+06 -5", {}, 1e6),
        ("a 1   ", {}, 1.0),
    ],
)
def test_one_line(line: str, labels: dict[str, str], value: float) -> None:
    name = line.split("{")[0].split()[0]
    (sample,) = samples(line + "\n", (name,))
    assert sample.name == name
    assert (sample.labels, sample.value) == (labels, value)


@pytest.mark.parametrize(
    "line",
    [
        "a",
        "a ",
        "a{",
        'a{x="1"',
        'a{x="1} 2',
        "a{}",
        "a one",
        "# a 1",
        "b 1",
        "",
        "a1",
        "ab 1",
        "a_b{} 1",
        "a 1_000",
        "a ١",
        "a 0x10",
        "a 1 2 3",
        "a 1 later",
        "a 1.2.3",
        "a 1e",
        "a infinity",
        'a{x="1"y="2"} 1',
        "a{x} 1",
        "a{x=1} 1",
        'a{x="1",,} 1',
        "a 1" + "0" * 5000,
    ],
)
def test_what_cannot_be_read_is_skipped(line: str) -> None:
    assert list(samples(line + "\n", ("a",))) == []


@pytest.mark.parametrize("cut", range(len("a 12345\n")))
def test_a_last_line_that_was_cut_is_no_number(cut: int) -> None:
    assert [one.value for one in samples("a 1\n" + "a 12345\n"[:cut], ("a",))] == [1.0]


def test_families_come_whole_and_in_the_order_they_are_wanted() -> None:
    found = samples("a 1\nb 2\na 3\nab 4\n", ("b", "a"))
    assert [(one.name, one.value) for one in found] == [("b", 2.0), ("a", 1.0), ("a", 3.0)]


def test_nan_is_a_value_that_counts_for_nothing() -> None:
    assert read_activity(TEXT.replace("4096.0", "NaN")) is None


def test_broken_lines_cost_only_themselves() -> None:
    text = 'a 1\na{x="\na{y="2"} 2\nb 9\na NaN\nab 3\n'
    found = list(samples(text, ("a",)))
    assert [one.name for one in found] == ["a", "a", "a"]
    assert [one.value for one in found if not math.isnan(one.value)] == [1.0, 2.0]


@pytest.mark.parametrize("filler", [" ", "x", '"', "{", "\\", '"",', 'a="b",', "0", "\t#"])
@pytest.mark.parametrize("frame", ["a{%s} 1\n", "a %s\n", 'a{x="%s"} 1\n', "a 1 %s\n"])
def test_long_nonsense_is_no_work(filler: str, frame: str) -> None:
    """Quadratic work would take minutes here, and the suite's limit is far below."""
    assert len(list(samples(frame % (filler * 400_000), ("a",)))) <= 1
