"""Rules: prefix caching with hybrid models (GDN and attention layers), such as Qwen3.5.

From vLLM config/cache.py and vllm-ascend patch_mamba_config.py; issue 16639.
"""

from collections.abc import Iterator

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules.reading import is_hybrid
from gateway.adoption.rules.rule import at_launch, at_log, found


def mamba_mode(candidate: Candidate) -> Iterator[Finding]:
    """With prefix caching the state of the GDN layers is kept in mode align."""
    arguments = candidate.arguments
    if arguments is None or not arguments.has_prefix_caching or not is_hybrid(candidate):
        return
    mode = arguments.mamba_cache_mode
    if mode is None:
        yield found(
            Code.MAMBA_MODE_UNSET,
            candidate,
            at_launch(candidate),
            model=candidate.model_path or candidate.served_name,
        )
    elif mode != "align":
        yield found(
            Code.MAMBA_MODE_WRONG,
            candidate,
            at_launch(candidate),
            mode=mode,
            model=candidate.model_path or candidate.served_name,
        )


def align_without_chunks(candidate: Candidate) -> Iterator[Finding]:
    """Mode align needs chunked prefill."""
    arguments = candidate.arguments
    if arguments is None or arguments.has_chunked_prefill is not False:
        return
    if arguments.mamba_cache_mode == "align":
        yield found(Code.ALIGN_WITHOUT_CHUNKS, candidate, at_launch(candidate))


def prefix_hits_zero(candidate: Candidate) -> Iterator[Finding]:
    """A hit rate of 0 is no fault where a block holds thousands of tokens."""
    log = candidate.log
    if log is None or log.prefix_hit_ratio != 0 or not is_hybrid(candidate):
        return
    if candidate.arguments is None or candidate.arguments.has_prefix_caching is not False:
        yield found(Code.PREFIX_HITS_ZERO, candidate, at_log(candidate))
