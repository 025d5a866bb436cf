"""How many requests a backend runs well at once: captured graph sizes against its limits."""

from collections.abc import Iterator
from typing import Final

from gateway.config.draft import Draft, Entry
from gateway.config.problems import Code, Finding
from gateway.config.schema import BackendConfig, Chip, Tier

DEFAULT_MAX_NUM_SEQS: Final = 256
"""Running requests per engine when --max-num-seqs is not given (vllm-ascend 0.20-0.23)."""

LARGEST_DEFAULT_CAPTURE: Final = 512
MAX_SIZES_310P_TP: Final = 2
"""Hardware event ids of 310P allow two captured sizes with TP > 1 (vllm-ascend 310p.md)."""


def default_capture_sizes(max_num_seqs: int) -> tuple[int, ...]:
    """The sizes an engine captures when none are given: 1, 2, 4, every 8 below 256, every 16.

    From vllm 0.20.2 config/vllm.py with the Ascend bound min(max_num_seqs, 512).
    """
    largest = min(max_num_seqs, LARGEST_DEFAULT_CAPTURE)
    sizes = [size for size in (1, 2, 4) if size <= largest]
    sizes += range(8, min(largest + 1, 256), 8)
    sizes += range(256, largest + 1, 16)
    return tuple(sizes)


def concurrency_cap(backend: BackendConfig) -> tuple[int, int]:
    """Running requests that the backend serves at full speed, and that it takes at all.

    The first is the largest captured size within the second: a larger batch runs wholly eager.
    Where sizes are not known, or on an eager backend, both are max_num_seqs.
    """
    hard = backend.max_num_seqs or DEFAULT_MAX_NUM_SEQS
    if backend.tier is Tier.EAGER:
        return hard, hard
    usable = [size for size in backend.capture_sizes if size <= hard]
    return max(usable, default=hard), hard


def tensor_parallel_of(backend: BackendConfig) -> int:
    """NPUs that one step runs on: as given, or else the number of the backend's NPUs."""
    return backend.tensor_parallel or len(backend.npus) or 1


def capture_rules(draft: Draft) -> Iterator[Finding]:
    """Capture sizes fit the tier, the chip and max_num_seqs."""
    for entry in draft.backends:
        if "capture_sizes" in entry.damaged or "tier" in entry.damaged:
            continue
        if entry.record.capture_sizes:
            yield from _order(entry)
            yield from _given(entry)
        elif entry.record.tier is Tier.GRAPH:
            yield from _not_given(entry)


def _order(entry: Entry[BackendConfig]) -> Iterator[Finding]:
    sizes = entry.record.capture_sizes
    for position in range(1, len(sizes)):
        if sizes[position] <= sizes[position - 1]:
            right = ", ".join(str(size) for size in sorted(set(sizes)))
            yield Finding(
                Code.CAPTURE_NOT_ASCENDING,
                ("backends", entry.index, "capture_sizes", position),
                f"{sizes[position]} comes after {sizes[position - 1]}",
                f"Write each size once, ascending: [{right}].",
            )
            return


def _given(entry: Entry[BackendConfig]) -> Iterator[Finding]:
    backend, path = entry.record, ("backends", entry.index, "capture_sizes")
    sizes = backend.capture_sizes
    if backend.tier is Tier.EAGER:
        yield Finding(
            Code.CAPTURE_ON_EAGER,
            path,
            "an eager backend captures no graphs (--enforce-eager wins over the sizes)",
            "Remove capture_sizes, or set tier: graph.",
        )
        return
    if _has_few_event_ids(backend) and len(set(sizes)) > MAX_SIZES_310P_TP:
        yield Finding(
            Code.CAPTURE_TOO_MANY,
            path,
            f"{len(set(sizes))} sizes on 310P with tensor parallelism; its hardware event "
            f"ids are enough for {MAX_SIZES_310P_TP}, so capture may fail at start",
            "Keep two sizes, such as [4, 8] or [1, 8].",
        )
    if backend.max_num_seqs is None:
        return
    largest, seqs = max(sizes), backend.max_num_seqs
    if seqs > largest:
        yield Finding(
            Code.SEQS_ABOVE_CAPTURE,
            ("backends", entry.index, "max_num_seqs"),
            f"max_num_seqs {seqs} is above the largest capture size {largest}: with more than "
            f"{largest} running, the whole batch runs eager",
            f"The gateway keeps to {largest} at a time, unless a larger batch proves to be no "
            f"slower. To use {seqs} at full speed, capture {seqs}.",
        )
    above = [str(size) for size in sizes if size > seqs]
    if above:
        yield Finding(
            Code.CAPTURE_UNREACHABLE,
            path,
            f"capture size {', '.join(above)} is above max_num_seqs {seqs} and is never used",
            "Remove it from the launch command and here, or raise max_num_seqs.",
        )


def _not_given(entry: Entry[BackendConfig]) -> Iterator[Finding]:
    backend = entry.record
    seqs = backend.max_num_seqs or DEFAULT_MAX_NUM_SEQS
    grid = default_capture_sizes(seqs)
    message = (
        f"graph tier without capture_sizes, so the gateway counts on {seqs} requests at full speed "
        "until it has seen more"
    )
    if _has_few_event_ids(backend) and len(grid) > MAX_SIZES_310P_TP:
        message += (
            f"; the engine would choose {len(grid)} sizes, and 310P with tensor parallelism has "
            f"room for {MAX_SIZES_310P_TP}"
        )
    yield Finding(
        Code.CAPTURE_UNKNOWN,
        ("backends", entry.index),
        message,
        "Copy cudagraph_capture_sizes from the launch command or the engine's startup log.",
    )
    if backend.max_num_seqs is not None and backend.max_num_seqs > grid[-1]:
        yield Finding(
            Code.SEQS_OFF_GRID,
            ("backends", entry.index, "max_num_seqs"),
            f"max_num_seqs {seqs} is not a size the engine captures by itself: batches of "
            f"{grid[-1] + 1} to {seqs} run wholly eager",
            f"Use {_next_on_grid(seqs)} or {grid[-1]}, or give cudagraph_capture_sizes.",
        )


def _has_few_event_ids(backend: BackendConfig) -> bool:
    return backend.chip is Chip.A310P and tensor_parallel_of(backend) > 1


def _next_on_grid(seqs: int) -> int:
    step = 8 if seqs < 256 else 16
    return min(-(-seqs // step) * step, LARGEST_DEFAULT_CAPTURE)
