"""/metrics has the families, types, labels and buckets of real vLLM, and counts what happens."""

import re
from collections.abc import Iterable

import pytest

from gateway.emulator.engine import Engine
from gateway.emulator.families import COUNTERS, GAUGES, HISTOGRAMS
from gateway.emulator.kv import TokenBlockHashes
from gateway.emulator.metrics import CONTENT_TYPE, Metrics
from gateway.emulator.records import EngineRequest, FixedLength
from gateway.emulator.spec import EngineSpec, StepCosts
from tests.support.captures import FOLDER
from tests.support.metrics import Samples

MODEL = "qwen3.5-27b"
COSTS = StepCosts(0.1, 0.01, 0.5, 0.05, prefill_tokens_per_s=100)
SPEC = EngineSpec(COSTS, capture_sizes=(1, 4), block_size=4, kv_tokens=400, max_num_seqs=2)
_SAMPLE = re.compile(r"^(?P<name>[\w:]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
# Labels whose values say what was asked, not what the server is.
_FREE = {"handler", "method", "status", "version", "implementation", "major", "minor"}
_FREE |= {"patchlevel", "generation"}


class Served:
    """An engine in virtual time whose steps are counted."""

    def __init__(self) -> None:
        self.metrics = Metrics(MODEL, SPEC, 300)
        self.engine = Engine(SPEC)
        self.now = 0.0

    def submit(self, name: str, prompt: list[int], length: int) -> None:
        hashes = TokenBlockHashes(prompt, SPEC.block_size)
        request = EngineRequest(name, len(prompt), FixedLength(length), hashes)
        self.metrics.on_submit(self.engine.submit(request, self.now), len(prompt))

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            result = self.engine.step(self.now)
            assert result is not None
            self.now = result.ended
            self.metrics.on_step(result, self.engine)

    def run(self) -> None:
        while not self.engine.idle:
            self.step()

    def samples(self) -> Samples:
        return Samples.parse(self.text())

    def text(self) -> str:
        return self.metrics.render().decode()


@pytest.fixture
def served() -> Served:
    return Served()


@pytest.fixture
def busy(served: Served) -> str:
    """The exposition after some requests."""
    served.submit("a", [1] * 9, 3)
    served.submit("b", [2] * 9, 300)
    served.step(5)
    served.metrics.on_http("POST", "/v1/chat/completions", 200, (100, 200), 0.5)
    return served.text()


def types(text: str) -> dict[str, str]:
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))


def helps(text: str) -> dict[str, str]:
    return dict(re.findall(r"^# HELP (\S+) (.+)$", text, re.MULTILINE))


def series(text: str) -> Iterable[tuple[str, dict[str, str]]]:
    for line in text.splitlines():
        if line and not line.startswith("#"):
            found = _SAMPLE.match(line)
            assert found is not None, line
            yield found["name"], dict(_LABEL.findall(found["labels"] or ""))


def shapes(text: str) -> set[tuple[str, tuple[str, ...]]]:
    """Each series with its labels as text; values that are free are left out."""
    return {
        (name, tuple(k if k in _FREE else f"{k}={v}" for k, v in labels.items()))
        for name, labels in series(text)
        if name != "vllm:cache_config_info"
    }


def captured() -> str:
    return (FOLDER / "30_metrics_under_load.txt").read_text()


def test_the_names_and_types_are_the_captured_ones(busy: str) -> None:
    lines = (FOLDER / "30_metric_names.txt").read_text().splitlines()
    names = dict(line.split() for line in lines if line.strip())
    assert len(names) > 40
    mine = {n: t for n, t in types(busy).items() if not n.startswith(("python_", "process_"))}
    assert {n: t for n, t in mine.items() if not n.endswith("_created")} == names


def test_types_and_helps_are_those_of_a_real_server_under_load(busy: str) -> None:
    assert types(busy) == types(captured())
    assert helps(busy) == helps(captured())


def test_series_labels_and_buckets_are_those_of_a_real_server_under_load(busy: str) -> None:
    mine, real = shapes(busy), shapes(captured())
    assert sorted(real - mine) == []
    assert sorted(mine - real) == []


def test_the_cache_configuration_has_the_same_labels(busy: str) -> None:
    def labels(text: str) -> dict[str, str]:
        return next(labels for name, labels in series(text) if name == "vllm:cache_config_info")

    mine, real = labels(busy), labels(captured())
    assert mine.keys() == real.keys()
    assert mine["num_gpu_blocks"] == "100"
    assert mine["block_size"] == "4"
    assert mine["kv_cache_size_tokens"] == "400"


def test_the_content_type_is_the_text_format() -> None:
    assert CONTENT_TYPE.startswith("text/plain; version=")


def test_every_family_is_there_before_the_first_request(served: Served) -> None:
    names = types(served.text())
    for family in (*COUNTERS, *GAUGES, *HISTOGRAMS):
        assert family.name in names
    samples = served.samples()
    for counter in COUNTERS:
        assert samples.total(counter.name) == 0
        for value in counter.values:
            assert (counter.name, value) in {
                (name, have.get(counter.label or "")) for name, have, _ in samples.samples
            }
    assert samples.total("vllm:engine_sleep_state", sleep_state="awake") == 1


def test_series_carry_the_engine_and_the_model(served: Served) -> None:
    for family in (*COUNTERS, *GAUGES):
        labels = [have for name, have, _ in served.samples().samples if name == family.name]
        assert labels
        assert all((have["engine"], have["model_name"]) == ("0", MODEL) for have in labels)


def test_gauges_change_only_when_the_engine_steps(served: Served) -> None:
    for name in "abc":
        served.submit(name, [ord(name)] * 8, 3)
    assert served.samples().total("vllm:num_requests_waiting") == 0
    served.step()
    samples = served.samples()
    assert samples.total("vllm:num_requests_running") == 2
    assert samples.total("vllm:num_requests_waiting") == 1
    assert samples.total("vllm:num_requests_waiting_by_reason", reason="capacity") == 1
    assert samples.total("vllm:kv_cache_usage_perc") == pytest.approx(4 / 99)
    assert (served.metrics.gauges.running, served.metrics.gauges.waiting) == (2, 1)
    served.engine.abort("a")
    served.metrics.on_abort()
    assert served.samples().total("vllm:num_requests_running") == 2
    served.run()
    samples = served.samples()
    assert samples.total("vllm:num_requests_running") == 0
    assert samples.total("vllm:kv_cache_usage_perc") == 0
    assert samples.total("vllm:request_success_total") == 2  # the client that left is no success


def test_tokens_are_counted(served: Served) -> None:
    served.submit("a", list(range(9)), 3)
    served.run()
    served.submit("b", list(range(9)), 2)
    served.run()
    samples = served.samples()
    assert samples.total("vllm:prompt_tokens_total") == 18
    assert samples.total("vllm:prompt_tokens_cached_total") == 8
    assert samples.total("vllm:prompt_tokens_by_source_total", source="local_compute") == 10
    assert samples.total("vllm:prompt_tokens_by_source_total", source="local_cache_hit") == 8
    assert samples.total("vllm:prompt_tokens_cached_by_source_total", source="device") == 8
    assert samples.total("vllm:prefix_cache_queries_total") == 18
    assert samples.total("vllm:prefix_cache_hits_total") == 8
    assert samples.total("vllm:generation_tokens_total") == 5
    assert samples.total("vllm:request_success_total", finished_reason="length") == 2
    assert samples.total("vllm:request_success_total") == 2
    assert samples.total("vllm:iteration_tokens_total_sum") == 10 + 5


def test_times_are_observed_in_seconds(served: Served) -> None:
    served.submit("a", [1] * 100, 3)  # a step of 1 s, then two of 0.11 s
    served.run()
    samples = served.samples()
    for name, expected in {
        "time_to_first_token_seconds": 1.0,
        "e2e_request_latency_seconds": 1.22,
        "request_queue_time_seconds": 0.0,
        "request_prefill_time_seconds": 1.0,
        "request_decode_time_seconds": 0.22,
        "request_inference_time_seconds": 1.22,
        "request_time_per_output_token_seconds": 0.11,
        "request_prompt_tokens": 100,
        "request_generation_tokens": 3,
        "request_prefill_kv_computed_tokens": 100,
    }.items():
        assert samples.total(f"vllm:{name}_count") == 1, name
        assert samples.total(f"vllm:{name}_sum") == pytest.approx(expected), name
    assert samples.total("vllm:inter_token_latency_seconds_count") == 2
    assert samples.total("vllm:inter_token_latency_seconds_sum") == pytest.approx(0.22)


def test_a_request_that_comes_in_while_the_plan_lags_waits_no_negative_time(
    served: Served,
) -> None:
    served.now = 100.0
    served.submit("a", [1], 2)
    served.now = 0.0  # the plan is behind the clock that stamped the arrival
    served.run()
    samples = served.samples()
    assert samples.total("vllm:time_to_first_token_seconds_sum") == 0
    assert samples.total("vllm:e2e_request_latency_seconds_sum") == 0


def test_preemptions_and_refusals_are_counted(served: Served) -> None:
    for name in "ab":
        served.submit(name, [ord(name)] * 100, 150)
    served.run()
    assert served.engine.totals.preemptions > 0
    samples = served.samples()
    assert samples.total("vllm:num_preemptions_total") == served.engine.totals.preemptions
    assert samples.total("vllm:request_num_preemptions_count") == 2
    served.metrics.on_rejected()
    text = "vllm:admission_rejections_total"
    assert served.samples().total(text, reason="max_num_queued_reqs") == 1


def test_answers_are_counted_except_those_that_only_look(served: Served) -> None:
    served.metrics.on_http("GET", "/metrics", 200, (0, 10), 0.1)
    served.metrics.on_http("POST", "/v1/completions", 404, (5, 10), 0.1)
    samples = served.samples()
    assert samples.total("http_requests_total") == 1
    assert samples.total("http_requests_total", status="4xx", handler="/v1/completions") == 1


def test_clients_that_leave_leave_nothing_behind(served: Served) -> None:
    for number in range(500):
        served.submit(str(number), [number], 50)
        served.step()
        served.engine.abort(str(number))
        served.metrics.on_abort()
    served.submit("last", [1], 3)
    served.run()
    assert len(served.metrics._last_token_at) <= 4 * 17
