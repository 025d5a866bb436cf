"""How many requests a backend runs well at once: captured graph sizes against its limits."""

from collections.abc import Iterator
from typing import Final

from gateway.config.draft import Draft, Entry
from gateway.config.problems import Code, Finding
from gateway.config.schema import BackendConfig, Chip, Tier
from gateway.words import Words

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
                Words(
                    f"{sizes[position]} comes after {sizes[position - 1]}",
                    f"{sizes[position]} 排在 {sizes[position - 1]} 之后",
                ),
                Words(
                    f"Write each size once, ascending: [{right}].",
                    f"每个尺寸只写一次，并按升序排列：[{right}]。",
                ),
            )
            return


def _given(entry: Entry[BackendConfig]) -> Iterator[Finding]:
    backend, path = entry.record, ("backends", entry.index, "capture_sizes")
    sizes = backend.capture_sizes
    if backend.tier is Tier.EAGER:
        yield Finding(
            Code.CAPTURE_ON_EAGER,
            path,
            Words(
                "an eager backend captures no graphs (--enforce-eager wins over the sizes)",
                "eager 后端不捕获图（--enforce-eager 优先于捕获尺寸）",
            ),
            Words(
                "Remove capture_sizes, or set tier: graph.",
                "请删除 capture_sizes，或设置 tier: graph。",
            ),
        )
        return
    if has_few_event_ids(backend) and len(set(sizes)) > MAX_SIZES_310P_TP:
        yield Finding(
            Code.CAPTURE_TOO_MANY,
            path,
            Words(
                f"{len(set(sizes))} sizes on 310P with tensor parallelism; its hardware event "
                f"ids are enough for {MAX_SIZES_310P_TP}, so capture may fail at start",
                f"310P 张量并行下有 {len(set(sizes))} 个捕获尺寸；硬件 event id 只够 "
                f"{MAX_SIZES_310P_TP} 个，启动时捕获可能失败",
            ),
            Words(
                "Keep two sizes, such as [4, 8] or [1, 8].",
                "请只保留两个尺寸，例如 [4, 8] 或 [1, 8]。",
            ),
        )
    if backend.max_num_seqs is not None:
        yield from _against_seqs(entry, backend.max_num_seqs)


def _against_seqs(entry: Entry[BackendConfig], seqs: int) -> Iterator[Finding]:
    sizes, path = entry.record.capture_sizes, ("backends", entry.index, "capture_sizes")
    largest = max(sizes)
    if seqs > largest:
        yield Finding(
            Code.SEQS_ABOVE_CAPTURE,
            ("backends", entry.index, "max_num_seqs"),
            Words(
                f"max_num_seqs {seqs} is above the largest capture size {largest}: with more than "
                f"{largest} running, the whole batch runs eager",
                f"max_num_seqs {seqs} 大于最大捕获尺寸 {largest}：同时运行超过 {largest} 个请求时，"
                "整个批次都以 eager 方式执行",
            ),
            Words(
                f"The gateway keeps to {largest} at a time, unless a larger batch proves to be no "
                f"slower. To use {seqs} at full speed, capture {seqs}.",
                f"网关会控制在同时 {largest} 个，除非更大的批次被证明并不更慢。"
                f"若要全速运行 {seqs} 个，请捕获尺寸 {seqs}。",
            ),
        )
    above = [str(size) for size in sizes if size > seqs]
    if above:
        yield Finding(
            Code.CAPTURE_UNREACHABLE,
            path,
            Words(
                f"capture size {', '.join(above)} is above max_num_seqs {seqs} and is never used",
                f"捕获尺寸 {', '.join(above)} 大于 max_num_seqs {seqs}，永远用不到",
            ),
            Words(
                "Remove it from the launch command and here, or raise max_num_seqs.",
                "请从启动命令和此处删除它，或调大 max_num_seqs。",
            ),
        )


def _not_given(entry: Entry[BackendConfig]) -> Iterator[Finding]:
    backend = entry.record
    seqs = backend.max_num_seqs or DEFAULT_MAX_NUM_SEQS
    grid = default_capture_sizes(seqs)
    told = Words(
        f"graph tier without capture_sizes, so the gateway counts on {seqs} requests at full speed "
        "until it has seen more",
        f"graph 后端未给出 capture_sizes，网关先按 {seqs} 个请求全速运行估计，直到观察到更多数据",
    )
    if has_few_event_ids(backend) and len(grid) > MAX_SIZES_310P_TP:
        told = Words(
            f"{told.en}; the engine would choose {len(grid)} sizes, and 310P with tensor "
            f"parallelism has room for {MAX_SIZES_310P_TP}",
            f"{told.zh}；引擎自己会选 {len(grid)} 个尺寸，而 310P 张量并行只容得下 "
            f"{MAX_SIZES_310P_TP} 个",
        )
    yield Finding(
        Code.CAPTURE_UNKNOWN,
        ("backends", entry.index),
        told,
        Words(
            "Copy cudagraph_capture_sizes from the launch command or the engine's startup log.",
            "请从启动命令或引擎启动日志中抄写 cudagraph_capture_sizes。",
        ),
    )
    if backend.max_num_seqs is not None and backend.max_num_seqs > grid[-1]:
        yield Finding(
            Code.SEQS_OFF_GRID,
            ("backends", entry.index, "max_num_seqs"),
            Words(
                f"max_num_seqs {seqs} is not a size the engine captures by itself: batches of "
                f"{grid[-1] + 1} to {seqs} run wholly eager",
                f"max_num_seqs {seqs} 不是引擎自行捕获的尺寸：{grid[-1] + 1} 到 {seqs} 的批次"
                "会整体以 eager 方式执行",
            ),
            Words(
                f"Use {_next_on_grid(seqs)} or {grid[-1]}, or give cudagraph_capture_sizes.",
                f"请用 {_next_on_grid(seqs)} 或 {grid[-1]}，或指定 cudagraph_capture_sizes。",
            ),
        )


def has_few_event_ids(backend: BackendConfig) -> bool:
    """Whether its chips have room for `MAX_SIZES_310P_TP` captured sizes only."""
    return backend.chip is Chip.A310P and tensor_parallel_of(backend) > 1


def _next_on_grid(seqs: int) -> int:
    step = 8 if seqs < 256 else 16
    return min(-(-seqs // step) * step, LARGEST_DEFAULT_CAPTURE)
