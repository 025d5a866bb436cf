"""The advice that pays most: as many requests at once as the largest captured graph serves."""

from dataclasses import dataclass
from typing import Final

from gateway.config.backend import BackendConfig
from gateway.config.capture import (
    DEFAULT_MAX_NUM_SEQS,
    MAX_SIZES_310P_TP,
    default_capture_sizes,
    has_few_event_ids,
)
from gateway.config.vocabulary import Tier
from gateway.words import Words

# A batch of hundreds is the engine's default, and hardly anybody's wish.
_MOST_TO_CAPTURE: Final = 64

SEQS_TO_CAPTURE: Final = "seqs_to_capture"
"""The stable name of the advice."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What to change in a backend's launch command: the option to set, and why it pays."""

    backend: str
    code: str
    option: str
    told: Words
    remedy: Words


def advice_of(backend: BackendConfig) -> Advice | None:
    """The advice for a graph backend whose batches can outgrow its graphs; None if they can't."""
    if backend.tier is not Tier.GRAPH:
        return None
    seqs = backend.max_num_seqs or DEFAULT_MAX_NUM_SEQS
    sizes = backend.capture_sizes or default_capture_sizes(seqs)
    largest = max((size for size in sizes if size <= seqs), default=0)
    if not largest or seqs <= largest:
        return None
    given = "" if backend.max_num_seqs else " (the engine's default)"
    given_zh = "" if backend.max_num_seqs else "（引擎默认值）"
    option = f"--max-num-seqs {largest}"
    other = _sizes_up_to(backend, seqs)
    return Advice(
        backend.name,
        SEQS_TO_CAPTURE,
        option,
        Words(
            f"max_num_seqs is {seqs}{given}, the largest captured size {largest}: with "
            f"{largest + 1} requests the whole batch runs eager, several times slower",
            f"max_num_seqs 为 {seqs}{given_zh}，最大捕获尺寸为 {largest}：有 {largest + 1} 个请求时"
            "整个批次都以 eager 方式执行，慢数倍",
        ),
        Words(
            f"Start it with {option}{f', or with {other}' if other else ''}.",
            f"请用 {option} 启动{f'，或用 {other}' if other else ''}。",
        ),
    )


def _sizes_up_to(backend: BackendConfig, seqs: int) -> str:
    """The other way, where the chip has room for it: sizes that reach up to max_num_seqs."""
    if seqs > _MOST_TO_CAPTURE:
        return ""
    sizes = sorted({*backend.capture_sizes, seqs})
    if has_few_event_ids(backend) and len(sizes) > MAX_SIZES_310P_TP:
        sizes = [max(1, seqs // 2), seqs]
    if len(sizes) < 2:
        return ""
    return f"--compilation-config '{{\"cudagraph_capture_sizes\": {sizes}}}'"
