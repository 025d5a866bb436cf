"""The advice that pays most: as many requests at once as the largest captured graph serves."""

from dataclasses import dataclass
from typing import Final

from gateway.config.backend import BackendConfig
from gateway.config.capture import (
    DEFAULT_MAX_NUM_SEQS,
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
    told = Words(
        f"max_num_seqs is {seqs}, the largest captured size {largest}: with {largest + 1} "
        "requests the whole batch runs eager, several times slower",
        f"max_num_seqs 为 {seqs}，最大捕获尺寸为 {largest}：有 {largest + 1} 个请求时"
        "整个批次都以 eager 方式执行，慢数倍",
    )
    if backend.max_num_seqs is None:
        told = Words(
            f"max_num_seqs is not given, so {seqs}, the largest captured size {largest}: with "
            f"{largest + 1} requests the whole batch runs eager, several times slower",
            f"没有写 max_num_seqs，即 {seqs}，最大捕获尺寸为 {largest}：有 {largest + 1} 个请求时"
            "整个批次都以 eager 方式执行，慢数倍",
        )
    option = f"--max-num-seqs {largest}"
    remedy = _remedy(option, _sizes_up_to(backend))
    return Advice(backend.name, SEQS_TO_CAPTURE, option, told, remedy)


def _remedy(option: str, sizes: tuple[int, ...]) -> Words:
    if not sizes:
        return Words(
            f"Start it with {option}; the gateway keeps the others waiting.",
            f"请用 {option} 启动；其余请求由网关排队。",
        )
    listed = f'"cudagraph_capture_sizes": [{", ".join(map(str, sizes))}]'
    return Words(
        f"Start it with {option}; the gateway keeps the others waiting. Or, to run more at once, "
        f"write {listed} into its --compilation-config, if its memory is enough.",
        f"请用 {option} 启动；其余请求由网关排队。如果要更多请求同时运行，"
        f"可在 --compilation-config 中写 {listed}，前提是显存足够。",
    )


def _sizes_up_to(backend: BackendConfig) -> tuple[int, ...]:
    """Sizes that reach up to max_num_seqs; empty where nobody chose that, or for a huge one.

    A step costs as much as the size it is padded to, so large gaps are filled as the engine does
    by itself. Where the chip has room for two sizes only they are max_num_seqs and half of it.
    """
    seqs = backend.max_num_seqs
    if seqs is None or seqs > _MOST_TO_CAPTURE:
        return ()
    if has_few_event_ids(backend):
        return (seqs // 2, seqs)
    given = backend.capture_sizes
    largest = max(given, default=0)
    beyond = (size for size in default_capture_sizes(seqs) if size > largest)
    return tuple(sorted({*given, *beyond, seqs}))
