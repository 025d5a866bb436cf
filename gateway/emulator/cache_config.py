"""The labels of vllm:cache_config_info."""

from gateway.emulator.spec import EngineSpec


def cache_config_labels(engine: EngineSpec, max_model_len: int) -> dict[str, str]:
    """Labels of vllm:cache_config_info: every CacheConfig field as text."""
    none = (
        "cache_hit_alignment_tokens hash_block_size kv_cache_layout kv_offloading_size "
        "mamba_block_size mamba_page_size_padded num_cpu_blocks num_gpu_blocks_override "
        "prefix_match_unit skip_page_size_padded sliding_window kv_cache_memory_bytes"
    )
    false = (
        "enable_mamba_shared_prefix_checkpoint is_attention_free kv_sharing_fast_prefill "
        "use_kda_recoverssm use_replayssm user_specified_block_size"
    )
    concurrency = engine.num_blocks * engine.block_size / max_model_len
    return {
        **dict.fromkeys(none.split(), "None"),
        **dict.fromkeys(false.split(), "False"),
        "_block_size_resolved": "True",
        "block_size": str(engine.block_size),
        "cache_dtype": "auto",
        "effective_attention_block_size": str(engine.block_size),
        "enable_prefix_caching": str(engine.enable_prefix_caching),
        "engine": "0",
        "gpu_memory_utilization": "0.6",
        "kv_cache_dtype_skip_layers": "[]",
        "kv_cache_max_concurrency": str(round(concurrency, 2)),
        "kv_cache_size_tokens": str(engine.num_blocks * engine.block_size),
        "kv_offloading_backend": "native",
        "mamba_cache_dtype": "auto",
        "mamba_cache_mode": "align",
        "mamba_ssm_cache_dtype": "float16",
        "num_gpu_blocks": str(engine.num_blocks),
        "prefix_cache_retention_interval": "0",
        "prefix_caching_hash_algo": "sha256",
        "replayssm_buffer_len": "16",
        "swa_bounded_replay": "True",
    }
