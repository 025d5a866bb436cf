"""Rules: what Atlas 300I Duo (310P) does not do, or not yet in this version.

From vllm-ascend: hardwares/310p.md, supported_models.md, platform.py, ascend_config.py and the
release notes 0.16 to 0.23; issues 7394, 8284, 10309, 12446, 12985, 14336.
"""

import re
from collections.abc import Iterator
from typing import Final

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules.reading import (
    FULL_DECODE_ONLY,
    is_310p,
    is_before,
    is_hybrid,
    model_words,
    runs_graphs,
    version_text,
)
from gateway.adoption.rules.rule import at_launch, found

_FLOAT16: Final = frozenset(("float16", "half", "fp16"))
_SPECULATES_FROM: Final = (0, 21)
_FUSES_RIGHT_FROM: Final = (0, 23)
_BOTH_KINDS_FROM: Final = (0, 21)
_LISTED_FROM: Final = (0, 23)
_LATENT_ATTENTION: Final = re.compile(
    r"^(?!.*distill).*(deepseek[-_]?(?:v2|v3|r1|v4)|kimi[-_]?k2|glm[-_]?5)"
)


def graph_mode_310p(candidate: Candidate) -> Iterator[Finding]:
    """FULL_DECODE_ONLY is the mode that is documented for 310P."""
    if candidate.arguments is None or not is_310p(candidate) or not runs_graphs(candidate):
        return
    if candidate.graph_mode != FULL_DECODE_ONLY:
        yield found(
            Code.GRAPH_MODE_310P,
            candidate,
            at_launch(candidate),
            mode=candidate.graph_mode or _default_mode(candidate),
        )


def _default_mode(candidate: Candidate) -> str:
    """What vllm-ascend takes where no mode is given (platform.py of 0.20.2 and 0.21)."""
    if candidate.version is None:
        return "PIECEWISE / FULL_AND_PIECEWISE"
    return "PIECEWISE" if is_before(candidate, *_BOTH_KINDS_FROM) else "FULL_AND_PIECEWISE"


def speculation_310p(candidate: Candidate) -> Iterator[Finding]:
    """Before 0.21 speculation kills the engine at the first decode, with any weights."""
    arguments = candidate.arguments
    if arguments is None or not arguments.has_speculation or not is_310p(candidate):
        return
    if candidate.version is None or is_before(candidate, *_SPECULATES_FROM):
        yield found(
            Code.SPECULATION_310P,
            candidate,
            at_launch(candidate),
            method=arguments.speculative_method or "?",
            version=version_text(candidate),
        )
    elif arguments.has_prefix_caching:
        yield found(
            Code.SPECULATION_WITH_PREFIX_310P,
            candidate,
            at_launch(candidate),
            method=arguments.speculative_method or "?",
            version=version_text(candidate),
        )


def aiv_310p(candidate: Candidate) -> Iterator[Finding]:
    """HCCL_OP_EXPANSION_MODE=AIV is for A2 and A3."""
    mode = candidate.environment.get("HCCL_OP_EXPANSION_MODE", "")
    if is_310p(candidate) and mode.strip().upper() == "AIV":
        yield found(Code.AIV_310P, candidate, at_launch(candidate))


def dtype_310p(candidate: Candidate) -> Iterator[Finding]:
    """310P computes in float16; models of today come in bfloat16."""
    arguments = candidate.arguments
    if arguments is None or not is_310p(candidate):
        return
    dtype = arguments.dtype or "auto"
    if dtype.lower() not in _FLOAT16:
        yield found(Code.DTYPE_310P, candidate, at_launch(candidate), dtype=dtype)


def ssm_dtype_310p(candidate: Candidate) -> Iterator[Finding]:
    """The state of GDN layers is float16, too."""
    arguments = candidate.arguments
    if arguments is None or not is_310p(candidate) or not is_hybrid(candidate):
        return
    dtype = arguments.mamba_ssm_cache_dtype or "auto"
    if dtype.lower() not in _FLOAT16:
        yield found(
            Code.SSM_DTYPE_310P,
            candidate,
            at_launch(candidate),
            dtype=dtype,
            model=candidate.model_path or candidate.served_name,
        )


def fuse_norm_quant_310p(candidate: Candidate) -> Iterator[Finding]:
    """The fusion of norm and quantisation is off; the code does that itself from 0.23."""
    arguments = candidate.arguments
    if arguments is None or not is_310p(candidate) or not runs_graphs(candidate):
        return
    if arguments.fuse_norm_quant is not False and is_before(candidate, *_FUSES_RIGHT_FROM):
        yield found(
            Code.FUSE_NORM_QUANT_310P,
            candidate,
            at_launch(candidate),
            version=version_text(candidate),
        )


def unsupported_310p(candidate: Candidate) -> Iterator[Finding]:
    """Nothing is asked for that no version does on 310P."""
    if candidate.arguments is None or not is_310p(candidate):
        return
    for asked in _asked(candidate):
        yield found(Code.UNSUPPORTED_310P, candidate, at_launch(candidate), asked=asked)


def _asked(candidate: Candidate) -> Iterator[str]:
    arguments = candidate.arguments
    if arguments is None:
        return
    if arguments.has_kv_transfer:
        yield "--kv-transfer-config"
    if arguments.is_lora_enabled or arguments.lora_modules:
        yield "--enable-lora"
    if (arguments.pipeline_parallel or 1) > 1:
        yield f"--pipeline-parallel-size {arguments.pipeline_parallel}"
    if (arguments.kv_cache_dtype or "").startswith("fp8"):
        yield f"--kv-cache-dtype {arguments.kv_cache_dtype}"
    if arguments.is_npugraph_ex and is_before(candidate, *_FUSES_RIGHT_FROM):
        yield '"enable_npugraph_ex": true'
    if _LATENT_ATTENTION.search(model_words(candidate)):
        yield candidate.model_path or candidate.served_name


def not_listed_310p(candidate: Candidate) -> Iterator[Finding]:
    """Qwen3.5 is in the list of what runs on 310P from 0.23.0rc1."""
    if is_310p(candidate) and is_hybrid(candidate) and is_before(candidate, *_LISTED_FROM):
        yield found(
            Code.NOT_LISTED_310P,
            candidate,
            at_launch(candidate),
            model=candidate.model_path or candidate.served_name,
            version=version_text(candidate),
        )
