"""From a /metrics body to an engine's activity."""

import timeit
from dataclasses import replace

import pytest

from gateway.fleet.health.evidence import Activity
from gateway.fleet.telemetry.activity import read_activity
from tests.support.captures import FOLDER

BODY = """# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 2.0
vllm:num_requests_waiting{engine="0",model_name="m"} 1.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"} 70.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="deferred"} 0.0
vllm:prompt_tokens_total{engine="0",model_name="m"} 300.0
vllm:prompt_tokens_created{engine="0",model_name="m"} 1.796e+09
vllm:prompt_tokens_by_source_total{engine="0",model_name="m",source="local_compute"} 300.0
vllm:generation_tokens_total{engine="0",model_name="m"} 40.0
vllm:generation_tokens_created{engine="0",model_name="m"} 1.796e+09
"""
ALL = Activity(2.0, 1.0, 300.0, 40.0)


def without(start: str) -> str:
    return "\n".join(line for line in BODY.split("\n") if not line.startswith(start))


@pytest.mark.parametrize(
    ("body", "activity"),
    [
        (BODY, ALL),
        (BODY.replace("\n", "\r\n"), ALL),
        (BODY.rstrip("\n"), ALL),
        (BODY + BODY.replace('engine="0"', 'engine="1"'), Activity(4.0, 2.0, 600.0, 80.0)),
        (BODY.replace('{engine="0",model_name="m"}', ""), ALL),
        (BODY.replace('"m"', '"a \\"b\\" {c} 9"'), ALL),
        (BODY.replace(".0\n", ".0 1796000000000\n"), ALL),
        (BODY + 'vllm:num_requests_running{engine="1"} NaN\n', ALL),
        (BODY + 'vllm:num_requests_running{engine="1"} +Inf\n', ALL),
        (BODY + 'vllm:num_requests_running{engine="1"} many\n', ALL),
        (BODY + 'vllm:num_requests_running{engine="1"\n', ALL),
        (BODY + "vllm:num_requests_running\n# EOF\n", ALL),
        (BODY + 'vllm:num_requests_running{engine="1"} 1', ALL),  # cut, perhaps from 12
        (BODY + BODY, ALL),
        (BODY.replace("_total{", "{"), ALL),
        (BODY + 'vllm:prompt_tokens{engine="0",model_name="m"} 7\n', ALL),
        (BODY + 'vllm:num_requests_swapped{engine="0"} 4\n', Activity(2.0, 5.0, 300.0, 40.0)),
    ],
)
def test_bodies(body: str, activity: Activity) -> None:
    assert read_activity(body) == activity


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\n\n",
        "<html>not found</html>",
        "# HELP vllm:num_requests_running Running.",
        without("vllm:num_requests_running"),
        without("vllm:num_requests_waiting{"),  # the reasons alone do not stand for it
        without("vllm:prompt_tokens_total"),
        without("vllm:generation_tokens_total"),
        BODY.replace(" 40.0", " NaN"),
        BODY.replace(" 300.0", " -Inf"),
        BODY.replace("vllm:", "sglang:"),
        BODY.replace("vllm:", "ray_vllm_"),
        BODY.replace(" 2.0", " -2.0"),
        # What one engine lacks was lost on the way: half of the sum would be a lie.
        BODY + 'vllm:num_requests_running{engine="1"} 1\n',
        BODY + BODY.replace('engine="0"', 'engine="1"').partition("vllm:generation")[0],
        BODY.replace(
            "vllm:generation_tokens_total{", 'vllm:generation_tokens_total{x="1",'
        ).replace('engine="0",model_name="m"} 40.0', 'engine="1"} 40.0'),
    ],
)
def test_bodies_without_one_of_the_families(body: str) -> None:
    assert read_activity(body) is None


@pytest.mark.parametrize(
    ("running", "waiting", "is_idle"),
    [(0.0, 0.0, True), (1.0, 0.0, False), (0.0, 1.0, False), (3.0, 2.0, False)],
)
def test_without_work_it_is_idle(running: float, waiting: float, is_idle: bool) -> None:
    assert Activity(running, waiting, 1.0, 1.0).is_idle == is_idle


def usage(*lines: str) -> Activity:
    seen = read_activity(BODY + "\n".join(lines) + "\n")
    assert seen is not None
    return seen


@pytest.mark.parametrize(
    ("lines", "ratio"),
    [
        ([], None),
        (['vllm:kv_cache_usage_perc{engine="0"} 0.25'], 0.25),
        (['vllm:gpu_cache_usage_perc{engine="0"} 0.5'], 0.5),  # before 0.10
        (
            [
                'vllm:kv_cache_usage_perc{engine="0"} 0.2',
                'vllm:kv_cache_usage_perc{engine="1"} 0.9',
            ],
            0.55,
        ),
        (
            [
                'vllm:kv_cache_usage_perc{engine="0"} 0.0',
                'vllm:kv_cache_usage_perc{engine="1"} 1.0',
                'vllm:cache_config_info{engine="0",kv_cache_size_tokens="3000"} 1',
                'vllm:cache_config_info{engine="1",kv_cache_size_tokens="1000"} 1',
            ],
            0.25,
        ),
        # 0.9 has both names, and one line of the new one for each of its API servers.
        (
            [
                'vllm:gpu_cache_usage_perc{engine="0"} 0.5',
                'vllm:kv_cache_usage_perc{engine="0",pid="71"} 0.2',
                'vllm:kv_cache_usage_perc{engine="0",pid="72"} 0.4',
            ],
            0.3,
        ),
        (["vllm:kv_cache_usage_perc NaN", "vllm:gpu_cache_usage_perc 0.5"], 0.5),
        (["vllm:kv_cache_usage_perc +Inf"], 1.0),
        (["vllm:kv_cache_usage_perc 1.0"], 1.0),
        (["vllm:kv_cache_usage_perc 87.5"], 0.875),  # percent after all
        (["vllm:kv_cache_usage_perc NaN"], None),
        (["vllm:kv_cache_usage_perc -1"], 0.0),
    ],
)
def test_kv_usage(lines: list[str], ratio: float | None) -> None:
    assert usage(*lines).kv_usage_ratio == pytest.approx(ratio)


def config(**labels: str) -> str:
    inside = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"vllm:cache_config_info{{{inside}}} 1.0"


PLAIN = {"block_size": "128", "num_gpu_blocks": "256", "mamba_block_size": "None"}


@pytest.mark.parametrize(
    ("lines", "tokens"),
    [
        ([], None),
        ([config(**PLAIN)], 32768),
        ([config(**PLAIN, kv_cache_size_tokens="30000")], 30000),
        ([config(**PLAIN, kv_cache_size_tokens="None")], 32768),
        # Data parallelism: the sum of all blocks is repeated for each engine.
        ([config(**PLAIN, engine="0"), config(**PLAIN, engine="1")], 32768),
        ([config(engine=str(n), kv_cache_size_tokens="30000") for n in range(2)], 60000),
        # Of one engine's two lines, from two API servers, one counts; an engine that does not
        # tell is like the others.
        (
            [
                config(engine="0", kv_cache_size_tokens="30000"),
                config(engine="0", kv_cache_size_tokens="30000", pid="2"),
                config(engine="1", kv_cache_size_tokens="None"),
            ],
            60000,
        ),
        ([config(block_size="128", num_gpu_blocks="None"), config(**PLAIN, engine="1")], 32768),
        ([config(**{**PLAIN, "mamba_block_size": "2048"}, kv_cache_size_tokens="9000")], 9000),
        ([config(**PLAIN, mamba_page_size_padded="1048576")], None),
        ([config(block_size="16", num_gpu_blocks="1000")], 16000),  # 0.8
        ([config(block_size="16", num_gpu_blocks="1e999")], None),
        ([config(block_size="16", num_gpu_blocks="-5")], None),
        # Hybrid models: the product says too much.
        ([config(**{**PLAIN, "mamba_block_size": "2048"})], None),
        ([config(block_size="None", num_gpu_blocks="256")], None),
        ([config(block_size="128", num_gpu_blocks="nan")], None),
    ],
)
def test_kv_capacity(lines: list[str], tokens: int | None) -> None:
    assert usage(*lines).kv_capacity_tokens == tokens


def test_preemptions_are_counted() -> None:
    assert usage('vllm:num_preemptions_total{engine="0"} 3.0').preemptions_total == 3.0


REAL = (FOLDER / "30_metrics_under_load.txt").read_text(encoding="utf-8")
LOADED = Activity(10.0, 2.0, 30071.0, 11562.0, 0.9843137254901961, 0.0, 32768)


def test_the_page_of_a_real_server() -> None:
    assert read_activity(REAL) == LOADED
    assert read_activity(REAL + "# EOF") == LOADED
    assert read_activity(REAL.replace("\n", "\r\n")) == LOADED


def test_a_cut_page_is_the_whole_truth_or_none() -> None:
    for cut in range(0, len(REAL), 97):
        seen = read_activity(REAL[:cut])
        assert seen is None or replace(seen, kv_capacity_tokens=32768) == LOADED


def test_two_engines_on_one_page() -> None:
    """Each family lists its engines one after the other, as the client library renders them."""
    lines: list[str] = []
    for line in REAL.splitlines(keepends=True):
        lines.append(line)
        if 'engine="0"' in line and not line.startswith("#"):
            lines.append(line.replace('engine="0"', 'engine="1"'))
    twice = Activity(20.0, 4.0, 60142.0, 23124.0, 0.9843137254901961, 0.0, 65536)
    assert read_activity("".join(lines)) == twice
    half = "".join(lines).partition('vllm:generation_tokens_total{engine="1"')[0]
    assert read_activity(half) is None


def test_a_large_page_costs_little() -> None:
    """The limit is fifty times what it takes, so that only another order of work fails."""
    best_s = min(timeit.repeat(lambda: read_activity(REAL), number=1, repeat=20))
    assert best_s < 0.01


V0 = """vllm:num_requests_running{model_name="m"} 3.0
vllm:num_requests_swapped{model_name="m"} 1.0
vllm:num_requests_waiting{model_name="m"} 2.0
vllm:gpu_cache_usage_perc{model_name="m"} 0.75
vllm:cpu_cache_usage_perc{model_name="m"} 0.25
vllm:num_preemptions_total{model_name="m"} 5.0
vllm:prompt_tokens_total{model_name="m"} 100.0
vllm:generation_tokens_total{model_name="m"} 50.0
vllm:iteration_tokens_total_count{model_name="m"} 9.0
vllm:cache_config_info{block_size="128",num_gpu_blocks="100",sliding_window="None"} 1.0
"""


def test_the_engine_before_v1_of_vllm_0_8() -> None:
    assert read_activity(V0) == Activity(3.0, 3.0, 100.0, 50.0, 0.75, 5.0, 12800)
