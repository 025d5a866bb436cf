"""How many tokens the KV cache of the engines behind a port holds, from `vllm:cache_config_info`.

Its labels are the fields of vLLM's CacheConfig as text, "None" included (vllm/config/cache.py).
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

CONFIG: Final = "vllm:cache_config_info"
"""The family whose labels tell."""

_NOTHING: Final = ("None", "", "0")
# Each is set for models that mix attention with state layers; 0.10 has only the second.
_HYBRID: Final = ("mamba_block_size", "mamba_page_size_padded")


class Capacity(NamedTuple):
    """Tokens in all, None where it can't be told, and by engine where each tells its own."""

    tokens: int | None
    by_engine: Mapping[str, int]


def read_capacity(configs: Sequence[Mapping[str, str]]) -> Capacity:
    """The capacity that the labels of these samples tell of, one sample for each engine.

    `kv_cache_size_tokens` (vLLM after 0.23) is right for every model and belongs to one engine,
    so it adds up. Else it is blocks times their size. With data parallelism inside one server the
    frontend has summed num_gpu_blocks already, and repeats the sum for each engine (both:
    vllm/v1/engine/core_client.py). In hybrid models blocks are shared by several groups of layers
    and the size is that of the smallest: their product says too much, and counts as unknown.
    """
    sizes: dict[str, int] = {}
    for labels in configs:
        size = _count(labels.get("kv_cache_size_tokens"))
        if size is not None:
            engine = labels.get("engine", "")
            sizes[engine] = max(size, sizes.get(engine, 0))
    if sizes:
        engines = {labels.get("engine", "") for labels in configs}
        # All engines of a server are alike, so one that does not tell is taken for the largest.
        untold = len(engines) - len(sizes)
        return Capacity(sum(sizes.values()) + untold * max(sizes.values()), sizes)
    if any(labels.get(name, "None") not in _NOTHING for labels in configs for name in _HYBRID):
        return Capacity(None, {})
    # API servers that do not know yet say None.
    products = (_product(labels) for labels in configs)
    return Capacity(max((one for one in products if one is not None), default=None), {})


def _product(labels: Mapping[str, str]) -> int | None:
    blocks, block_tokens = _count(labels.get("num_gpu_blocks")), _count(labels.get("block_size"))
    return None if blocks is None or block_tokens is None else blocks * block_tokens


def _count(text: str | None) -> int | None:
    try:
        value = int(float(text)) if text is not None else 0
    except (ValueError, OverflowError):
        return None
    return value if value > 0 else None
