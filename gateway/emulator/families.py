"""The metric families of vLLM 0.32, their texts, labels and buckets."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Family:
    """One metric family. Every one has the labels `engine` and `model_name`."""

    name: str
    text: str
    label: str | None = None
    """One more label, and all its values, which exist from the start."""
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Buckets:
    """One histogram family."""

    name: str
    text: str
    bounds: tuple[float, ...]


COUNTERS: Final = (
    Family(
        "vllm:estimated_flops_per_gpu_total",
        (
            "Estimated number of floating point operations per GPU (for Model Flops "
            "Utilization calculations)."
        ),
    ),
    Family(
        "vllm:estimated_read_bytes_per_gpu_total",
        (
            "Estimated number of bytes read from memory per GPU (for Model Flops "
            "Utilization calculations)."
        ),
    ),
    Family(
        "vllm:estimated_write_bytes_per_gpu_total",
        (
            "Estimated number of bytes written to memory per GPU (for Model Flops "
            "Utilization calculations)."
        ),
    ),
    Family(
        "vllm:prefix_cache_queries_total",
        "Prefix cache queries, in terms of number of queried tokens.",
    ),
    Family(
        "vllm:prefix_cache_hits_total",
        "Prefix cache hits, in terms of number of cached tokens.",
    ),
    Family(
        "vllm:external_prefix_cache_queries_total",
        (
            "External prefix cache queries from KV connector cross-instance cache "
            "sharing, in terms of number of queried tokens."
        ),
    ),
    Family(
        "vllm:external_prefix_cache_hits_total",
        (
            "External prefix cache hits from KV connector cross-instance cache "
            "sharing, in terms of number of cached tokens."
        ),
    ),
    Family(
        "vllm:mm_cache_queries_total",
        "Multi-modal cache queries, in terms of number of queried items.",
    ),
    Family(
        "vllm:mm_cache_hits_total",
        "Multi-modal cache hits, in terms of number of cached items.",
    ),
    Family(
        "vllm:num_preemptions_total",
        "Cumulative number of preemption from the engine.",
    ),
    Family(
        "vllm:prompt_tokens_total",
        "Number of prefill tokens processed.",
    ),
    Family(
        "vllm:prompt_tokens_by_source_total",
        "Number of prompt tokens by source.",
        "source",
        ("local_compute", "local_cache_hit", "external_kv_transfer"),
    ),
    Family(
        "vllm:prompt_tokens_cached_total",
        "Number of cached prompt tokens (local + external).",
    ),
    Family(
        "vllm:prompt_tokens_cached_by_source_total",
        (
            "Prefix-cache hit tokens by the cache tier that supplied them: device "
            "(local HBM), host (offloaded to DRAM), disk, p2p (transferred from "
            "another vLLM instance) or external_unspecified. Counted at admission; "
            "sums to vllm:prefix_cache_hits + vllm:external_prefix_cache_hits."
        ),
        "source",
        ("device", "host", "p2p", "disk", "external_unspecified"),
    ),
    Family(
        "vllm:generation_tokens_total",
        "Number of generation tokens processed.",
    ),
    Family(
        "vllm:request_success_total",
        "Count of successfully processed requests.",
        "finished_reason",
        ("stop", "length", "abort", "error", "repetition"),
    ),
)

GAUGES: Final = (
    Family(
        "vllm:num_requests_running",
        "Number of requests in model execution batches.",
    ),
    Family(
        "vllm:num_requests_waiting",
        "Number of requests waiting to be processed.",
    ),
    Family(
        "vllm:num_requests_waiting_by_reason",
        (
            "Number of waiting requests by reason. Reason labels: 'capacity' = "
            "waiting for scheduling capacity; 'deferred' = deferred by transient "
            "constraints (LoRA budget, KV transfer, blocked status). Sum of all "
            "reasons equals vllm:num_requests_waiting."
        ),
        "reason",
        ("capacity", "deferred"),
    ),
    Family(
        "vllm:engine_sleep_state",
        (
            "Engine sleep state; awake = 0 means engine is sleeping; awake = 1 "
            "means engine is awake; weights_offloaded = 1 means sleep level 1; "
            "discard_all = 1 means sleep level 2."
        ),
        "sleep_state",
        ("awake", "weights_offloaded", "discard_all"),
    ),
    Family(
        "vllm:kv_cache_usage_perc",
        "KV-cache usage. 1 means 100 percent usage.",
    ),
)

_TOKENS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
_STEP_TOKENS: Final = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
_CHOICES: Final = (1, 2, 5, 10, 20)
_FIRST_TOKEN_S: Final = (
    0.001,
    0.005,
    0.01,
    0.02,
    0.04,
    0.06,
    0.08,
    0.1,
    0.25,
    0.5,
    0.75,
    1,
    2.5,
    5,
    7.5,
    10,
    20,
    40,
    80,
    160,
    640,
    2560,
)
_TOKEN_S: Final = (
    0.01,
    0.025,
    0.05,
    0.075,
    0.1,
    0.15,
    0.2,
    0.3,
    0.4,
    0.5,
    0.75,
    1,
    2.5,
    5,
    7.5,
    10,
    20,
    40,
    80,
)
_REQUEST_S: Final = (
    0.3,
    0.5,
    0.8,
    1,
    1.5,
    2,
    2.5,
    5,
    10,
    15,
    20,
    30,
    40,
    50,
    60,
    120,
    240,
    480,
    960,
    1920,
    7680,
)
_PREEMPTIONS: Final = (1, 2, 3, 4, 5, 10, 20)

HISTOGRAMS: Final = (
    Buckets("vllm:request_prompt_tokens", "Number of prefill tokens processed.", _TOKENS),
    Buckets("vllm:request_generation_tokens", "Number of generation tokens processed.", _TOKENS),
    Buckets(
        "vllm:iteration_tokens_total",
        "Histogram of number of tokens per engine_step.",
        _STEP_TOKENS,
    ),
    Buckets(
        "vllm:request_max_num_generation_tokens",
        "Histogram of maximum number of requested generation tokens.",
        _TOKENS,
    ),
    Buckets("vllm:request_params_n", "Histogram of the n request parameter.", _CHOICES),
    Buckets(
        "vllm:request_params_max_tokens", "Histogram of the max_tokens request parameter.", _TOKENS
    ),
    Buckets(
        "vllm:time_to_first_token_seconds",
        "Histogram of time to first token in seconds.",
        _FIRST_TOKEN_S,
    ),
    Buckets(
        "vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", _TOKEN_S
    ),
    Buckets(
        "vllm:request_time_per_output_token_seconds",
        "Histogram of time_per_output_token_seconds per request.",
        _TOKEN_S,
    ),
    Buckets(
        "vllm:e2e_request_latency_seconds",
        "Histogram of e2e request latency in seconds.",
        _REQUEST_S,
    ),
    Buckets(
        "vllm:request_queue_time_seconds",
        "Histogram of time spent in WAITING phase for request.",
        _REQUEST_S,
    ),
    Buckets(
        "vllm:request_inference_time_seconds",
        "Histogram of time spent in RUNNING phase for request.",
        _REQUEST_S,
    ),
    Buckets(
        "vllm:request_prefill_time_seconds",
        "Histogram of time spent in PREFILL phase for request.",
        _REQUEST_S,
    ),
    Buckets(
        "vllm:request_decode_time_seconds",
        "Histogram of time spent in DECODE phase for request.",
        _REQUEST_S,
    ),
    Buckets(
        "vllm:request_num_preemptions",
        "Histogram of the number of times a request was preempted.",
        _PREEMPTIONS,
    ),
    Buckets(
        "vllm:request_prefill_kv_computed_tokens",
        "Histogram of new KV tokens computed during prefill (excluding cached tokens).",
        _TOKENS,
    ),
)
