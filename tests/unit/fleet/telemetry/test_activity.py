"""From a /metrics body to an engine's activity."""

import pytest

from gateway.fleet.health.evidence import Activity
from gateway.fleet.telemetry.activity import read_activity

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
        # A body that was cut in its last number is read as it stands, and the next look mends it.
        (BODY + 'vllm:num_requests_running{engine="1"} 1', Activity(3.0, 1.0, 300.0, 40.0)),
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
        ([], 0.0),
        (['vllm:kv_cache_usage_perc{engine="0"} 0.25'], 0.25),
        (['vllm:gpu_cache_usage_perc{engine="0"} 0.5'], 0.5),  # before 0.10
        (
            [
                'vllm:kv_cache_usage_perc{engine="0"} 0.2',
                'vllm:kv_cache_usage_perc{engine="1"} 0.9',
            ],
            0.9,
        ),
        (["vllm:kv_cache_usage_perc 1.0"], 1.0),
        (["vllm:kv_cache_usage_perc 87.5"], 0.875),  # percent after all
        (["vllm:kv_cache_usage_perc NaN"], 0.0),
        (["vllm:kv_cache_usage_perc -1"], 0.0),
    ],
)
def test_kv_usage(lines: list[str], ratio: float) -> None:
    assert usage(*lines).kv_usage_ratio == ratio


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
