"""/metrics of one backend: the families of real vLLM with live values."""

from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from gateway.emulator.cache_config import cache_config_labels
from gateway.emulator.engine import Engine
from gateway.emulator.families import COUNTERS, GAUGES, HISTOGRAMS, Family
from gateway.emulator.http_metrics import HttpMetrics
from gateway.emulator.records import Sequence, StepResult
from gateway.emulator.spec import EngineSpec

CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Gauges:
    """What the gauges said after the last step; they keep it while the engine stands still."""

    running: int = 0
    waiting: int = 0
    kv_usage_ratio: float = 0.0


class Metrics:
    """Counts what a backend does. `model_name` is the first served name, never an alias."""

    def __init__(self, model_name: str, engine: EngineSpec, max_model_len: int) -> None:
        self._registry = CollectorRegistry()
        GCCollector(self._registry)
        PlatformCollector(self._registry)
        ProcessCollector(registry=self._registry)
        self._labels = {"engine": "0", "model_name": model_name}
        self._counters = {family.name: self._counter(family) for family in COUNTERS}
        self._gauges = {family.name: self._gauge(family) for family in GAUGES}
        self._histograms = {
            family.name: Histogram(
                family.name,
                family.text,
                tuple(self._labels),
                buckets=family.bounds,
                registry=self._registry,
            ).labels(**self._labels)
            for family in HISTOGRAMS
        }
        self._rejections = self._rejection_counter(model_name)
        self._cache_config(engine, max_model_len)
        self._http = HttpMetrics(self._registry)
        self._tool_calls(model_name)
        self._last_token_at: dict[str, float] = {}
        self._hits = 0
        self._gauges["vllm:engine_sleep_state"]["awake"].set(1)
        self.gauges = Gauges()

    def render(self) -> bytes:
        """The exposition text."""
        return generate_latest(self._registry)

    def on_submit(self, sequence: Sequence, prompt_tokens: int) -> None:
        """Nothing is counted before the engine steps, as in vLLM."""

    def on_abort(self) -> None:
        """Nothing: on vLLM 0.32 the abort counter stays 0 for clients that leave."""

    def on_step(self, result: StepResult, engine: Engine) -> None:
        """Count one step and set the gauges."""
        self._set_gauges(engine)
        self._count("vllm:num_preemptions_total", len(result.preempted))
        self._count("vllm:generation_tokens_total", len(result.tokens))
        self._observe(
            "vllm:iteration_tokens_total", result.load.prefill_tokens + len(result.tokens)
        )
        for request_id, _ in result.tokens:
            previous = self._last_token_at.get(request_id)
            if previous is not None:
                self._observe("vllm:inter_token_latency_seconds", result.ended - previous)
            self._last_token_at[request_id] = result.ended
        for sequence in result.first_tokens:
            self._first_token(sequence, result.ended)
        for sequence in result.finished:
            self._last_token_at.pop(sequence.request.id, None)
            self._finished(sequence, result)
        if len(self._last_token_at) > 4 * (engine.running + 16):
            alive = set(engine.ids())
            self._last_token_at = {k: v for k, v in self._last_token_at.items() if k in alive}

    def on_rejected(self) -> None:
        """A request was refused by the queue limit."""
        self._rejections["max_num_queued_reqs"].inc()

    def on_http(
        self, method: str, path: str, status: int, sizes: tuple[int, int], s: float
    ) -> None:
        """One HTTP answer: bytes in and out, seconds."""
        self._http.observe(method, path, status, sizes, s)

    def _set_gauges(self, engine: Engine) -> None:
        self.gauges = Gauges(engine.running, engine.waiting, engine.kv.usage_ratio)
        self._gauges["vllm:num_requests_running"][""].set(engine.running)
        self._gauges["vllm:num_requests_waiting"][""].set(engine.waiting)
        self._gauges["vllm:num_requests_waiting_by_reason"]["capacity"].set(engine.waiting)
        self._gauges["vllm:kv_cache_usage_perc"][""].set(engine.kv.usage_ratio)

    def _first_token(self, sequence: Sequence, ended: float) -> None:
        prompt, cached = sequence.request.prompt_tokens, sequence.cached_tokens
        self._observe("vllm:time_to_first_token_seconds", max(0.0, ended - sequence.arrived))
        self._count("vllm:prompt_tokens_total", prompt)
        self._count("vllm:prompt_tokens_cached_total", cached)
        self._count("vllm:prompt_tokens_by_source_total", prompt - cached, "local_compute")
        self._count("vllm:prompt_tokens_by_source_total", cached, "local_cache_hit")
        self._count("vllm:prompt_tokens_cached_by_source_total", cached, "device")
        self._count("vllm:prefix_cache_queries_total", prompt)
        self._count("vllm:prefix_cache_hits_total", cached)

    def _finished(self, sequence: Sequence, result: StepResult) -> None:
        reason = next(
            (t.finish for i, t in result.tokens if i == sequence.request.id and t.finish), "stop"
        )
        self._count("vllm:request_success_total", 1, reason)
        arrived, ended = sequence.arrived, result.ended
        scheduled = arrived if sequence.first_scheduled is None else sequence.first_scheduled
        first = ended if sequence.first_token is None else sequence.first_token
        observed: dict[str, float] = {
            "request_prompt_tokens": sequence.request.prompt_tokens,
            "request_generation_tokens": sequence.generated,
            "request_max_num_generation_tokens": sequence.generated,
            "request_params_n": 1,
            "request_params_max_tokens": sequence.generated,
            "e2e_request_latency_seconds": max(0.0, ended - arrived),
            "request_queue_time_seconds": max(0.0, scheduled - arrived),
            "request_inference_time_seconds": max(0.0, ended - scheduled),
            "request_prefill_time_seconds": max(0.0, first - scheduled),
            "request_decode_time_seconds": max(0.0, ended - first),
            "request_num_preemptions": sequence.preemptions,
            "request_prefill_kv_computed_tokens": (
                sequence.request.prompt_tokens - sequence.cached_tokens
            ),
        }
        if sequence.generated > 1:
            observed["request_time_per_output_token_seconds"] = (ended - first) / (
                sequence.generated - 1
            )
        for name, value in observed.items():
            self._observe(f"vllm:{name}", value)

    def _observe(self, name: str, value: float) -> None:
        self._histograms[name].observe(value)

    def _count(self, name: str, amount: float, value: str = "") -> None:
        self._counters[name][value].inc(amount)

    def _counter(self, family: Family) -> Mapping[str, Counter]:
        names = (*self._labels, *([family.label] if family.label else []))
        metric = Counter(family.name, family.text, names, registry=self._registry)
        if family.label is None:
            return {"": metric.labels(**self._labels)}
        return {v: metric.labels(**self._labels, **{family.label: v}) for v in family.values}

    def _gauge(self, family: Family) -> Mapping[str, Gauge]:
        names = (*self._labels, *([family.label] if family.label else []))
        metric = Gauge(family.name, family.text, names, registry=self._registry)
        if family.label is None:
            return {"": metric.labels(**self._labels)}
        return {v: metric.labels(**self._labels, **{family.label: v}) for v in family.values}

    def _rejection_counter(self, model_name: str) -> Mapping[str, Counter]:
        text = "Number of admission attempts rejected by a queue limit, by reason."
        metric = Counter(
            "vllm:admission_rejections_total",
            text,
            ("model_name", "reason"),
            registry=self._registry,
        )
        reasons = ("max_num_queued_reqs", "max_num_queued_tokens")
        return {reason: metric.labels(model_name, reason) for reason in reasons}

    def _cache_config(self, engine: EngineSpec, max_model_len: int) -> None:
        labels = cache_config_labels(engine, max_model_len)
        text = "Information of the LLMEngine CacheConfig"
        metric = Gauge("vllm:cache_config_info", text, tuple(labels), registry=self._registry)
        metric.labels(**labels).set(1)

    def _tool_calls(self, model_name: str) -> None:
        metric = Counter(
            "vllm:tool_call_parser_invocations_total",
            "Total number of ToolParser invocations. Non-streaming increments once per choice; "
            "streaming increments once per delta.",
            ("model_name", "request_type", "mode", "outcome"),
            registry=self._registry,
        )
        for mode in ("streaming", "non_streaming"):
            for outcome in ("tool_call", "no_tool_call"):
                for kind in ("chat_completions", "responses", "other"):
                    metric.labels(model_name, kind, mode, outcome)
