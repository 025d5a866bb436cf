"""The options of `vllm serve`, by how many words follow them.

Option names from vllm engine/arg_utils.py and entrypoints/openai/cli_args.py of 0.8.5, 0.9.2,
0.10.2, 0.13.0, 0.15.1, 0.18.0, 0.20.2, 0.23.0, 0.26.0 and 0.32.0; vllm-ascend adds none.
"""

from collections.abc import Mapping
from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


FLAGS: Final = _names(
    """
    allow-credentials allow-deprecated-quantization async-scheduling calculate-kv-scales
    cohere-is-reasoning-model cudagraph-metrics data-parallel-external-lb data-parallel-hybrid-lb
    dcp-q-replicate disable-cascade-attn disable-chunked-mm-input disable-custom-all-reduce
    disable-fastapi-docs disable-frontend-multiprocessing disable-hybrid-kv-cache-manager
    disable-log-requests disable-mm-preprocessor-cache disable-nccl-for-dp-synchronization
    disable-sliding-window disable-uvicorn-access-log enable-auto-tool-choice
    enable-batch-sharded-sampling enable-bf16x3-router-gemm enable-chunked-prefill
    enable-cumem-allocator enable-dbo enable-elastic-ep enable-ep-weight-filter enable-eplb
    enable-expert-parallel enable-fault-tolerance enable-flash-late-interaction
    enable-flashinfer-autotune enable-force-include-usage enable-hc-sp
    enable-layerwise-nvtx-tracing enable-log-deltas enable-log-outputs enable-log-requests
    enable-logging-iteration-details enable-lora enable-lora-bias
    enable-mamba-cache-stochastic-rounding enable-mamba-shared-prefix-checkpoint enable-mfu-metrics
    enable-mixed-moe-lora-format enable-mm-embeds enable-moe-shared-loras
    enable-multimodal-encoder-data-parallel enable-nccl-comm-suspend enable-offline-docs
    enable-per-request-metrics enable-prefix-caching enable-prompt-adapter enable-prompt-embeds
    enable-prompt-tokens-details enable-reasoning enable-request-id-headers
    enable-return-routed-experts enable-scale-out enable-server-load-tracking
    enable-shm-tensor-arena enable-sleep-mode enable-ssl-refresh enable-tokenizer-info-endpoint
    enable-tower-connector-lora enable-trace-replay enforce-eager eplb-log-balancedness
    exclude-tools-when-tool-choice-none fail-on-environ-validation fully-sharded-loras
    guided-decoding-disable-additional-properties guided-decoding-disable-any-whitespace
    guided-decoding-disable-fallback interleave-mm-strings jit-monitor-verbose kv-cache-metrics
    kv-sharing-fast-prefill language-model-only log-error-stack
    long-prefill-token-threshold-adaptive mm-device-do-normalize mm-encoder-only
    multi-step-stream-outputs numa-bind ray-workers-use-nsight return-sampling-mask
    return-tokens-as-token-ids scheduler-reserve-full-isl skip-mm-profiling skip-tokenizer-init
    sleep-mode-offload-cudagraph specialize-active-lora swa-bounded-replay tokens-only
    trust-remote-code trust-request-chat-template trust-request-mm-kwargs use-fp64-gumbel
    use-replayssm use-tqdm-on-load
    """
)
"""Take no value, and are switched off as `--no-NAME`."""

SWITCHES: Final = _names(
    """
    aggregate-engine-logging data-parallel-multi-port-external-lb disable-async-output-proc
    disable-log-stats expand-tools-even-if-tool-choice-none grpc headless use-v2-block-manager
    """
)
"""Take no value; there is no `--no-NAME`."""

SINGLE: Final = _names(
    """
    all2all-backend allowed-local-media-path anthropic-disabled-thinking-effort api-server-count
    attention-backend block-size chat-template chat-template-content-format code-revision
    cohere-format config config-format convert cp-kv-cache-interleave-size
    cpu-distributed-timeout-seconds cpu-offload-gb data-parallel-address data-parallel-backend
    data-parallel-rank data-parallel-rpc-port data-parallel-size data-parallel-size-local
    data-parallel-start-rank data-parallel-supervisor-port dbo-decode-token-threshold
    dbo-prefill-token-threshold dcp-comm-backend dcp-kv-cache-interleave-size
    decode-context-parallel-size device device-ids disable-access-log-for-endpoints
    distributed-executor-backend distributed-timeout-seconds download-dir
    dp-supervisor-probe-failure-threshold dp-supervisor-probe-interval-s
    dp-supervisor-probe-timeout-s dp-sync-interval dtype elastic-ep-max-dp-size eplb-step-interval
    eplb-window-size expert-placement-strategy fingerprint-mode fingerprint-value
    gdn-prefill-backend generation-config gpu-memory-utilization grpc-port guided-decoding-backend
    h11-max-header-count h11-max-incomplete-event-size hf-config-path host io-processor-plugin
    jit-monitor-mode kda-decode-backend kda-prefill-backend kv-cache-dtype kv-cache-memory-bytes
    kv-cache-metrics-sample kv-offloading-backend kv-offloading-size linear-backend load-format
    log-config-file log-level logits-processor-pattern logprobs-mode long-prefill-token-threshold
    lora-dtype lora-extra-vocab-size mamba-backend mamba-block-size mamba-cache-dtype
    mamba-cache-mode mamba-cache-philox-rounds mamba-ssm-cache-dtype mamba-ssu-algorithm
    master-addr master-port max-cpu-loras max-cudagraph-capture-size max-log-len max-logprobs
    max-long-partial-prefills max-lora-cls-labels max-lora-rank max-loras max-model-len
    max-num-active-seqs max-num-batched-tokens max-num-partial-prefills max-num-queued-reqs
    max-num-queued-tokens max-num-scheduled-tokens max-num-seqs max-parallel-loading-workers
    max-prompt-adapter-token max-prompt-adapters max-seq-len-to-capture middleware
    mm-encoder-attn-backend mm-encoder-attn-dtype mm-encoder-fp8-scale-path
    mm-encoder-fp8-scale-save-margin mm-encoder-fp8-scale-save-path mm-encoder-tp-mode
    mm-hasher-algorithm mm-ipc-gpu-memory-gb mm-processor-cache-gb mm-processor-cache-type
    mm-processor-device mm-shm-cache-max-object-size-mb mm-tensor-ipc model model-impl moe-backend
    ngram-prompt-lookup-max ngram-prompt-lookup-min nnodes node-rank num-gpu-blocks-override
    num-lookahead-slots num-redundant-experts num-scheduler-steps num-speculative-tokens
    offload-backend offload-group-size offload-num-in-group offload-prefetch-step
    optimization-level otlp-traces-endpoint override-attention-dtype
    per-request-spec-decode-metrics performance-mode pipeline-parallel-size port preemption-mode
    prefill-context-parallel-size prefill-schedule-interval prefix-cache-retention-interval
    prefix-caching-hash-algo prefix-match-unit qlora-adapter-name-or-path quantization
    reasoning-parser reasoning-parser-plugin renderer-num-workers replayssm-buffer-len
    response-role revision root-path rope-theta runner safetensors-load-strategy
    safetensors-prefetch-block-size safetensors-prefetch-num-threads scheduler-cls
    scheduler-delay-factor scheduling-policy seed show-hidden-metrics-for-version shutdown-timeout
    sparse-indexer-topk-backend spec-method spec-model spec-tokens
    speculative-draft-tensor-parallel-size speculative-max-model-len speculative-model
    sse-keep-alive-interval ssl-ca-certs ssl-cert-reqs ssl-certfile ssl-ciphers ssl-keyfile
    stream-interval swap-space task tensor-parallel-size tokenizer tokenizer-mode
    tokenizer-pool-size tokenizer-pool-type tokenizer-revision tool-call-parser tool-parser-plugin
    tool-server tool-strict-level ubatch-size uds uvicorn-log-level video-pruning-method
    video-pruning-rate watermark worker-cls worker-extension-cls
    """
)
"""Take one value."""

TREES: Final = _names(
    """
    additional-config allowed-headers allowed-methods allowed-origins attention-config
    aux-output-config compilation-config custom-histogram-buckets default-chat-template-kwargs
    default-mm-loras diffusion-config ec-manager-config ec-transfer-config engram-config
    eplb-config fault-tolerance-config hf-overrides ir-op-priority kernel-config kv-events-config
    kv-transfer-config limit-mm-per-prompt logging-config media-io-kwargs mm-processor-kwargs
    model-class-overrides model-loader-extra-config override-generation-config
    override-neuron-config override-pooler-config pooler-config profiler-config
    pt-load-map-location quantization-config reasoning-config rope-scaling speculative-config
    structured-outputs-config tokenizer-pool-extra-config watermark-config weight-transfer-config
    """
)
"""Take JSON as one value, or single fields as `--NAME.FIELD VALUE`."""

LISTS: Final = _names(
    """
    allowed-media-domains api-key collect-detailed-traces cpu-offload-params cuda-graph-sizes
    cudagraph-capture-sizes ignore-patterns kv-cache-dtype-skip-layers logits-processors
    long-lora-scaling-factors lora-modules lora-target-modules numa-bind-cpus numa-bind-nodes
    offload-params prompt-adapters served-model-name sleep-preserve-parameter-names
    """
)
"""Take all words up to the next option."""

REPEATABLE: Final = frozenset(("middleware",))
"""Add up where they are given more than once; of all others the last one wins."""

OPTIONAL: Final = frozenset(("hf-token",))
"""Take one value or none."""

ALIASES: Final[Mapping[str, str]] = {
    "--device-memory-utilization": "gpu-memory-utilization",
    "-ac": "attention-config",
    "-asc": "api-server-count",
    "-cc": "compilation-config",
    "-dc": "diffusion-config",
    "-dcp": "decode-context-parallel-size",
    "-dp": "data-parallel-size",
    "-dpa": "data-parallel-address",
    "-dpb": "data-parallel-backend",
    "-dpe": "data-parallel-external-lb",
    "-dph": "data-parallel-hybrid-lb",
    "-dpl": "data-parallel-size-local",
    "-dpm": "data-parallel-multi-port-external-lb",
    "-dpn": "data-parallel-rank",
    "-dpp": "data-parallel-rpc-port",
    "-dpr": "data-parallel-start-rank",
    "-ep": "enable-expert-parallel",
    "-n": "nnodes",
    "-pcp": "prefill-context-parallel-size",
    "-pp": "pipeline-parallel-size",
    "-q": "quantization",
    "-r": "node-rank",
    "-sc": "speculative-config",
    "-tp": "tensor-parallel-size",
}
"""Other spellings, with their dashes, and what they stand for; -O is read on its own."""

_ENDED: Final[Mapping[str, str]] = {
    "0.8": """
        ngram-prompt-lookup-max ngram-prompt-lookup-min num-speculative-tokens
        speculative-draft-tensor-parallel-size speculative-max-model-len speculative-model
    """,
    "0.10": """
        device enable-prompt-adapter enable-reasoning expand-tools-even-if-tool-choice-none
        long-lora-scaling-factors max-prompt-adapter-token max-prompt-adapters
        multi-step-stream-outputs num-scheduler-steps override-neuron-config prompt-adapters
        qlora-adapter-name-or-path tokenizer-pool-extra-config tokenizer-pool-size
        tokenizer-pool-type use-v2-block-manager
    """,
    "0.13": """
        cuda-graph-sizes disable-async-output-proc disable-mm-preprocessor-cache enable-lora-bias
        enable-multimodal-encoder-data-parallel eplb-log-balancedness eplb-step-interval
        eplb-window-size guided-decoding-backend guided-decoding-disable-additional-properties
        guided-decoding-disable-any-whitespace guided-decoding-disable-fallback
        lora-extra-vocab-size max-seq-len-to-capture num-lookahead-slots num-redundant-experts
        override-pooler-config preemption-mode rope-scaling rope-theta scheduler-delay-factor
        task
    """,
    "0.18": """
        disable-log-requests logits-processor-pattern swap-space
    """,
    "0.20": """
        disable-frontend-multiprocessing
    """,
}

ENDED: Final[Mapping[str, str]] = {
    name: version for version, names in _ENDED.items() for name in names.split()
}
"""The first release seen without an option that earlier ones had."""

LETTER_ENDED: Final = "0.13"
"""The first release seen in which -O takes nothing but a level."""
