"""Rules: the context of a 310P backend fits beside its weights and its KV cache.

Up to 0.22 vllm-ascend keeps a whole float16 attention mask of max_model_len x max_model_len on each
NPU, outside of what --gpu-memory-utilization shares out; 0.23.0 has a compressed one, if torch_npu
brings the operators for it (hardwares/310p.md of 0.20.2rc, pull request 10181).
"""

from collections.abc import Iterator
from typing import Final

from gateway.adoption.candidate import Candidate
from gateway.adoption.codes import Code
from gateway.adoption.findings import Finding
from gateway.adoption.rules.reading import is_310p, is_before
from gateway.adoption.rules.rule import at_launch, found

_COMPRESSED_FROM: Final = (0, 23)
_BYTES_PER_ENTRY: Final = 2
_WORTH_TELLING_BYTES: Final = 1_000_000_000
_MIB: Final = 1024 * 1024
_NPU_BYTES: Final = 43_693 * _MIB
"""The smaller of the two NPUs of an Atlas 300I Duo, as npu-smi shows it."""

_DEFAULT_UTILIZATION: Final = 0.92
"""--gpu-memory-utilization where it is not given (vLLM 0.20 to 0.23, config/cache.py)."""


def mask_bytes(max_model_len: int) -> int:
    """Bytes of the whole attention mask on each NPU, for a context in tokens."""
    return _BYTES_PER_ENTRY * max_model_len * max_model_len


def context_unset_310p(candidate: Candidate) -> Iterator[Finding]:
    """The command says how long the context is, since the model's own is far too long for 310P."""
    arguments = candidate.arguments
    if arguments is None or not is_310p(candidate) or arguments.is_max_model_len_auto:
        return
    if arguments.max_model_len is None and arguments.runner != "pooling":
        yield found(Code.CONTEXT_UNSET_310P, candidate, at_launch(candidate))


def mask_memory_310p(candidate: Candidate) -> Iterator[Finding]:
    """The mask of the context leaves room, and is not out of proportion."""
    length, arguments = candidate.max_model_len, candidate.arguments
    if length is None or not is_310p(candidate) or not is_before(candidate, *_COMPRESSED_FROM):
        return
    mask = mask_bytes(length)
    if mask < _WORTH_TELLING_BYTES:
        return
    ratio = arguments.gpu_memory_utilization if arguments else None
    shared = _DEFAULT_UTILIZATION if ratio is None else ratio
    is_fixed = arguments is None or arguments.kv_cache_memory_bytes is not None
    room = (_NPU_BYTES - mask) / _NPU_BYTES
    is_over = not is_fixed and shared > room
    yield found(
        Code.MEMORY_OVERCOMMITTED_310P if is_over else Code.MASK_MEMORY_310P,
        candidate,
        at_launch(candidate),
        length=length,
        mask_gb=f"{mask / 1e9:.1f}",
        ratio=f"{shared:g}",
        npu_gb=f"{_NPU_BYTES / 1e9:.1f}",
        better=f"{max(room - 0.1, 0.1):.2f}",
    )
